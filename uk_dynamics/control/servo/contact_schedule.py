# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which contacts stand when, and what the servo law's answer is for motors and for contacts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation.runtime import of_standing
from uk_dynamics.core.servo import (
    AT_LIMIT,
    LEAST_SHARE,
    STOOD,
    TOUCHES,
    ServoSolution,
    inside_pyramids,
    planned_share,
    standing_step,
    within_pyramids,
)
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Standing
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Flags, State


class Answer(NamedTuple):
    """What the law says, for motors and contacts apart."""

    servo: ServoSolution  # of motors and task rows alone, under the forces that contacts have
    efforts: Array  # (motors,); those of ``servo`` where the closed form is the answer
    forces: dict[str, Array]  # of what stands: normal, x and y, (3,), in N
    limited: dict[str, str]  # what keeps them from giving more
    missing: dict[str, float]  # accelerations of contacts that cannot stand still, in m/s²


class ContactSchedule:
    """Follows the contacts of tasks through time; not for threads."""

    def __init__(self, tasks: Tasks, memory: Mapping[str, Array]) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout."""
        assert tasks.standing is not None
        self.contacts = contacts = tasks.standing
        self._tasks = tasks
        self._workspace = tasks.model.workspace()
        settings = contacts.settings
        self._plan = settings["contact_plan"].reshape(-1, 3).T
        self._ramp, self._detected = settings["contact_ramp"], settings["contact_detected"]
        self._told, self._begun = memory["contact_told"], memory["plan_begun"]
        self._stood = memory["stood"].reshape(STOOD, -1)
        self._lifted = np.ones(len(contacts.lifted))
        self.reset()

    @property
    def detects(self) -> bool:
        """Whether some stand while they are closed, which is told with each state."""
        return bool(self._detected.any())

    def reset(self) -> None:
        """Forget which contacts were closed, and since when."""
        self._told[:] = self._begun[:] = self._stood[:] = 0.0

    def at(self, state: State, active: ActiveConstraints | None) -> Standing:
        """What stands at a measured state, at its time of the tasks.

        Until something tells of a closed contact, what touches is closed.
        """
        contacts, (entry, begin, end) = self.contacts, self._plan
        entries, count = entry.astype(int), len(self._ramp)
        planned, any_closed = np.zeros((2, count))
        t = np.full(len(entry), state.t)
        np.maximum.at(planned, entries, planned_share(t, begin, end, self._ramp[entries]))
        closed = self._closed(state, active)
        np.maximum.at(any_closed, contacts.entry, closed)
        given = (planned, self._detected, any_closed, np.full(count, self._begun[0]), self._ramp)
        share, lifted, *left = standing_step(np.full(count, state.t), *given, self._stood)
        self._stood[:] = left
        self._begun[:] = 1.0
        stands = share > LEAST_SHARE
        here = stands[contacts.entry] & (closed | (self._detected[contacts.entry] == 0.0))
        points = np.flatnonzero(here)
        waits = contacts.lifted >= 0
        asked = np.where(waits & stands[contacts.lifted], 0.0, 1.0)
        self._lifted = np.where(waits, lifted[contacts.lifted], 1.0)
        parts = share[contacts.entry[points]]
        return Standing(points, parts, contacts.limits(points, parts), asked)

    def lifted(self) -> Array:
        """Part of their feedback that task rows have, which rises after a contact has lifted."""
        return self._lifted

    def _closed(self, state: State, active: ActiveConstraints | None) -> Flags:
        """Points that are closed, (k,)."""
        names = frozenset[str]() if active is None else active.names
        if not names.isdisjoint(self.contacts.names):
            self._told[:] = 1.0
        if self._told[0]:
            return self.contacts.closed(active)
        self._workspace.update(state.q, state.v)
        return self.contacts.evaluate(self._workspace, state.q, state.v).residual[::3] <= TOUCHES

    @staticmethod
    def stood(asked: Array, most: Array) -> Standing:
        """What stood in a period of C, by its memory: 1 for rows that count; largest forces."""
        count = 3 * len(most)
        points = np.flatnonzero(asked[:count:3])
        return Standing(points, np.ones(len(points)), most[points], asked[count:])

    def part(self, servo: ServoSolution, standing: Standing) -> ServoSolution:
        """What C has for all contacts, of those that stand."""
        return of_standing(servo, standing.points, len(self.contacts.damping))

    def of(self, efforts: Array, standing: Standing) -> Array:
        """The same of efforts and forces."""
        motors = len(efforts) - len(self.contacts.damping)
        return np.append(efforts[:motors], efforts[motors:].reshape(-1, 3)[standing.points])

    def _forces(self, servo: ServoSolution, standing: Standing) -> tuple[Array, Array, Array]:
        """Forces of the closed form, their friction, and the largest normal ones."""
        forces = servo.efforts[len(servo.efforts) - 3 * len(standing.points) :].reshape(-1, 3)
        return forces, self.contacts.friction[standing.points], standing.most

    def serves(self, servo: ServoSolution, standing: Standing) -> bool:
        """Whether the closed form has forces within the pyramids, and serves everything."""
        return servo.fully_reachable and within_pyramids(*self._forces(servo, standing))

    def held(self, efforts: Array, servo: ServoSolution, standing: Standing) -> Array:
        """Efforts that are held, and the forces of the law, which may be outside, inside."""
        return np.append(efforts, inside_pyramids(*self._forces(servo, standing)))

    def answer(self, servo: ServoSolution, efforts: Array, standing: Standing) -> Answer:
        """The law's answer, (motors + 3k,), taken apart."""
        first = 3 * len(standing.points)
        nu = len(efforts) - first
        names = [self.contacts.names[k] for k in standing.points]
        forces, own = efforts[nu:].reshape(-1, 3), servo.efforts[:nu]
        closed_form = efforts is servo.efforts
        residual, missed = servo.missed(efforts)
        alone = replace(
            servo,
            efforts=own,
            residual=residual[first:],
            map=servo.map[first:, :nu],
            wanted=servo.wanted[first:] - servo.map[first:, nu:] @ efforts[nu:],
            controllable=servo.controllable[first:],
            reachable=servo.reachable[first:],
            size=servo.size[first:],
        )
        limited: dict[str, str] = {}
        missing: dict[str, float] = {}
        if not closed_form:
            limited = self._limits(names, forces, standing)
            rests = np.linalg.norm(residual[:first].reshape(-1, 3), axis=1)
            lost = np.logical_or.reduce(missed[:first].reshape(-1, 3), axis=1).tolist()
            missing = {name: float(rests[k]) for k, name in enumerate(names) if lost[k]}
        return Answer(
            alone,
            own if closed_form else efforts[:nu],
            dict(zip(names, forces, strict=True)),
            limited,
            missing,
        )

    def _limits(self, names: list[str], forces: Array, standing: Standing) -> dict[str, str]:
        friction = self.contacts.friction[standing.points]
        near = AT_LIMIT * np.abs(forces[:, 0]).max(initial=0.0)
        found = {}
        for k, name in enumerate(names):
            normal, x, y = forces[k].tolist()
            if normal <= near:
                found[name] = "lift-off"
            elif normal >= standing.most[k] - near:
                found[name] = "force"
            elif abs(x) + abs(y) >= friction[k] * (normal - near):
                found[name] = "friction"
        return found
