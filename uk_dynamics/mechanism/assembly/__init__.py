"""Configurations that close the loops."""
