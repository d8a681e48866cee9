"""Jobs: accepted, run in child processes under a lease, told of when they end."""
