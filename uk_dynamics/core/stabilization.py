"""Baumgarte's stabilisation: drift off a constraint decays as a damped oscillation would.

A position-level row ψ(q, t) = 0 is replaced by ψ̈ + 2ζω ψ̇ + ω² ψ = 0, a velocity-level row
φ(q, v, t) = 0 by φ̇ + ω φ = 0, with ω = 2π · frequency. Both only change the right-hand side b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from uk_dynamics.exceptions import InputError


@dataclass(frozen=True)
class Stabilization:
    """How fast a violated constraint returns.

    Attributes:
        frequency: Natural frequency, Hz; 0 is no stabilisation.
        damping_ratio: ζ, 1 is critical damping.
    """

    frequency: float = 5.0
    damping_ratio: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: One of them is negative or not finite.
        """
        for name in ("frequency", "damping_ratio"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"{name} must be a finite number of at least 0, not {value}")

    @classmethod
    def from_alpha_beta(cls, alpha: float, beta: float) -> Stabilization:
        """Gains of the form b −= 2α ψ̇ + β² ψ (de Falco (32)): β = ω, α = ζω.

        Args:
            alpha: α, 1/s.
            beta: β, 1/s, positive.

        Raises:
            InputError: β is not positive, or a number is not finite.
        """
        if not beta > 0.0:
            raise InputError(f"beta must be positive, not {beta}")
        return cls(frequency=beta / (2.0 * math.pi), damping_ratio=alpha / beta)

    @property
    def angular_frequency(self) -> float:
        """ω = 2π · frequency, rad/s; the gain of φ in velocity-level rows."""
        return 2.0 * math.pi * self.frequency

    @property
    def damping(self) -> float:
        """Gain 2ζω of ψ̇ in position-level rows, 1/s."""
        return 2.0 * self.damping_ratio * self.angular_frequency

    @property
    def stiffness(self) -> float:
        """Gain ω² of ψ in position-level rows, 1/s²."""
        return self.angular_frequency**2
