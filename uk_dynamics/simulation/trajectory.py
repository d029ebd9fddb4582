"""A simulated motion: samples over time with their names."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError

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


@dataclass(frozen=True)
class Trajectory:
    """K samples of a motion; arrays have one row per sample.

    Attributes:
        name: Name of the mechanism.
        names: Column names.
        t: Times, (K,), in s.
        q: Configurations, (K, nq), in m or rad.
        v: Velocities, (K, nv), in m/s or rad/s.
        qdd: Accelerations, (K, nv), in m/s² or rad/s².
        efforts: Motor efforts, (K, motors), in N or N·m.
        residual: Constraint residuals ψ, (K, m), in m or rad.
        multipliers: (K, m).
        tracking_error: Task residuals, (K, mt), in m or rad.
        kinetic: Kinetic energy, (K,), in J.
        potential: Potential energy, (K,), in J.
        rank: Rank of the structural constraints, (K,).
        condition: Condition number of the independent rows, (K,).
        status: Name of each solution's status, (K,).
        statistics: What it cost.
    """

    name: str
    names: Names
    t: Array
    q: Array
    v: Array
    qdd: Array
    efforts: Array
    residual: Array
    multipliers: Array
    tracking_error: Array
    kinetic: Array
    potential: Array
    rank: Array
    condition: Array
    status: tuple[str, ...]
    statistics: Statistics

    @property
    def energy(self) -> Array:
        """Total mechanical energy, (K,), in J."""
        return self.kinetic + self.potential

    def position(self, name: str) -> Array:
        """Samples of one position coordinate, (K,), in m or rad.

        Raises:
            InputError: There is no such coordinate.
        """
        if name not in self.names.positions:
            raise InputError(f'no position "{name}"; there are: {", ".join(self.names.positions)}')
        column: Array = self.q[:, self.names.positions.index(name)]
        return column

    def save(self, path: str | Path) -> None:
        """Write all samples to ``.npz`` (everything) or ``.csv`` (a column per coordinate).

        Raises:
            InputError: Another suffix, or the file cannot be written.
        """
        path = Path(path)
        writers = {".npz": self._save_npz, ".csv": self._save_csv}
        if path.suffix not in writers:
            raise InputError(
                f'cannot write "{path.suffix}" files; use .npz or .csv', file=str(path)
            )
        try:
            writers[path.suffix](path)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None

    def plot(self, path: str | Path) -> None:
        """Draw the motion into a picture (``.png``, ``.pdf`` or ``.svg``).

        Raises:
            InputError: Matplotlib is not installed, or the file cannot be written.
        """
        from uk_dynamics.simulation.plot import plot_trajectory

        plot_trajectory(self, Path(path))

    def _save_npz(self, path: Path) -> None:
        arrays: dict[str, Any] = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if isinstance(getattr(self, f.name), np.ndarray)
        }
        names: dict[str, Any] = {
            f"{f.name}_names": np.array(getattr(self.names, f.name)) for f in fields(Names)
        }
        np.savez_compressed(path, name=self.name, status=np.array(self.status), **arrays, **names)

    def _save_csv(self, path: Path) -> None:
        names = self.names
        columns: list[tuple[str, Array]] = [("t", self.t)]
        for prefix, labels, values in (
            ("q", names.positions, self.q),
            ("v", names.velocities, self.v),
            ("qdd", names.velocities, self.qdd),
            ("effort", names.motors, self.efforts),
            ("residual", names.constraint_rows, self.residual),
            ("multiplier", names.constraint_rows, self.multipliers),
            ("tracking_error", names.task_rows, self.tracking_error),
        ):
            columns += [(f"{prefix}.{label}", values[:, i]) for i, label in enumerate(labels)]
        columns += [("kinetic", self.kinetic), ("potential", self.potential), ("rank", self.rank)]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([label for label, _ in columns])
            writer.writerows(
                [format(value, ".17g") for value in row]
                for row in zip(*(values for _, values in columns), strict=True)
            )
