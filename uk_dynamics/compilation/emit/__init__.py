"""Symbols written as C and as tapes."""
