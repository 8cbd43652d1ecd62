"""A judge over HTTP: endpoints, their limits and faults, which request goes where and when."""
