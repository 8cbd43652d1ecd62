"""The report page: one HTML file with everything that results say, for readers and browsers."""
