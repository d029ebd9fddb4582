"""The servo controller behind its node."""
