"""Messages and arrays."""
