# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A simulated or recorded motion, which can be saved, loaded and plotted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uk_dynamics.simulation.plots.figure_files import plot_trajectory
from uk_dynamics.simulation.recording import trajectory_files
from uk_dynamics.simulation.recording.columns import columns
from uk_dynamics.simulation.recording.trajectory_data import TrajectoryData


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(TrajectoryData):
    """A motion; :class:`TrajectoryData` describes its arrays."""

    def __repr__(self) -> str:
        span = f" from {self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else ""
        return f"<Trajectory {self.name}: {len(self.t)} samples{span}>"

    def columns(self) -> dict[str, list[Any]]:
        """All columns by name, as in CSV files: ``t``, ``q.crank``, ``v.crank``, ``status`` ….

        ``pandas.DataFrame(trajectory.columns())`` makes a table of them.
        """
        return columns(self)

    def save(self, path: str | Path) -> None:
        """Write all samples to ``.npz``, ``.mcap`` or ``.csv`` (a column per coordinate).

        MCAP contains the ROS 2 messages that the nodes would have published.

        Raises:
            InputError: The suffix is unknown, or the file cannot be written.
        """
        trajectory_files.save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a trajectory from ``.npz``, a bag (``.mcap``, ``.db3``), ``.csv`` or ``.parquet``.

        An MCAP file may also contain the topics of running nodes, and may be truncated. Columns of
        other programs are named ``t``, ``q.JOINT``, ``v.JOINT``, ``effort.MOTOR``, as many as there
        are, also as arrays of an ``.npz``; what is missing is NaN.

        Raises:
            InputError: There is no such file, or it contains no trajectory.
        """
        return cls(**vars(trajectory_files.load(Path(path))))

    def plot(self, path: str | Path | None = None) -> None:
        """Draw joints, tasks with their references, velocities, efforts, power, errors, energy.

        Args:
            path: Picture to write (``.png``, ``.pdf`` or ``.svg``); None shows it in a window or
                notebook.

        Raises:
            InputError: Matplotlib is not installed, or the file cannot be written.
        """
        plot_trajectory(self, None if path is None else Path(path))
