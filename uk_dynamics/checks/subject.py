# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism under validation, with lazily computed results, and the findings about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from uk_dynamics.core.equation import Solution
from uk_dynamics.core.linalg import spanning_rows
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.analysis import MechanismReport
from uk_dynamics.mechanism.assembly import Assembly
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import machine_size
from uk_dynamics.model.kinematics import Workspace

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_MANY = 30  # names that nobody reads
_SHOWN = 12
_ROUNDING = 1e-8  # of rows at unit norm


def listed(names: Sequence[str]) -> str:
    """Names as text; of very many the first ones, and how many more there are."""
    if len(names) <= _MANY:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"


@dataclass(frozen=True)
class Finding:
    """A problem of a mechanism, with a remedy."""

    check: str  # name of the check, such as ``inertia``
    # ``error``: the mechanism is wrong or does not work; ``warning``: it is probably not as
    # intended; ``note``: worth knowing
    severity: Severity
    subject: tuple[str, ...]  # names of the joints, links, rows or motors concerned
    problem: str
    remedy: str


@dataclass(frozen=True)
class Subject:
    """A mechanism under validation; expensive results are computed once, on first use."""

    mechanism: Mechanism
    positions: Mapping[str, float]  # joints that are held while the loops are closed, in rad or m
    tasks: Tasks | None = None

    @cached_property
    def assembly(self) -> Assembly:
        """The search for a closed configuration."""
        held = dict(self.positions)
        return self.mechanism.assembly(held, hold=tuple(held))

    @property
    def closed(self) -> bool:
        """Whether the loops close."""
        return self.assembly.closed

    @cached_property
    def size(self) -> float:
        """Size of the machine, in m."""
        return machine_size(self.mechanism.model, self.assembly.q)

    @cached_property
    def workspace(self) -> Workspace:
        """Kinematics where the search for a closed configuration ended."""
        workspace = self.mechanism.model.workspace()
        workspace.update_positions(self.assembly.q)
        return workspace

    @cached_property
    def report(self) -> MechanismReport:
        """The report without tasks, of a closed mechanism."""
        return self.mechanism.report(self.assembly.q)

    @cached_property
    def start(self) -> State | InputError:
        """Where a motion starts, or why it cannot."""
        try:
            return self.mechanism.start(self.positions)
        except InputError as error:
            return error

    @property
    def velocity(self) -> Array:
        """The initial velocity of the file, (nv,), made consistent; zero if that is impossible."""
        return self.start.v if isinstance(self.start, State) else np.zeros(self.mechanism.model.nv)

    @property
    def state(self) -> State:
        """Initial state."""
        return State(0.0, self.assembly.q, self.velocity)

    @cached_property
    def duplicates(self) -> list[tuple[str, ...]]:
        """Groups of constraints whose rows span the same space, at a closed configuration.

        Constraints that fix every velocity, or none, are not compared.
        """
        mechanism, workspace, q = self.mechanism, self.workspace, self.assembly.q
        workspace.update(q, self.velocity)
        followed = mechanism.references.sample(0.0)
        rows = mechanism.constraints.evaluate(workspace, 0.0, q, self.velocity, followed)
        acts = mechanism.hierarchy.acting()
        groups: list[tuple[Array, list[str]]] = []
        for name, where in mechanism.constraints.slices.items():
            basis = spanning_rows(rows.A[where], _ROUNDING)
            if not (acts[where].all() and 0 < len(basis) < mechanism.model.nv):
                continue
            same = next((names for other, names in groups if _same(basis, other)), None)
            if same is None:
                groups.append((basis, [name]))
            else:
                same.append(name)
        return [tuple(names) for _, names in groups if len(names) > 1]

    @cached_property
    def solution(self) -> Solution | UndeterminedMotionError:
        """Solution without efforts at the start, or the error if there is none."""
        try:
            # errors within the tolerance contradict nothing
            return InterpretedDynamics(self.mechanism).evaluate(self.state, Inputs(stabilize=False))
        except UndeterminedMotionError as error:
            return error


def _same(first: Array, second: Array) -> bool:
    """Whether two orthonormal bases span the same space."""
    if len(first) != len(second):
        return False
    left = first - (first @ second.T) @ second
    return float(np.abs(left).max()) <= _ROUNDING
