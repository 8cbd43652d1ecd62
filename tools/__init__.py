"""What makes shipped files, and checks changes of the code; not imported by the package."""
