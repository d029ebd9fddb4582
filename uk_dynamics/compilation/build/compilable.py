"""Parts of mechanisms and tasks that cannot be compiled, by name."""

from __future__ import annotations

from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_METHODS = ("auto", "udwadia_kalaba")
# Velocities up to which compiling takes less than a minute or so; it grows with their third power.
LARGEST_UNASKED = 60


def obstacles(subject: ResolvedMechanism | Tasks) -> tuple[str, ...]:
    """What would have to be left out for a mechanism, or for the servo law of tasks, to compile."""
    if isinstance(subject, Tasks):
        return obstacles(subject.mechanism) + _task_obstacles(subject)
    found = []
    if subject.nonideal is not None:
        found.append("the non-ideal force is a Python function")
    if subject.friction.active:
        frictional = [c.name for c in subject.spec.constraints if c.friction is not None]
        found += [f"constraints.{name}.friction" for name in frictional]
    found += [
        f"constraints.{c.name}.compliance" for c in subject.constraints.constraints if c.compliance
    ]
    if subject.local is not None:
        found.append("so many velocities, which the interpreted evaluator takes in linear time")
    if subject.spec.solver.method not in _METHODS:
        found.append(f"solver.method: {subject.spec.solver.method}")
    return tuple(found)


def _task_obstacles(tasks: Tasks) -> tuple[str, ...]:
    found = [
        f"tasks.{task.name}.feedback.form: {task.feedback}"
        for task in tasks.spec.tasks
        if task.feedback == "generalized_inverse"
    ]
    if tasks.spec.distribution != "effort":
        found.insert(0, f"allocation.distribution: {tasks.spec.distribution}")
    return tuple(found)


def check(subject: ResolvedMechanism | Tasks) -> None:
    """Refuse what cannot be compiled.

    Raises:
        CompilationError: There are obstacles; names them.
    """
    found = obstacles(subject)
    if found:
        raise CompilationError(
            f'cannot be compiled: {", ".join(found)}; use backend="auto" or "interpreted"',
            file=subject.spec.file,
        )
