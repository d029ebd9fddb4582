# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts that stand while tasks are served: their rows, their friction, and when they stand."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from uk_dynamics.arrays import Flags, Indices
from uk_dynamics.constraints.rows import ConstraintSet, ConstraintTerms
from uk_dynamics.core.servo import planned_share
from uk_dynamics.exceptions import InputError, UnknownNameError, expect_names
from uk_dynamics.mechanism.files.tasks_specification import StandingSpec, TasksSpec
from uk_dynamics.mechanism.resolution.one_sided import OneSided
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array
from uk_dynamics.model.kinematics import Workspace

_Held = tuple[tuple[int, ...], ActiveConstraints | None, tuple[ActiveConstraints, Array]]
Active = TypeVar("Active", ActiveConstraints, ActiveConstraints | None)

#: N, per unit weight of the machine: the largest normal force of a point whose ramp is under way.
RAMPED = 3.0
_STANDARD_GRAVITY = 9.81  # m/s², of forces where there is none


@dataclass(frozen=True)
class Stand:
    """An entry of the section ``contacts``."""

    spec: StandingSpec
    points: tuple[int, ...]  # its points, by their place among all


class StandingContacts:
    """The points of a tasks file's section ``contacts``, with three rows each: normal, x, y."""

    def __init__(self, spec: TasksSpec, mechanism: ResolvedMechanism, sizes: list[int]) -> None:
        """Look up contacts, and the tasks that wait for them.

        Raises:
            InputError: A contact does not exist, has no friction, less than its entry uses, or
                stands twice; or something in the tasks file goes without standing contacts only.
        """
        _refuse(spec)
        names = {contact.name for contact in mechanism.spec.contacts}
        declared = [x for x in mechanism.one_sided if x.dry is None and x.name in names]
        points: list[OneSided] = []
        entries: list[Stand] = []
        for entry in spec.contacts:
            place = f"contacts.{entry.name}"
            own = [c for c in declared if entry.name in (c.name, c.name.partition(".")[0])]
            if not declared:
                problem = (
                    "the mechanism file has no contacts that could stand; give it contacts:"
                    f" {entry.name}, with parent, child, points and friction"
                )
                raise InputError(problem, file=spec.file, place=place)
            if not own:
                known = dict.fromkeys(
                    x for c in declared for x in (c.name.partition(".")[0], c.name)
                )
                raise UnknownNameError("contact", entry.name, known, file=spec.file, place=place)
            for one in own:
                if one in points:
                    problem = f"{one.name} stands already by another entry; remove one"
                    raise InputError(problem, file=spec.file, place=place)
                if one.sticking is None:
                    problem = f"{one.name} has no friction, and slides; give it friction"
                    raise InputError(
                        problem, file=mechanism.spec.file, place=f"contacts.{one.name}"
                    )
                if entry.friction is not None and entry.friction > one.friction:
                    problem = (
                        f"found {entry.friction:g}; give at most the {one.friction:g} of"
                        f" {one.name} in the mechanism file: forces that need more slip"
                    )
                    raise InputError(problem, file=spec.file, place=f"{place}.friction")
            entries.append(Stand(entry, tuple(range(len(points), len(points) + len(own)))))
            points += own
        self.entries = tuple(entries)  # entries of the section, in its order
        self.names = tuple(one.name for one in points)  # of the points, (k,)
        self.friction = np.zeros(len(points))  # μ, (k,)
        self.most = np.zeros(len(points))  # largest normal forces, (k,), in N
        # entry of each point, (k,)
        self.entry: Indices = np.repeat(np.arange(len(entries)), [len(s.points) for s in entries])
        for stand in entries:
            own_points = list(stand.points)
            self.most[own_points] = stand.spec.force_limit
            self.friction[own_points] = [
                points[k].friction if stand.spec.friction is None else stand.spec.friction
                for k in own_points
            ]
        gravity = float(np.linalg.norm(mechanism.model.gravity)) or _STANDARD_GRAVITY
        self.largest = mechanism.model.total_mass * gravity  # weight of the machine, in N
        # of a force against an effort at its limit, in 1/N²: one over the weight, squared
        self.weight = 1.0 / self.largest**2
        self._initial = mechanism.hierarchy.initial
        # names of the rows of each point in the mechanism
        self.constraints = tuple(one.constraints for one in points)
        self._own = frozenset(name for one in points for name in one.constraints)
        by_name = {c.name: c for c in mechanism.constraints.constraints}
        self._rows = ConstraintSet(
            tuple(by_name[name] for one in points for name in one.constraints),
            mechanism.model.ancestry,
            mechanism.model.nq,
            mechanism.spec.model.length,
        )
        known_entries = {stand.spec.name: i for i, stand in enumerate(entries)}
        self.damping = self._rows.damping  # 2ζω of the rows, (3k,), in 1/s
        lifted: list[int] = []
        for task, size in zip(spec.tasks, sizes, strict=True):
            if task.while_lifted is not None:
                place, lifts = f"tasks.{task.name}.while_lifted", [task.while_lifted]
                expect_names("standing contact", lifts, known_entries, file=spec.file, place=place)
            lifted += [known_entries.get(task.while_lifted or "", -1)] * size
        # entry while which stands a row of the tasks asks for nothing, or −1, (mt,)
        self.lifted: Indices = np.array(lifted, dtype=np.intp)
        # entry, begin, end and ramp of each interval of the plan, (4, n)
        plan = [(i, *x, e.ramp) for i, e in enumerate(spec.contacts) for x in e.intervals]
        self._plan = np.array(plan).T
        # what stood and was on when it was last asked, and the answer
        self._held: _Held | None = None

    @property
    def settings(self) -> dict[str, Array]:
        """What a law in C knows of them, by fields of its memory."""
        return {
            "contact_friction": self.friction,
            "contact_limit": self.most,
            "contact_damping": self.damping,
            "contact_cost": np.array([self.weight]),
            "contact_ramped": np.array([RAMPED * self.largest]),
            "contact_entry": self.entry.astype(float),
            "contact_ramp": np.array([stand.spec.ramp for stand in self.entries]),
            "contact_detected": np.array(
                [s.spec.stands == "detected" for s in self.entries], float
            ),
            "contact_plan": self._plan[:3].T.ravel(),
            "lifted_by": np.append(np.full(len(self.damping), -1.0), self.lifted),
        }

    def closed(self, active: ActiveConstraints | None) -> Flags:
        """Points that are said to be closed, (k,)."""
        names = frozenset[str]() if active is None else active.names
        return np.array([name in names for name in self.names])

    def limits(self, points: Indices, share: Array) -> Array:
        """Largest normal forces of points that have a share of theirs, (k,), in N."""
        ramped = np.where(share < 1.0, share * RAMPED * self.largest, np.inf)
        return np.minimum(self.most[points], ramped)

    def evaluate(self, workspace: Workspace, q: Array, v: Array) -> ConstraintTerms:
        """Rows of all points, (3k, nv), at a state that the workspace knows."""
        return self._rows.evaluate(workspace, 0.0, q, v)

    def right_hand_side(self, rows: ConstraintTerms) -> Array:
        """What points that stand accelerate by, −2ζω ψ̇ beyond their bias, (3k,).

        Their velocities decay, and nothing draws them to a place: where the ground is, the force
        that it gives tells better than a model.
        """
        return -rows.bias - self.damping * rows.rate

    def planned(self, t: float) -> tuple[int, ...]:
        """Entries that stand by their plan at t, in s."""
        entry, begin, end, ramp = self._plan
        stands = planned_share(np.full(len(entry), t), begin, end, ramp) > 0.0
        return tuple(sorted({int(i) for i in entry[stands]}))

    def held(
        self, t: float, active: ActiveConstraints | None = None
    ) -> tuple[ActiveConstraints, Array]:
        """The structure with what stands by its plan at t, in s, as if the ground pulled as well.

        Active is what is on, and closed; None: as in the mechanism file, and what would be detected
        stands. Task rows that ask for nothing then have 0, others 1, (mt,).
        """
        stands = self.planned(t)
        if self._held is not None and self._held[0] == stands and self._held[1] is active:
            return self._held[2]
        base = self.without(active or self._initial)
        points = {k for i in stands for k in self.entries[i].points}
        if active is not None:
            detected = {k for s in self.entries if s.spec.stands == "detected" for k in s.points}
            points -= {k for k in detected if self.names[k] not in active.names}
        names = {name for k in points for name in self.constraints[k]}
        on = replace(base, names=base.names | names)
        asked = np.where(np.isin(self.lifted, stands), 0.0, 1.0)
        asked.setflags(write=False)
        self._held = stands, active, (on, asked)
        return on, asked

    def with_closed(
        self, active: ActiveConstraints | None, closed: frozenset[str]
    ) -> ActiveConstraints:
        """The constraints that are on, and of these contacts the points that are closed."""
        base = self.without(active or self._initial)
        names = (
            n for k, name in enumerate(self.names) if name in closed for n in self.constraints[k]
        )
        return replace(base, names=base.names | frozenset(names))

    def without(self, active: Active) -> Active:
        """The constraints that are on besides these contacts; None: as in the mechanism file."""
        if active is None:
            return active
        sliding = {name: x for name, x in active.sliding.items() if name not in self._own}
        return replace(active, names=active.names - self._own, sliding=sliding)


def _refuse(spec: TasksSpec) -> None:
    """Refuse, with an InputError, what the law does not have with standing contacts."""
    found = [f"tasks.{task.name}.feedback" for task in spec.tasks if task.feedback != "baumgarte"]
    found += [f"tasks.{task.name}.relaxed" for task in spec.tasks if task.relaxed is not None]
    found += ["distribution"] * (spec.distribution != "effort")
    found += ["robust"] * (spec.robust is not None)
    found += [key for key in ("observer", "velocity_observer") if getattr(spec, key)]
    found += ["allocation.internal_forces"] * bool(spec.allocation.internal_forces)
    for place in found:
        raise InputError(
            "the law with standing contacts does not know this; remove it, or contacts",
            file=spec.file,
            place=place,
        )
