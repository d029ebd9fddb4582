# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulation of one point of a sweep, from its data to a row of numbers; run by a worker."""

import contextlib
import functools
import json
import time
import traceback
from typing import Any

import numpy as np
import yaml

from uk_dynamics.compilation import Selection
from uk_dynamics.control.servo import ServoController
from uk_dynamics.core.integration import FIXED_METHODS
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.files import MechanismSpec, TasksSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory, simulate, simulate_many
from uk_dynamics.sweeps.sweep_specification import Point

Row = dict[str, Any]


def simulate_points(points: list[Point]) -> list[tuple[Row, dict[str, Any] | None]]:
    """Simulate points: rows, of failures, too, and columns of trajectories that are stored."""
    found: dict[int, tuple[Row, dict[str, Any] | None]] = {}
    for group in _groups(points):
        found |= _side_by_side(points, group)
    return [found[k] if k in found else _simulate(point) for k, point in enumerate(points)]


def _groups(points: list[Point]) -> list[list[int]]:
    """Places of points that may go side by side: what they simulate is called the same."""
    groups: dict[str, list[int]] = {}
    for k, point in enumerate(points):
        if point.tasks is not None and "control_period" in point.simulation:
            data = [point.mechanism, sorted(point.parameters), dict(point.simulation), point.robot]
            groups.setdefault(json.dumps(data, sort_keys=True), []).append(k)
    return [group for group in groups.values() if len(group) > 1]


def _side_by_side(
    points: list[Point], group: list[int]
) -> dict[int, tuple[Row, dict[str, Any] | None]]:
    """Rows of several points; those that fail are not among them, and are simulated alone."""
    begin = time.perf_counter()
    made = {}
    for k in group:
        with contextlib.suppress(Exception):  # alone, it fails with its reason
            made[k] = _prepared(points[k])
    options = dict(points[group[0]].simulation)
    fixed = options.get("method", "rk4") in FIXED_METHODS
    if len(made) < 2 or not fixed or "rtol" in options:
        return {}
    duration = options.pop("duration")
    try:
        trajectories = simulate_many(
            [mechanism for mechanism, _, _ in made.values()],
            [state for _, _, state in made.values()],
            duration,
            controllers=[controller for _, controller, _ in made.values() if controller],
            backend=_backend(points[group[0]]),
            threads=1,
            **options,
        )
    except Exception:  # noqa: BLE001 one of them; alone, it fails with its reason
        return {}
    wall = (time.perf_counter() - begin) / len(made)
    return {
        k: _row(points[k], trajectory, wall)
        for k, trajectory in zip(made, trajectories, strict=True)
    }


def _row(point: Point, trajectory: Trajectory, wall: float) -> tuple[Row, dict[str, Any] | None]:
    row: Row = {"point": point.key, **point.values}
    row |= {"status": "ok", "error": "", "wall_time": wall, **_summary(trajectory)}
    return row, _columns(point.key, trajectory) if point.trajectory else None


def _simulate(point: Point) -> tuple[Row, dict[str, Any] | None]:
    begin = time.perf_counter()
    row: Row = {"point": point.key, **point.values}
    try:
        mechanism, controller, state = _prepared(point)
        options = {"controller": controller, "backend": _backend(point), **point.simulation}
        trajectory = simulate(mechanism, state, **options)
    except UkDynamicsError as error:
        return _failed(row, str(error), begin), None
    except Exception as error:  # noqa: BLE001 one point must not end the sweep
        place = traceback.extract_tb(error.__traceback__)[-1]
        return _failed(row, f"{error!r} at {place.filename}:{place.lineno}", begin), None
    return _row(point, trajectory, time.perf_counter() - begin)


def _failed(row: Row, problem: str, begin: float) -> Row:
    return {**row, "status": "failed", "error": problem, "wall_time": time.perf_counter() - begin}


def _backend(point: Point) -> Backend:
    return "auto" if point.compiles else "cached"


def _prepared(point: Point) -> tuple[Mechanism, ServoController | None, State]:
    """Mechanism, controller and start of a point."""
    file, _, directory = point.files
    mechanism = _mechanism(
        json.dumps(point.mechanism, ensure_ascii=False), file, directory, point.robot
    )
    if point.parameters:
        mechanism = mechanism.with_parameters(point.parameters)
    controller = None
    if point.tasks is not None:
        controller = ServoController(
            mechanism,
            Tasks(TasksSpec.from_text(_yaml(point.tasks), file=point.files[1]), mechanism),
            control_period=point.simulation.get("control_period"),
            backend=Selection(_backend(point), unready="wait"),
        )
    return mechanism, controller, mechanism.start(dict(point.positions), dict(point.velocities))


@functools.lru_cache(maxsize=8)
def _mechanism(data: str, file: str, directory: str, robot: str) -> Mechanism:
    """Build a mechanism once for all points with the same data.

    The digest of the robot is a key of the cache: the description may change during the life of a
    worker.
    """
    spec = MechanismSpec.from_text(_yaml(json.loads(data)), file=file, directory=directory)
    return Mechanism.from_spec(spec)


def _yaml(data: Any) -> str:
    return str(yaml.safe_dump(dict(data), sort_keys=False))


def _summary(trajectory: Trajectory) -> Row:
    """Final state, energy, and largest errors of a motion."""
    names, energy, errors = trajectory.names, trajectory.energy, trajectory.tracking_error
    row: Row = {
        "t": float(trajectory.t[-1]),
        "steps": trajectory.statistics.steps,
        "evaluations": trajectory.statistics.evaluations,
        "energy": float(energy[-1]),
        "energy_change": float(energy[-1] - energy[0]),
        "largest_residual": float(np.abs(trajectory.residual).max(initial=0.0)),
        "least_rank": int(trajectory.rank.min()),
        "warnings": "; ".join(trajectory.warnings),
    }
    for prefix, labels, values in (
        ("q", names.positions, trajectory.q[-1]),
        ("v", names.velocities, trajectory.v[-1]),
        ("largest_effort", names.motors, np.abs(trajectory.efforts).max(axis=0, initial=0.0)),
        ("tracking_rms", names.task_rows, np.sqrt(np.mean(errors * errors, axis=0))),
    ):
        row |= {f"{prefix}.{name}": float(x) for name, x in zip(labels, values, strict=True)}
    return row


def _columns(key: str, trajectory: Trajectory) -> dict[str, Any]:
    kept = {
        name: values
        for name, values in trajectory.columns().items()
        if name.partition(".")[0] in ("t", "q", "v", "qdd", "effort")
    }
    return {"point": [key] * len(trajectory.t), **kept}
