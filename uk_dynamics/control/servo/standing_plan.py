# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which contacts stand when, and what the servo law's answer is for motors and for contacts."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from uk_dynamics.core.servo import AT_LIMIT, ServoSolution, within_pyramids
from uk_dynamics.mechanism import Stand, Tasks, risen
from uk_dynamics.mechanism.dynamics import Standing
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, State

_LEAST_SHARE = 1e-6  # of a force: with less a contact does not stand
_TOUCHES = 1e-3  # m: nearer contacts touch, where nothing tells what is closed


class Answer(NamedTuple):
    """What the law says, for motors and contacts apart."""

    servo: ServoSolution  # of motors and task rows alone, under the forces that contacts have
    efforts: Array  # (motors,); those of ``servo`` where the closed form is the answer
    forces: dict[str, Array]  # of what stands: normal, x and y, (3,), in N
    limited: dict[str, str]  # what keeps them from giving more
    missing: dict[str, float]  # accelerations of contacts that cannot stand still, in m/s²


class StandingPlan:
    """Follows the contacts of tasks through time; not for threads.

    Attributes:
        contacts: The contacts.
    """

    def __init__(self, tasks: Tasks) -> None:
        assert tasks.standing is not None
        self.contacts = tasks.standing
        self._tasks = tasks
        self._workspace = tasks.model.workspace()
        self.reset()

    def reset(self) -> None:
        """Forget which contacts were closed, and since when."""
        self._since = [np.nan] * len(self.contacts.entries)  # of detected ones that are closed
        self._up = [np.nan] * len(self.contacts.entries)  # of those that do not stand
        self._begun = self._told = False

    def at(self, state: State, active: ActiveConstraints | None) -> Standing:
        """What stands at a measured state.

        Args:
            state: t is the time of the tasks.
            active: What is closed. Until something tells of a closed contact, what touches is.
        """
        contacts, t = self.contacts, state.t
        points: list[int] = []
        share: list[float] = []
        asked = np.ones(len(contacts.lifted))
        for i, stand in enumerate(contacts.entries):
            if stand.spec.stands == "detected":
                found = self._detected(i, stand, state, active)
            else:
                found = [(k, stand.share(t)) for k in stand.points]
            found = [(k, part) for k, part in found if part > _LEAST_SHARE]
            points += [k for k, _ in found]
            share += [part for _, part in found]
            if found:
                self._up[i] = np.nan
                asked[contacts.lifted == i] = 0.0
            elif np.isnan(self._up[i]):
                self._up[i] = t if self._begun else -np.inf
        self._begun = True
        places, parts = np.array(points, dtype=np.intp), np.array(share)
        return Standing(places, parts, contacts.limits(places, parts), asked)

    def lifted(self, t: float) -> Array:
        """Part of their feedback that task rows have, which rises after a contact has lifted."""
        part = np.ones(len(self.contacts.lifted))
        for i, (up, stand) in enumerate(zip(self._up, self.contacts.entries, strict=True)):
            if not np.isnan(up):
                part[self.contacts.lifted == i] = risen((t - up) / stand.spec.ramp)
        return part

    def _detected(
        self, i: int, stand: Stand, state: State, active: ActiveConstraints | None
    ) -> list[tuple[int, float]]:
        """Closed points with their share, which rises after the first has closed."""
        own = list(stand.points)
        names = frozenset[str]() if active is None else active.names
        self._told |= not names.isdisjoint(self.contacts.names)
        if not self._told:
            self._workspace.update(state.q, state.v)
            rows = self.contacts.evaluate(self._workspace, state.q, state.v)
            closed = np.asarray(rows.residual <= _TOUCHES)[::3][own]
        else:
            closed = np.array([self.contacts.names[k] in names for k in own])
        if not closed.any():
            self._since[i] = np.nan
            return []
        if np.isnan(self._since[i]):
            self._since[i] = state.t if self._begun else -np.inf
        part = max(risen((state.t - self._since[i]) / stand.spec.ramp), 2.0 * _LEAST_SHARE)
        return [(k, part) for k, one in zip(own, closed.tolist(), strict=True) if one]

    def serves(self, servo: ServoSolution, standing: Standing) -> bool:
        """Whether the closed form has forces within the pyramids, and serves everything."""
        forces = servo.efforts[len(servo.efforts) - 3 * len(standing.points) :].reshape(-1, 3)
        friction = self.contacts.friction[standing.points]
        return servo.fully_reachable and within_pyramids(forces, friction, standing.most)

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
