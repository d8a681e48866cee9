"""Commands on many targets of one store."""
