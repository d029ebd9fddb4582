# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A motion linearised in independent coordinates, and its modes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.resources import optional_library


@dataclass(frozen=True)
class Mode:
    """One way in which a linear system moves by itself.

    Attributes:
        eigenvalue: In 1/s; of a pair the one with positive imaginary part.
        shape: Complex amplitude of every velocity coordinate, by name; the largest is 1.
    """

    eigenvalue: complex
    shape: dict[str, complex]

    @property
    def frequency(self) -> float:
        """Frequency of the undamped oscillation in Hz: modulus of λ by 2π; 0 without one."""
        return abs(self.eigenvalue) / (2.0 * np.pi) if self.eigenvalue.imag else 0.0

    @property
    def damping_ratio(self) -> float:
        """1: does not oscillate, 0: undamped, below 0: grows."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else 0.0


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """ẋ = drift + A x + B u, y = C x: small deviations x of the state, u of the motor efforts.

    The state holds positions and velocities of independent coordinates; all others follow from
    them by ``motion``. Constraints hold to first order whatever x is.

    Attributes:
        A: (n, n).
        B: (n, motors).
        C: Positions of all coordinates, (nv, n).
        D: Zero, (nv, motors).
        drift: Rates at the state itself; zero in an equilibrium, (n,).
        states: Names of the coordinates, the rates with the suffix ``.rate``, (n,).
        inputs: Names of the motors.
        outputs: Names of all velocity coordinates, (nv,).
        motion: Changes of positions and velocities for each x, (2 nv, n).
    """

    A: Array
    B: Array
    C: Array
    D: Array
    drift: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    motion: Array

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A, in 1/s, slowest first."""
        values = np.linalg.eigvals(self.A)
        return values[np.lexsort((values.imag, values.real, np.abs(values)))]

    def modes(self) -> tuple[Mode, ...]:
        """Eigenvalues with their shapes, slowest first; of a conjugate pair one."""
        values, vectors = np.linalg.eig(self.A)
        found = []
        for k in np.lexsort((values.imag, values.real, np.abs(values))):
            if values[k].imag < 0.0:
                continue
            shape = self.C @ vectors[:, k]
            largest = shape[np.argmax(np.abs(shape))] if len(shape) else 1.0
            if largest:
                shape = shape / largest
            by_name = dict(zip(self.outputs, shape.tolist(), strict=True))
            found.append(Mode(complex(values[k]), by_name))
        return tuple(found)

    def discrete(self, period: float) -> tuple[Array, Array]:
        """A and B of x after a period, in s, in which efforts are constant (zero-order hold)."""
        from scipy.signal import cont2discrete  # takes long to import

        system = (self.A, self.B, np.eye(len(self.A)), np.zeros(self.B.shape))
        A, B, *_ = cont2discrete(system, period)
        return A, B

    def to_control(self) -> Any:
        """The same as a ``control.StateSpace`` with these names; needs python-control.

        Raises:
            InputError: It is not installed.
        """
        return optional_library("control", "to_control needs the package control").ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=list(self.states),
            inputs=list(self.inputs),
            outputs=list(self.outputs),
        )
