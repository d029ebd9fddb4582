"""A simulated motion: samples over time with their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import UnknownNameError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Names:
    """Column names of a trajectory.

    Attributes:
        positions: Of q.
        velocities: Of v and qdd.
        motors: Of efforts.
        constraint_rows: Of residual and multipliers.
        task_rows: Of tracking_error.
    """

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    motors: tuple[str, ...]
    constraint_rows: tuple[str, ...]
    task_rows: tuple[str, ...]


@dataclass(frozen=True)
class Switching:
    """Constraints that were switched at one instant.

    Attributes:
        t: When, in s.
        changes: On or off, by name of the constraint.
        energy_lost: Kinetic energy that the jump of the velocities took, in J.
    """

    t: float
    changes: Mapping[str, bool]
    energy_lost: float


@dataclass(frozen=True)
class Statistics:
    """What a simulation cost.

    Attributes:
        steps: Accepted integration steps.
        evaluations: Evaluations of the constrained acceleration.
        wall_time: In s.
    """

    steps: int
    evaluations: int
    wall_time: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """K samples of a motion; arrays have one row per sample.

    Attributes:
        name: Name of the mechanism.
        names: Column names.
        t: Times, (K,), in s.
        q: Configurations, (K, nq), in m or rad.
        v: Velocities, (K, nv), in m/s or rad/s.
        qdd: Accelerations, (K, nv), in m/s² or rad/s².
        efforts: Motor efforts, (K, motors), in N or N·m; where a controller decides anew at the
            time of a sample, those it chose.
        effort_limits: Of the motors, (motors,), infinite where none is declared.
        residual: Constraint residuals ψ, (K, m), in m or rad.
        residual_rate: Rates of the rows, (K, m), in m/s or rad/s.
        multipliers: What the rows bear, the share of friction included, (K, m), in N or N·m.
        tracking_error: Task residuals, (K, mt), in m or rad.
        kinetic: Kinetic energy, (K,), in J.
        potential: Potential energy, (K,), in J.
        rank: Rank of the structural constraints, (K,).
        condition: Condition number of the independent rows, (K,).
        status: Name of each solution's status, (K,).
        warnings: What went wrong, a line each: joints outside their limits, motors at theirs,
            tasks out of reach, constraints that contradict each other.
        statistics: What it cost.
        switchings: Constraints switched on and off on the way.
    """

    name: str
    names: Names
    t: Array
    q: Array
    v: Array
    qdd: Array
    efforts: Array
    effort_limits: Array
    residual: Array
    residual_rate: Array
    multipliers: Array
    tracking_error: Array
    kinetic: Array
    potential: Array
    rank: NDArray[np.int_]
    condition: Array
    status: tuple[str, ...]
    warnings: tuple[str, ...]
    statistics: Statistics
    switchings: tuple[Switching, ...] = ()

    @property
    def energy(self) -> Array:
        """Total mechanical energy, (K,), in J."""
        return self.kinetic + self.potential

    def position(self, name: str) -> Array:
        """Samples of one position coordinate, (K,), in m or rad.

        Raises:
            UnknownNameError: There is no such coordinate.
        """
        if name not in self.names.positions:
            raise UnknownNameError("position", name, self.names.positions)
        column: Array = self.q[:, self.names.positions.index(name)]
        return column

    def save(self, path: str | Path) -> None:
        """Write all samples to ``.npz``, ``.mcap`` or ``.csv`` (a column per coordinate).

        MCAP holds the ROS 2 messages that nodes would have published.

        Raises:
            InputError: Another suffix, or the file cannot be written.
        """
        from uk_dynamics.simulation.trajectory_files import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a trajectory from ``.npz`` or ``.mcap``.

        An MCAP file may also hold the topics of running nodes, and may have been cut short.

        Raises:
            InputError: There is no such file, or it holds no trajectory.
        """
        from uk_dynamics.simulation.trajectory_files import load

        return load(Path(path))

    def plot(self, path: str | Path | None = None) -> None:
        """Draw the motion: joints, efforts, tracking errors, gaps of the loops, energy.

        Args:
            path: Picture to write (``.png``, ``.pdf`` or ``.svg``); None shows it in a window or
                notebook.

        Raises:
            InputError: Matplotlib is not installed, or the file cannot be written.
        """
        from uk_dynamics.simulation.picture import plot_trajectory

        plot_trajectory(self, None if path is None else Path(path))
