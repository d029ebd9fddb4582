"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""

from uk_dynamics.compilation.build.library import announce
from uk_dynamics.compilation.select_backend import Selection, choose, chosen, select_backend

__all__ = [
    "Selection",
    "announce",
    "choose",
    "chosen",
    "select_backend",
]
