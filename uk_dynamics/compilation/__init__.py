"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""

from uk_dynamics.compilation.select_backend import Selection, choose, chosen, select_backend

__all__ = [
    "Selection",
    "choose",
    "chosen",
    "select_backend",
]
