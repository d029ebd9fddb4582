# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The instants of a simulation: samples, commands and their effects, constraints that switch."""

from collections.abc import Mapping, Sequence

import numpy as np

from uk_dynamics.mechanism.dynamics import Instants
from uk_dynamics.mechanism.resolution import Array, Flags

Event = tuple[float, Mapping[str, bool]]


def ticks(start: float, duration: float, period: float) -> Array:
    """Start, then multiples of the period after it, and the end, in s."""
    found: Array = start + period * np.arange(int(np.floor(duration / period + 1e-9)) + 1.0)
    end = start + duration
    if end - found[-1] < 1e-9 * period:
        found[-1] = end
        return found
    return np.append(found, end)


def same_instant(*periods: float) -> float:
    """Instants that are nearer to one another are one, in s: ticks differ by rounding."""
    return 1e-9 * min(periods)


def near(times: Array, when: Array | float, same: float) -> Flags:
    """Whether one of some times, which increase, is at an instant; all in s."""
    if not len(times):
        return np.zeros(np.shape(when), dtype=bool)
    place = np.searchsorted(times, when - same)
    return np.abs(times[np.minimum(place, len(times) - 1)] - when) <= same


def effects_of(controls: Array, delay: float) -> Array:
    """When efforts take effect, in s, where that is later than they are computed."""
    return controls[controls + delay < controls[-1]] + delay if delay else controls[:0]


def merged(
    controls: Array, effects: Array, events: Sequence[Event], same: float
) -> tuple[list[float], dict[float, list[Mapping[str, bool]]]]:
    """Where the integration stops: control instants, effects and events between; and changes."""
    instants = sorted([*controls.tolist(), *effects[~near(controls, effects, same)].tolist()])
    changes: dict[float, list[Mapping[str, bool]]] = {}
    for t, change in events:
        nearest = min(instants, key=lambda other: abs(other - t))
        instant = nearest if abs(nearest - t) <= same else float(t)
        if instant not in instants:
            instants.append(instant)
        changes.setdefault(instant, []).append(change)
    return sorted(instants), changes


def marked(instants: Sequence[float], samples: Array, controls: Array, same: float) -> Instants:
    """Instants with the samples between them, and what happens at each."""
    fixed = np.array(instants)
    inside = (samples > fixed[0]) & (samples < fixed[-1])
    when = np.sort(np.append(fixed, samples[inside & ~near(fixed, samples, same)]))
    happens = np.isin(when, controls), near(samples, when, same), np.isin(when, fixed)
    return Instants(np.ascontiguousarray(when), *(x.astype(float) for x in happens))


def parts(instants: Sequence[float], changes: Mapping[float, object]) -> list[float]:
    """Start, end, and instants between them at which constraints are switched."""
    return [instants[0], *(t for t in instants[1:-1] if t in changes), instants[-1]]


def periods(
    start: float, duration: float, sample_period: float, control_period: float, delay: float = 0.0
) -> Instants:
    """Instants of a motion without events, with commands and samples before the last, its end."""
    samples, controls = (ticks(start, duration, x) for x in (sample_period, control_period))
    same = same_instant(sample_period, control_period)
    instants, _ = merged(controls, effects_of(controls, delay), (), same)
    found = marked(instants, samples, controls, same)
    found.control[-1] = found.sample[-1] = 0.0
    return found
