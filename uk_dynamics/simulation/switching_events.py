"""Events of a simulation: constraints switched on or off at given times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import Array

Event = tuple[float, Mapping[str, bool]]


def schedule(
    mechanism: Mechanism, events: Sequence[Event], start: float, duration: float
) -> tuple[Event, ...]:
    """Check events and sort them by time."""
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
    """Instants at which the integration stops: control instants, and events between them."""
    instants = [float(t) for t in controls]
    changes: dict[float, list[Mapping[str, bool]]] = {}
    for t, change in events:
        nearest = min(instants, key=lambda other: abs(other - t))
        instant = nearest if abs(nearest - t) <= same else float(t)
        if instant not in instants:
            instants.append(instant)
        changes.setdefault(instant, []).append(change)
    return sorted(instants), changes, frozenset(float(t) for t in controls)
