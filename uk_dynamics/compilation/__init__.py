"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""
