"""The servo controller."""
