"""Measurements of speed and accuracy, beside other engines on the same mechanisms."""
