"""The report of many targets of one store."""
