# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The search for events of contacts in a step: what closes, opens, slips, stops or turns first."""

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.constraints.rows import HeldFeatures
from uk_dynamics.core.integration import AdaptiveStepper
from uk_dynamics.mechanism.contact import SLOW, ContactDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.plant import Plant

_LOCATED = 1e-14  # s
# What is nearest on convex hulls is looked up each time that they may have moved so far, in rad and
# sizes of the machine, and where it changes to this time, in s.
_APART, _TURNED = 0.1, 1e-13
# Of the largest force, and of all mass times the largest acceleration, which may cancel in all of
# them: loads and cones below it are rounding.
_NO_FORCE, _CANCELLED = 1e-10, 1e-12
_STOPS = 3e-9  # m/s: what slides more slowly at the end of a step has stopped; errors turn it
_NO_SPEED = 1e-13  # m/s or rad/s: what others hold closed neither approaches nor leaves


class Event(NamedTuple):
    """Where a piece of the motion ends."""

    t: float
    contact: str
    what: str  # closes, opens, slips, stops, turns: another corner or edge of a hull is nearest
    features: HeldFeatures = MappingProxyType({})  # that are from then on


class _Margin(NamedTuple):
    """What must be positive for a mode to last."""

    value: float
    rounding: float

    @property
    def exceeded(self) -> bool:
        return self.value < -self.rounding


def first_event(
    contacts: ContactDynamics, plant: Plant, stepper: AdaptiveStepper, *, located: bool = False
) -> Event | None:
    """The first event within the last step of a motion; of one that ends at an event: before it."""
    search = _Search(contacts, plant, stepper, located=located)
    return min([*search.turns(), *search.closings(), *search.endings()], default=None)


class _Search:
    """Looks for events within a step."""

    def __init__(
        self, contacts: ContactDynamics, plant: Plant, stepper: AdaptiveStepper, *, located: bool
    ) -> None:
        self._contacts, self._plant, self._stepper = contacts, plant, stepper
        self._start, self._end = State(*stepper.start), State(stepper.t, stepper.q, stepper.v)
        active = plant.active
        self._active = active
        slices = plant.mechanism.constraints.slices
        self._closed = contacts.closed(active)
        closed = [contacts.one_sided[k] for k in self._closed]
        names = [name for one in closed for name in one.constraints if name in active.names]
        self._contact_rows = [row for name in names for row in range(*slices[name].indices(10**9))]
        before, after = (contacts.places(state).slip for state in (self._start, self._end))
        slow = (np.linalg.norm(after, axis=1) < _STOPS) & (not located)
        self._slowing = np.where(slow[:, None], before, 0.0)  # slips of what ends so, in m/s
        self._open = sorted(set(range(len(contacts.names))).difference(self._closed))

    def _at(self, t: float) -> State:
        if t <= self._start.t:
            return self._start
        return State(t, *self._stepper.sample(t))

    def turns(self) -> Iterator[Event]:
        """The first change of what is nearest on convex hulls, beyond which nothing is told."""
        held, nearest = self._contacts.features, self._contacts.nearest_features
        if not held:
            return
        before, end, size = self._start.t, self._end.t, self._plant.mechanism.size
        far = (end - before) * max(largest(self._start.v), largest(self._end.v))
        for t in np.linspace(before, end, 2 + int(far / (_APART * min(size, 1.0))))[1:].tolist():
            if (found := nearest(self._at(t))) == held:
                before = t
                continue
            while t - before > max(_TURNED, 4.0 * np.spacing(end)):
                middle = 0.5 * (before + t)
                if (there := nearest(self._at(middle))) == held:
                    before = middle
                else:
                    t, found = middle, there
            self._end = self._at(t)
            pair = next(pair for pair, features in held.items() if found[pair] != features)
            yield Event(t, self._contacts.of_hulls[pair], "turns", found)
            return

    def closings(self) -> Iterator[Event]:
        """Gaps that close."""
        first, last = self._contacts.places(self._start), self._contacts.places(self._end)
        for i in self._open:
            if self._contacts.bounds_speed[i]:
                if last.rate[i] < 0.0:
                    stops = self._root(self._rate_of(i), self._start.t, self._end.t)
                    yield Event(stops, self._contacts.names[i], "closes")
                continue
            t = self._closing(i, first.gap[i], first.rate[i], last.gap[i], last.rate[i])
            if t is not None and self._acts(i, self._at(t)):
                yield Event(t, self._contacts.names[i], "closes")

    def _acts(self, i: int, state: State) -> bool:
        inputs, contacts = self._plant.inputs, self._contacts
        return bool(
            contacts.acting(state, inputs, contacts.without(self._active), np.array([i])).size
        )

    def _closing(
        self, i: int, gap: float, rate: float, last_gap: float, last_rate: float
    ) -> float | None:
        begin, end = self._start.t, self._end.t
        teeth: Array | None = None  # of ratchets: those passed when it turns back

        def gap_at(t: float) -> float:
            return float(self._contacts.places(self._at(t), teeth).gap[i])

        rate_at = self._rate_of(i)
        comes_back = rate > 0.0 and last_rate < 0.0  # after it has left within the step
        if self._contacts.tables.pitch[i]:
            highest = self._root(rate_at, begin, end) if comes_back else begin
            teeth = self._contacts.teeth(self._at(highest).q)
            last_gap = gap_at(end)
        if last_gap < 0.0:
            if comes_back:
                top = self._root(rate_at, begin, end)
                return self._root(gap_at, top, end) if gap_at(top) > 0.0 else begin
            if gap > 0.0:
                return self._root(gap_at, begin, end)
            return begin if last_rate < -_NO_SPEED else None  # it is inside by rounding, and leaves
        if rate < -SLOW and last_rate > 0.0:  # it may have been inside between the ends
            lowest = self._root(rate_at, begin, end)
            if gap_at(lowest) < 0.0:
                return self._root(gap_at, begin, lowest) if gap > 0.0 else begin
        return None

    def _rate_of(self, i: int) -> Callable[[float], float]:
        return lambda t: float(self._contacts.places(self._at(t)).rate[i])

    def endings(self) -> Iterator[Event]:
        """Forces that vanish or leave their cones, and contacts that stop sliding."""
        middle = 0.5 * (self._start.t + self._end.t)
        early, late = self._margins(middle), self._margins(self._end.t)
        for key in late:
            for t, margins in ((middle, early), (self._end.t, late)):
                # Beyond a stop the friction stays as it was, so that it is seen at the end, too.
                if margins[key].exceeded and (margins is late or key[1] != "stops"):
                    yield self._ending(key, t)
                    break

    def _ending(self, key: tuple[str, str], end: float) -> Event:
        contact, what = key

        def margin(t: float) -> float:
            return self._margins(t)[key].value

        begin = self._start.t
        if not margin(begin) > 0.0:
            return Event(begin, contact, what)
        return Event(self._root(margin, begin, end), contact, what)

    def _margins(self, t: float) -> dict[tuple[str, str], _Margin]:
        """What must be positive for the mode to last, by contact and what happens else."""
        state = self._at(t)
        active, contacts = self._active, self._contacts
        found: dict[tuple[str, str], _Margin] = {}
        if not self._closed:
            return found
        places = contacts.places(state)
        solution = self._plant.dynamics.evaluate(state, self._plant.inputs)
        load, held = contacts.loads(solution.joint_multipliers)
        moved = self._plant.mechanism.model.total_mass * largest(solution.qdd)
        rounding = max(_NO_FORCE * max(largest(load), largest(held)), _CANCELLED * moved)
        for i in self._closed:
            one = contacts.one_sided[i]
            if one.dry is None:
                found[one.name, "opens"] = _Margin(float(load[i]), rounding)
            if one.sticking in active.names:
                edge = contacts.most_friction(i, float(load[i])) - float(np.linalg.norm(held[i]))
                found[one.name, "slips"] = _Margin(edge, rounding)
            elif one.name in active.sliding:
                speed = float(places.slip[i] @ active.sliding[one.name])
                if (size := float(np.linalg.norm(self._slowing[i]))) > _STOPS:
                    along = float(places.slip[i] @ self._slowing[i]) / size
                    speed = min(speed, along - _STOPS)
                found[one.name, "stops"] = _Margin(speed, SLOW)
        shared = [key for key, m in found.items() if key[1] != "stops" and m.exceeded]
        if not solution.determined[self._contact_rows].all():
            contradicted = contacts.contradicted(state, solution.qdd, self._closed)
            if shared or contradicted:
                kept = contacts.kept(state, self._plant.inputs)
                if active.names <= kept:
                    found.update(dict.fromkeys(shared, _Margin(rounding, rounding)))
                elif contradicted:  # as where one of two rolls over the end of its face
                    parting = (key for key in found if key[1] == "opens" and key[0] not in kept)
                    found.update(dict.fromkeys(parting, _Margin(-1.0, 0.0)))
        return found

    def _root(self, function: Callable[[float], float], begin: float, end: float) -> float:
        from scipy.optimize import brentq  # takes long to import

        if function(begin) * function(end) >= 0.0:
            return end
        return brentq(function, begin, end, xtol=_LOCATED, rtol=8.9e-16)
