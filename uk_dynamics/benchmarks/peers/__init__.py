"""Other engines on the same mechanism."""
