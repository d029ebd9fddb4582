"""Constraints that are switched at given times of a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array

Event = tuple[float, Mapping[str, bool]]


def schedule(
    mechanism: Mechanism, events: Sequence[Event], start: float, duration: float
) -> tuple[Event, ...]:
    """Check events and put them in order of time.

    Args:
        mechanism: Whose constraints are switched.
        events: (time in s, {name: on}).
        start: When the simulation starts, in s.
        duration: How long it takes, in s.

    Raises:
        InputError: A time outside the simulation, or a name of no switchable constraint.
    """
    for t, changes in events:
        if not start <= t <= start + duration:
            raise InputError(
                f"expected a time between {start:g} and {start + duration:g} s, found {t}",
                place="events",
            )
        mechanism.hierarchy.check(frozenset(changes))
    return tuple(sorted(events, key=lambda event: event[0]))


def merge(
    controls: Array, events: Sequence[Event], same: float
) -> tuple[list[float], dict[float, list[Mapping[str, bool]]], frozenset[float]]:
    """Instants at which a simulation stops: control ticks and events between them.

    Args:
        controls: Increasing times at which the controller decides, and the end, in s.
        events: In order of time.
        same: Times closer than this are one instant, in s.

    Returns:
        All instants, the changes at each instant that has some, and the control ticks.
    """
    instants = [float(t) for t in controls]
    changes: dict[float, list[Mapping[str, bool]]] = {}
    for t, change in events:
        nearest = min(instants, key=lambda other: abs(other - t))
        instant = nearest if abs(nearest - t) <= same else float(t)
        if instant not in instants:
            instants.append(instant)
        changes.setdefault(instant, []).append(change)
    return sorted(instants), changes, frozenset(float(t) for t in controls)
