"""Derivatives of what is traced, by forward mode and by recursions over the tree."""
