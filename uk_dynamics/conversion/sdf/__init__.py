"""SDF models."""
