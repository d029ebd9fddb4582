"""Moore–Penrose inverses by the five algorithms of de Falco, Pennestrì and Vita (2008)."""

from uk_dynamics.core.pseudoinverse.family import ALGORITHMS, PseudoinverseMethod, pseudoinverse
from uk_dynamics.core.pseudoinverse.result import Pseudoinverse

__all__ = ["ALGORITHMS", "Pseudoinverse", "PseudoinverseMethod", "pseudoinverse"]
