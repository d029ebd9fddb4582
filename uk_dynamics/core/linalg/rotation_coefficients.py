# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Functions of the angle in the exponential of rotations and in its Jacobians, accurate at zero.

Each has a closed form, which loses its digits towards zero, and a power series in θ², which is used
there. All take arrays of numbers or of symbols.
"""

from collections.abc import Callable
from math import factorial

import numpy as np
from scipy.special import bernoulli

from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg.symbolic_functions import (
    at_least,
    below,
    cosine,
    sine,
    square_root,
    where,
)

_TINY = 1e-300  # keeps sin θ/θ finite at zero
_SERIES_BELOW = 1.0  # rad²; above it the closed forms lose at most two digits to cancellation
_TERMS = 10  # of the series in θ²: the first one left out is below 1e-19

_C = [(-1.0) ** k / factorial(2 * k + 3) for k in range(_TERMS)]
_A_RATE = [2.0 * k * (-1.0) ** k / factorial(2 * k + 2) for k in range(1, _TERMS)]
_G = [(2 * k + 2) * (-1.0) ** k / factorial(2 * k + 3) for k in range(_TERMS)]
_BERNOULLI = np.abs(bernoulli(2 * _TERMS)[2::2])
_E = [float(x) / factorial(2 * k + 2) for k, x in enumerate(_BERNOULLI)]
_E_RATE = [k * x for k, x in enumerate(_E)][1:]
_C_RATE = [2.0 * k * (-1.0) ** k / factorial(2 * k + 3) for k in range(1, _TERMS)]


def sinc(angle: Array) -> Array:
    """Return sin θ / θ for θ ≥ 0."""
    safe = at_least(angle, _TINY)
    return sine(safe) / safe


def a(angle: Array) -> Array:
    """(1 − cos θ)/θ², as ½ (sin(θ/2)/(θ/2))²."""
    return 0.5 * sinc(0.5 * angle) ** 2


def c(square: Array) -> Array:
    """(θ − sin θ)/θ³ as a function of θ²."""
    return _series_or(square, _C, lambda x: (1.0 - sinc(square_root(x))) / x)


def g(square: Array) -> Array:
    """(sin h − h cos h)/h³ as a function of h²."""
    return _series_or(square, _G, lambda x: (sinc(square_root(x)) - cosine(square_root(x))) / x)


def e(square: Array) -> Array:
    """(1 − ½θ cot ½θ)/θ² as a function of θ²."""

    def closed(x: Array) -> Array:
        half = 0.5 * square_root(x)
        return (1.0 - half * cosine(half) / sine(half)) / x

    return _series_or(square, _E, closed)


def e_rate(square: Array) -> Array:
    """The derivative of e by θ², as a function of θ²."""

    def closed(x: Array) -> Array:
        angle = square_root(x)
        sum_of_both = x / (1.0 - cosine(angle)) + angle * sine(angle) / (1.0 - cosine(angle))
        return (sum_of_both - 4.0) / (4.0 * x * x)

    return _series_or(square, _E_RATE, closed)


def a_rate(square: Array) -> Array:
    """The derivative of a by θ, over θ, as a function of θ²."""
    return _series_or(
        square, _A_RATE, lambda x: (sinc(square_root(x)) - 2.0 * a(square_root(x))) / x
    )


def c_rate(square: Array) -> Array:
    """The derivative of c by θ, over θ, as a function of θ²."""
    return _series_or(square, _C_RATE, lambda x: (a(square_root(x)) - 3.0 * c(x)) / x)


def _series_or(square: Array, series: list[float], closed: Callable[[Array], Array]) -> Array:
    """The closed form where it is accurate, its power series in θ² near zero."""
    near = below(square, _SERIES_BELOW)
    small = where(near, square, 0.0)
    return where(near, _polynomial(small, series), closed(where(near, _SERIES_BELOW, square)))


def _polynomial(x: Array, coefficients: list[float]) -> Array:
    """Horner's scheme; the coefficients in rising order."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= x
        value += coefficient
    return value
