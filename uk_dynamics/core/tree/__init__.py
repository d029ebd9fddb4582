"""Articulated bodies and clusters: large mechanisms in linear time."""
