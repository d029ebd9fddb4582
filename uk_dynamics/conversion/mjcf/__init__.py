"""MuJoCo models."""
