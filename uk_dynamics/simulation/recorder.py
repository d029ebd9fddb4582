# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Collects samples of a running simulation into a trajectory."""

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactDynamics, contact_row_names, contact_rows
from uk_dynamics.mechanism.dynamics import Dynamics, Told
from uk_dynamics.mechanism.resolution import Array, Inputs, Samples, State, States
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.trajectory_data import LATE, Names, Statistics, Switching
from uk_dynamics.simulation.singular_passages import passages_of
from uk_dynamics.simulation.trajectory import Trajectory

_WARNINGS = {
    Status.INCONSISTENT: "constraints contradict each other: {rows} cannot hold",
    Status.UNDETERMINED_LOAD: "friction depends on a force that redundant rows share: {rows}",
    Status.NOT_CONVERGED: "friction was neglected because it did not converge (jammed): {rows}",
}


class _Block(NamedTuple):
    """Samples, of which what follows from them is computed later."""

    states: States
    inputs: Inputs  # without forces
    efforts: Array
    tracking_error: Array
    told: Told

    def columns(self) -> dict[str, Any]:
        """What is known of them without an evaluation."""
        t, q, v, _ = self.states
        known = {"t": t, "q": q, "v": v, "efforts": self.efforts}
        return {**known, "tracking_error": self.tracking_error, **self.told._asdict()}


def _joined(blocks: Sequence[_Block]) -> _Block:
    """Samples of blocks, with the inputs of the first."""
    states, inputs, efforts, errors, told = zip(*blocks, strict=True)
    return _Block(
        States(*map(np.concatenate, zip(*states, strict=True))),
        inputs[0],
        np.concatenate(efforts),
        np.concatenate(errors),
        Told(*map(np.concatenate, zip(*told, strict=True))),
    )


class Recorder:
    """Evaluates and stores samples, and each warning with the time of its first occurrence."""

    def __init__(
        self,
        mechanism: Mechanism,
        dynamics: Dynamics,
        task_rows: tuple[str, ...],
        tasks: Tasks | None = None,
        estimated: tuple[str, ...] = (),
    ) -> None:
        """Begin; tasks, if the task rows are theirs, say what the rows follow."""
        self._mechanism = mechanism
        self.mechanism_name = mechanism.name  # name of the mechanism
        # of its motors, (motors,), in N or N·m
        self.effort_limits = mechanism.actuators.effort_limits
        self._dynamics = dynamics
        # of all columns
        self.names = Names(
            positions=mechanism.model.position_names,
            velocities=mechanism.model.velocity_names,
            motors=mechanism.actuators.names,
            constraint_rows=mechanism.row_names,
            task_rows=task_rows,
            contact_rows=contact_row_names(mechanism.one_sided),
            estimated=estimated,
        )
        self._tasks = tasks
        self.machine = MachineData.of(mechanism, tasks)  # units and limits, for plots
        self._blocks: list[_Block] = []
        self._evaluated = 0  # of them
        self._lock = threading.Lock()  # threads may read a trajectory
        self._samples: list[Mapping[str, Any]] = []  # what was made of these
        self._solutions: list[tuple[int, Callable[[int], Solution]]] = []  # by first sample
        self._count = 0  # of samples evaluated
        self._warnings: dict[str, tuple[float, str]] = {}
        self._switchings: list[Switching] = []
        # called with each stored sample and the name of its status
        self.listener: Callable[[Mapping[str, Any], str], None] | None = None

    def add(
        self,
        state: State,  # positions, velocities and time
        inputs: Inputs,  # of the dynamics
        efforts: Array,  # motor efforts, (motors,), in N or N·m
        tracking_error: Array,  # error of each task row, (mt,), in m or rad
        told: Told | None = None,  # by the law
    ) -> None:
        """Store one sample; see :meth:`add_many`."""
        tau = np.zeros_like(state.v) if inputs.tau is None else inputs.tau
        states = States(np.array([state.t]), *(np.array([x]) for x in (state.q, state.v, tau)))
        self.add_many(states, inputs, efforts[None], tracking_error[None], told)

    def add_many(
        self,
        states: States,  # with the forces that act, which count instead of those of the inputs
        inputs: Inputs,  # common to all
        efforts: Array,  # motor efforts, (K, motors), in N or N·m
        tracking_error: Array,  # error of each task row, (K, mt), in m or rad
        told: Told | None = None,  # by the law; None: nothing
    ) -> None:
        """Store samples; what follows from them is computed when it is read, or for a listener."""
        shared = replace(inputs, tau=None)
        if told is None:
            told = Told.nothing(len(efforts), len(self.names.task_rows), len(self.names.estimated))
        self._blocks.append(_Block(states, shared, efforts, tracking_error, told))
        if self.listener is not None:
            self._evaluate()

    def _evaluate(self) -> None:
        """Evaluate what is not yet, in blocks of the same inputs."""
        with self._lock:
            pending = self._blocks[self._evaluated :]
            for _, alike in groupby(
                pending, lambda b: (id(b.inputs.active), id(b.inputs.references))
            ):
                blocks = list(alike)
                self._evaluate_blocks(_joined(blocks), len(blocks))

    def _evaluate_blocks(self, block: _Block, blocks: int) -> None:
        states, scale = block.states, self._mechanism.constraints.reference_scale
        found = self._dynamics.samples(states, block.inputs)
        count = len(states.q)

        def place(k: int) -> State:
            return State(float(states.t[k]), states.q[k], states.v[k])

        energies = cache(lambda: [self._dynamics.energy(place(k)) for k in range(count)])
        status = [one.name for one in found.status]
        samples: dict[str, Any] = {
            "qdd": found.qdd,
            "residual": found.residual,
            "residual_rate": found.residual_rate,
            "multipliers": found.multipliers * scale,
            "references": lambda: self._references(states.t),
            **self._contact_samples(block, found),
            "kinetic": lambda: np.array([energy.kinetic for energy in energies()]),
            "potential": lambda: np.array([energy.potential for energy in energies()]),
            "rank": found.rank,
            "condition": lambda: np.array([found.solution(k).condition for k in range(count)]),
            "status": status,
        }
        self._warn_of(states, found)
        self._samples.append(samples)
        self._evaluated += blocks
        self._solutions.append((self._count, found.solution))
        self._count += count
        if self.listener is not None:
            now = {name: x() if callable(x) else x for name, x in samples.items()}
            now |= block.columns()
            del now["status"]
            for k, one in enumerate(status):
                # numbers as they were before they stood in an array
                values = ((name, x[k]) for name, x in now.items())
                self.listener({name: x if np.ndim(x) else x.item() for name, x in values}, one)

    @cached_property
    def _contacts(self) -> ContactDynamics | None:
        return ContactDynamics(self._mechanism) if self._mechanism.one_sided else None

    def _contact_samples(self, block: _Block, found: Samples) -> dict[str, Array]:
        """Gaps, rates and forces of the contact rows, (K, c) each."""
        t, q, v, tau = block.states
        parts = np.zeros((3, len(q), len(self.names.contact_rows)))
        for k in range(len(q)):
            if self._contacts is None:
                break
            inputs = replace(block.inputs, tau=None if tau is None else tau[k])
            state = State(float(t[k]), q[k], v[k])
            parts[:, k] = contact_rows(self._contacts.contacts(state, inputs, found.solution(k)))
        return dict(zip(("contact_gaps", "contact_rates", "contact_forces"), parts, strict=True))

    def _references(self, t: Array) -> Array:
        if self._tasks is None:
            return np.full((len(t), len(self.names.task_rows)), np.nan)
        found = np.zeros((len(t), len(self.names.task_rows)))
        for k, time in enumerate(t.tolist()):
            sample = self._tasks.sample(time)
            if sample is not None:  # every reference is zero
                found[k] = sample.value
        return found

    def _warn_of(self, states: States, found: Samples) -> None:
        mechanism = self._mechanism
        outside = mechanism.model.outside_limits(states.q).any(axis=1)
        for k in np.flatnonzero(outside).tolist():
            for violation in mechanism.model.limit_violations(states.q[k]):
                limits = f"[{violation.lower:.6g}, {violation.upper:.6g}]"
                self.warn(f"{violation.joint} is outside its limits {limits}", float(states.t[k]))
        for k, status in enumerate(found.status):
            if status in _WARNINGS:
                rows = ", ".join(mechanism.row_names[row] for row in found.solution(k).offending)
                self.warn(_WARNINGS[status].format(rows=rows), float(states.t[k]))

    @property
    def begun(self) -> bool:
        """Whether there is a sample."""
        return bool(self._blocks)

    def warn(self, text: str, t: float, details: str = "") -> None:
        """Store a warning with the time and details of its first occurrence."""
        self._warnings[text] = min((t, details), self._warnings.get(text, (t, details)))

    def switched(self, changes: Mapping[str, bool], t: float, energy_lost: float) -> None:
        """Store a switching event and the kinetic energy it dissipated, in J."""
        self._switchings.append(Switching(t, dict(changes), energy_lost))

    def _all_warnings(self, t: Array, q: Array) -> tuple[str, ...]:
        """Warnings in the order of time, with those of singular configurations that were passed."""
        rank = self._column("rank")
        found = [
            (t, f"{text}{details}, first seen at t = {t:.4g} s")
            for text, (t, details) in self._warnings.items()
        ]
        if self.names.constraint_rows:
            parts = np.searchsorted(t, [one.t for one in self._switchings], side="right")
            for part in np.split(np.arange(len(t)), parts):
                passed = passages_of(self._mechanism, part.tolist(), t, q, rank, self._condition)
                found += [(one.t, f"t = {one.t:.4g} s: {one.text}") for one in passed]
        return tuple(text for _, text in sorted(found))

    def _condition(self, k: int) -> float:
        first, solution = self._solutions[bisect_right(self._solutions, k, key=itemgetter(0)) - 1]
        return solution(k - first).condition

    def _column(self, name: str) -> Any:
        """What follows from all samples."""
        self._evaluate()
        parts = (part[name] for part in self._samples)
        return np.concatenate([part() if callable(part) else part for part in parts])

    def trajectory(self, statistics: Statistics) -> Trajectory:
        """All samples so far, at least one."""
        known = _joined(self._blocks).columns()
        late: dict[str, Any] = {name: partial(self._column, name) for name in LATE}
        late["status"] = lambda: tuple(self._column("status").tolist())
        late["warnings"] = partial(self._all_warnings, known["t"], known["q"])
        return Trajectory(
            name=self.mechanism_name,
            names=self.names,
            effort_limits=self.effort_limits,
            switchings=tuple(self._switchings),
            machine=self.machine,
            statistics=statistics,
            **known,
            **late,
        )
