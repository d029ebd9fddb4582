"""Mechanism files from what a user has already: a URDF, or another format that closes loops."""
