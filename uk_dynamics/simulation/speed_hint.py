# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A hint that a simulation which took long would be quick if it were compiled."""

from __future__ import annotations

from uk_dynamics.compilation import Selection, announce, choose
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism

_LONG = 3.0  # s of real time: most mechanisms are compiled in less


def hint_at_compiling(mechanism: Mechanism, tasks: Tasks | None, wall_time: float) -> None:
    """Log once that compiling pays, where it would have.

    Args:
        mechanism: What was simulated, by evaluators from the cache or interpreted.
        tasks: Of its controller, if any.
        wall_time: That it took, in s.
    """
    if wall_time < _LONG:
        return
    callers = ["simulate"] * _pays(mechanism)
    callers += ["ServoController"] * (tasks is not None and _pays(tasks))
    if callers:
        announce(
            f"{mechanism.name} was simulated by the interpreted evaluator, which took"
            f' {wall_time:.0f} s; after "uk_dynamics compile", or with backend="auto" for'
            f" {' and '.join(callers)}, it takes a fraction of that"
        )


def _pays(subject: Mechanism | Tasks) -> bool:
    """Whether it is not in the cache and could be."""
    if choose(subject, Selection("cached")) == "compiled":
        return False
    return choose(subject, Selection("auto", unready="wait")) == "compiled"
