# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A simulated or recorded motion, which can be saved, loaded and plotted; files by their suffix."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError, located
from uk_dynamics.simulation.plots.curves import plot_trajectory
from uk_dynamics.simulation.recording import MachineData, columns, is_bag, mcap_trajectory
from uk_dynamics.simulation.recording.trajectory_data import (
    Names,
    Statistics,
    Switching,
    TrajectoryData,
)
from uk_dynamics.whole_file import output_file, require_regular

_SWITCHING = ("t", "energy_lost", "event", "name", "on")
SUFFIXES = (".npz", ".mcap", ".csv")
_NAMES = "_names"  # ends the keys of column names in .npz


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
        return columns.columns(self)

    def save(self, path: str | Path) -> None:
        """Write all samples to ``.npz``, ``.mcap`` or ``.csv`` (a column per coordinate).

        MCAP contains the ROS 2 messages that the nodes would have published.

        Raises:
            InputError: The suffix is unknown, or the file cannot be written.
        """
        path = Path(path)
        writers = {".npz": _save_npz, ".mcap": mcap_trajectory.save, ".csv": columns.save_csv}
        writer = writers.get(path.suffix.lower())
        if writer is None:
            raise unknown_suffix(path)
        try:
            with output_file(path) as unfinished:
                writer(self, unfinished)
        except InputError as error:
            raise InputError(error.problem, file=str(path)) from None

    @classmethod
    def load(cls, path: str | Path) -> "Trajectory":
        """Read a trajectory from ``.npz``, a bag (``.mcap``, ``.db3``), ``.csv`` or ``.parquet``.

        An MCAP file may also contain the topics of running nodes, and may be truncated. Columns of
        other programs are named ``t``, ``q.JOINT``, ``v.JOINT``, ``effort.MOTOR``, as many as there
        are, also as arrays of an ``.npz``; what is missing is NaN.

        Raises:
            InputError: There is no such file, or it contains no trajectory.
        """
        return cls(**vars(_loaded(Path(path))))

    def plot(self, path: str | Path | None = None) -> None:
        """Draw joints, tasks with their references, velocities, efforts, power, errors, energy.

        Args:
            path: Picture to write (``.png``, ``.pdf`` or ``.svg``); None shows it in a window or
                notebook.

        Raises:
            InputError: Matplotlib is not installed, or the file cannot be written.
        """
        plot_trajectory(self, None if path is None else Path(path))


def unknown_suffix(path: Path) -> InputError:
    """What to raise for a file that cannot be written."""
    problem = f'cannot write "{path.suffix}" files; use .npz, .mcap or .csv'
    return InputError(problem, file=str(path))


def _loaded(path: Path) -> TrajectoryData:
    require_regular(path)
    suffix = path.suffix.lower()
    if is_bag(path):
        return mcap_trajectory.load(path)
    if suffix in (".csv", ".parquet"):
        return columns.load(path)
    data = columns.read_npz(path)
    if "positions" + _NAMES not in data:
        with located(str(path)):
            return columns.from_columns(data, path.stem)
    try:
        return _from_arrays(data)
    except columns.BROKEN:
        raise InputError("is no trajectory saved as .npz", file=str(path)) from None


def _save_npz(trajectory: TrajectoryData, path: Path) -> None:
    arrays: dict[str, Any] = {
        f.name: getattr(trajectory, f.name)
        for f in fields(trajectory)
        if f.name not in ("names", "statistics", "switchings", "machine")
    }
    for key in ("status", "warnings"):
        arrays[key] = np.array(arrays[key], dtype=str)
    for key, names in asdict(trajectory.names).items():
        arrays[key + _NAMES] = np.array(names, dtype=str)
    arrays["machine"] = trajectory.machine.text()
    # Constraints switched together share their row of times and losses.
    single = [
        (i, n, on) for i, s in enumerate(trajectory.switchings) for n, on in s.changes.items()
    ]
    arrays["switching_t"] = np.array([s.t for s in trajectory.switchings])
    arrays["switching_energy_lost"] = np.array([s.energy_lost for s in trajectory.switchings])
    arrays["switching_event"] = np.array([i for i, _, _ in single], dtype=int)
    arrays["switching_name"] = np.array([n for _, n, _ in single], dtype=str)
    arrays["switching_on"] = np.array([on for _, _, on in single], dtype=bool)
    with path.open("wb") as file:  # given a name, NumPy might append another suffix to it
        np.savez_compressed(file, **arrays, **asdict(trajectory.statistics))


def _from_arrays(data: dict[str, Any]) -> TrajectoryData:
    for key in ("contact_rows", "estimated"):  # of older files
        data.setdefault(key + _NAMES, np.zeros(0, dtype=str))
    names = {f.name: tuple(data.pop(f.name + _NAMES).tolist()) for f in fields(Names)}
    statistics = {f.name: data.pop(f.name).item() for f in fields(Statistics) if f.name in data}
    parts = {key: data.pop(f"switching_{key}").tolist() for key in _SWITCHING}
    data.setdefault("references", np.full_like(data["tracking_error"], np.nan))
    data.setdefault("bounds", np.full_like(data["tracking_error"], np.nan))
    for key in ("contact_gaps", "contact_rates", "contact_forces", "estimates", "deviations"):
        data.setdefault(key, np.zeros((len(data["t"]), 0)))
    changes: list[dict[str, bool]] = [{} for _ in parts["t"]]
    for event, name, on in zip(parts["event"], parts["name"], parts["on"], strict=True):
        changes[event][name] = on
    return TrajectoryData(
        switchings=tuple(map(Switching, parts["t"], changes, parts["energy_lost"])),
        name=str(data.pop("name")),
        names=Names(**names),
        status=tuple(data.pop("status").tolist()),
        warnings=tuple(data.pop("warnings").tolist()),
        statistics=Statistics(**statistics),
        machine=MachineData.from_text(str(data.pop("machine", "{}"))),
        **data,
    )
