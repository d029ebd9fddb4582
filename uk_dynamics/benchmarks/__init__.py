"""Measurements of speed and accuracy, next to other engines on the same mechanisms."""
