# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Wrong models: where nothing is promised, motors are too weak, observers too fast."""

from collections.abc import Iterator
from functools import partial

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.control.servo import observer_margins, promise

_PERIOD = 1e-3  # s, for which efforts are held
_warning = partial(Finding, "robust", "warning")


def uncertainty(subject: Subject) -> Iterator[Finding]:
    """What the tasks file says of a wrong model, and the machine cannot do."""
    tasks = subject.tasks
    if tasks is None or not subject.closed or not len(subject.mechanism.actuators):
        return
    if tasks.uncertainty is not None:
        found = promise(tasks, _PERIOD)
        for sentence in found.failing:
            yield _warning((), f"no error is promised: {sentence}", "see docs/robust.md")
        for motor, part in found.overloaded.items():
            yield _warning(
                (motor,),
                f"needs up to {part:.2f} of its effort limit for the tasks with the whole robust"
                " term",
                "narrow the intervals, slow the references down, or take a stronger motor",
            )
    if tasks.corrected:
        for margin in [x for x in observer_margins(tasks, _PERIOD) if x.with_observer.delay <= 0.0]:
            yield Finding(
                "robust",
                "error",
                (margin.row,),
                f"is unstable with an observer of {margin} and this delay",
                "lower the bandwidth of the observer",
            )
