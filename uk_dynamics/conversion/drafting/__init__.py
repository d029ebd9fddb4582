"""A first mechanism file for a URDF."""
