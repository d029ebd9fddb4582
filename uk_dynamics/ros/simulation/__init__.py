"""The simulator behind its node."""
