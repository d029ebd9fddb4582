# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rhombus with a spring in its diagonal: equilibrium and eigenvalues by hand, to 30 digits.

With φ the angle of both cranks, bars of 1 m and 1 kg: T = ½ m φ̇² with m = 2 · 1/3 + 1, since the
coupler moves on a circle; V = 2 g sin φ + ½ k (ℓ − ℓ₀)² with ℓ = 2 cos(φ/2), dℓ/dφ = −sin(φ/2); the
damper takes the power c ℓ̇². At rest V′ = 0, and λ solves m λ² + c sin²(φ/2) λ + V″ = 0.
"""

from __future__ import annotations

import mpmath

_GRAVITY, _STIFFNESS = mpmath.mpf("9.81"), 25
_INERTIA = mpmath.mpf(5) / 3
_DIGITS = 30

#: The library's: equilibrium in rad, eigenvalues in 1/s without damper and with 1 N s/m, there.
#: From its definition of the problem, and the solutions of F. González (119, 121) and
#: B. Minaker (120), as the repository BPMinaker/eom_pkg keeps them.
PUBLISHED_EQUILIBRIUM = 2.23433101898
PUBLISHED = {0.0: 2.14767663837j, 1.0: -0.2423858093 + 2.1339550282j}


def equilibrium() -> mpmath.mpf:
    """Angle of the cranks where V′ = 0, in rad."""
    with mpmath.workdps(_DIGITS):
        return mpmath.findroot(_slope, PUBLISHED_EQUILIBRIUM)


def eigenvalue(damping: float, angle: float | None = None) -> complex:
    """The one with positive imaginary part, in 1/s, at the equilibrium or another angle."""
    with mpmath.workdps(_DIGITS):
        phi = equilibrium() if angle is None else mpmath.mpf(angle)
        half = phi / 2
        stretch = 2 * mpmath.cos(half) - mpmath.sqrt(2)
        curvature = -2 * _GRAVITY * mpmath.sin(phi)
        curvature += _STIFFNESS * (mpmath.sin(half) ** 2 - stretch * mpmath.cos(half) / 2)
        resistance = damping * mpmath.sin(half) ** 2
        root = mpmath.sqrt(resistance**2 - 4 * _INERTIA * curvature)
        return complex((-resistance + root) / (2 * _INERTIA))


def _slope(phi: mpmath.mpf) -> mpmath.mpf:
    half = phi / 2
    stretch = 2 * mpmath.cos(half) - mpmath.sqrt(2)
    return 2 * _GRAVITY * mpmath.cos(phi) - _STIFFNESS * stretch * mpmath.sin(half)
