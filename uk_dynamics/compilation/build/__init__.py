"""Compiler and cache."""
