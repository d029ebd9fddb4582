"""Parts of mechanisms and tasks that cannot be compiled, by name."""

from __future__ import annotations

from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_METHODS = ("auto", "udwadia_kalaba")
# Velocities up to which compiling takes less than a minute or so; it grows with their third power.
LARGEST_UNASKED = 60


def obstacles(mechanism: ResolvedMechanism) -> tuple[str, ...]:
    """What would have to be left out for a mechanism to be compiled; empty: nothing."""
    found = []
    if mechanism.nonideal is not None:
        found.append("the non-ideal force is a Python function")
    if mechanism.friction.active:
        rubbing = [c.name for c in mechanism.spec.constraints if c.friction is not None]
        found += [f"constraints.{name}.friction" for name in rubbing]
    found += [
        f"constraints.{constraint.name}.compliance"
        for constraint in mechanism.constraints.constraints
        if constraint.compliance
    ]
    if mechanism.local is not None:
        found.append("so many velocities, which the interpreted evaluator takes in linear time")
    method = mechanism.spec.solver.method
    if method not in _METHODS:
        found.append(f"solver.method: {method}")
    return tuple(found)


def check(mechanism: ResolvedMechanism) -> None:
    """Refuse what cannot be compiled."""
    found = obstacles(mechanism)
    if found:
        raise CompilationError(
            f'cannot be compiled: {", ".join(found)}; use backend="auto" or "interpreted"',
            file=mechanism.spec.file,
        )


def task_obstacles(tasks: Tasks) -> tuple[str, ...]:
    """What tasks have that the compiled servo law does not know; empty: nothing."""
    found = []
    if tasks.spec.distribution != "effort":
        found.append(f"allocation.distribution: {tasks.spec.distribution}")
    found += [
        f"tasks.{task.name}.feedback.form: {task.feedback}"
        for task in tasks.spec.tasks
        if task.feedback == "generalized_inverse"
    ]
    return tuple(found)


def check_tasks(tasks: Tasks) -> None:
    """Refuse tasks whose servo law cannot be compiled."""
    found = task_obstacles(tasks)
    if found:
        raise CompilationError(
            f'cannot be compiled: {", ".join(found)}; use backend="auto" or "interpreted"',
            file=tasks.spec.file,
        )
