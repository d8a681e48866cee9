"""What crosses the wire: every request and response, strict, bounded and with examples."""
