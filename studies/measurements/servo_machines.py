# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Six machines under servo control: what they do, and their files with another start or limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

import uk_dynamics as ukd
from uk_dynamics.resources import share_directory

Array = NDArray[np.float64]

_NEWTON_STEPS = 20
_REST = 1.2  # motors that hold weight: what they hold times this, where 70 % of the peak is less


@dataclass(frozen=True)
class Motion:
    """What a machine does while it is measured.

    Attributes:
        machine: Name of a shipped mechanism.
        tasks: Name of shipped tasks, with gains of 5 Hz.
        duration: In s.
    """

    machine: str
    tasks: str
    duration: float


MOTIONS = {
    motion.machine: motion
    for motion in (
        Motion("coordinated_robots", "coordinated_robots_lift", 6.283),
        Motion("parallel_2dof", "parallel_2dof_line", 2.0),
        Motion("rrr3", "rrr3_track", 8.0),
        # its spring pulls for ever: after 3 s it is 9 m away
        Motion("two_mass_spring", "two_mass_spring_breathe", 3.0),
        Motion("stewart_platform", "stewart_platform_heave_roll", 5.0),
        Motion("dual_panda", "dual_panda_load", 10.0),
    )
}


@dataclass(frozen=True)
class Files:
    """A mechanism and its tasks, as nodes and library take them.

    Attributes:
        mechanism: Path or shipped name of the mechanism file.
        tasks: Of the tasks file.
    """

    mechanism: str
    tasks: str

    def load(self) -> tuple[ukd.Mechanism, ukd.Tasks]:
        """Read both."""
        mechanism = ukd.Mechanism.from_file(self.mechanism)
        return mechanism, ukd.Tasks.from_file(self.tasks, mechanism)


def shipped_files(motion: Motion) -> Files:
    """The files of the package as they are."""
    return Files(motion.machine, motion.tasks)


def displaced(motion: Motion, part: float, directory: Path) -> Files:
    """The same with a start beside the path.

    Args:
        motion: What is done.
        part: Error of every row at the start, in parts of its excursion.
        directory: Where the file is written.
    """
    mechanism, tasks = shipped_files(motion).load()
    error = part * excursion(tasks, motion.duration)
    model, workspace = tasks.model, tasks.model.workspace()
    q, rest = mechanism.start().q, np.zeros(mechanism.model.nv)
    for _ in range(_NEWTON_STEPS):
        workspace.update(q, rest)
        loops = mechanism.constraints.evaluate(
            workspace, 0.0, q, rest, mechanism.references.sample(0.0)
        )
        rows = tasks.evaluate(workspace, q, rest, 0.0)
        gap = np.concatenate((loops.residual, rows.residual - error))
        q = model.integrate(q, -np.linalg.pinv(np.vstack((loops.A, rows.A))) @ gap)
    data = _shipped_data(motion)
    data["initial_guess"] = dict(zip(mechanism.joint_names, q.tolist(), strict=True))
    return Files(_write(directory, f"{motion.machine}_displaced", data), motion.tasks)


def excursion(tasks: ukd.Tasks, duration: float) -> Array:
    """How far the reference of each task row goes from its start, (mt,), in m or rad · length."""
    away: Array = np.abs(_away(tasks, duration)).max(axis=0)
    return away


def size_of(tasks: ukd.Tasks, duration: float) -> float:
    """How far the references together go from their start, in m or rad · length."""
    return float(np.linalg.norm(_away(tasks, duration), axis=1).max())


def _away(tasks: ukd.Tasks, duration: float) -> Array:
    start = tasks.sample(0.0)
    samples = [tasks.sample(t) for t in np.linspace(0.0, duration, 401).tolist()]
    values = [s.value - start.value for s in samples if s is not None and start is not None]
    away: Array = tasks.constraints.reference_scale * np.array(values)
    return away


def hop(
    machine: str, directory: Path, *, equal: bool = False, limits: Array | None = None
) -> Files:
    """A fast motion from rest to rest.

    Args:
        machine: Name of a shipped mechanism.
        directory: Where files are written.
        equal: All tasks have the same priority.
        limits: Effort limits, (motors,), in N or N·m; None: those of the mechanism file.
    """
    data = _shipped_data(MOTIONS[machine])
    data.pop("initial_velocity", None)
    for index, motor in enumerate(data["actuators"].values()):
        if limits is not None:
            motor["effort_limit"] = float(limits[index])
    tasks = yaml.safe_load(Path(__file__).with_name("hops.yaml").read_text())[machine]
    for task in tasks.values():
        if equal:
            task.pop("priority", None)
    kind = "equal" if equal else "ranked"
    return Files(
        _write(directory, f"{machine}_hop_{kind}", data),
        _write(directory, f"{machine}_hop_{kind}_tasks", {"schema": 1, "tasks": tasks}),
    )


def tightened(efforts: Array, part: float) -> Array:
    """Limits that are a part of the peak efforts of a motion from rest to rest, (motors,).

    A motor whose peak is the weight it holds would let it fall; it keeps somewhat more than that.

    Args:
        efforts: Of the motion without limits, (samples, motors), in N or N·m.
        part: Of the peaks.
    """
    rest = np.maximum(np.abs(efforts[0]), np.abs(efforts[-1]))
    limits: Array = np.maximum(part * np.abs(efforts).max(axis=0), _REST * rest)
    return limits


def _shipped_data(motion: Motion) -> dict[str, dict[str, dict[str, float]]]:
    text = (share_directory() / "config" / f"{motion.machine}.yaml").read_text()
    data: dict[str, dict[str, dict[str, float]]] = yaml.safe_load(text)
    return data


def _write(directory: Path, name: str, data: object) -> str:
    file = directory / f"{name}.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return str(file)
