# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parts of mechanisms and tasks that cannot be compiled, by name."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

Subject = ResolvedMechanism | Tasks  # of tasks, their servo law is meant

_METHODS = ("auto", "udwadia_kalaba", "hierarchical")  # levels change no acceleration
_ON_STACK = 250_000  # numbers, 2 MB: bases of a servo law


def obstacles(subject: Subject) -> tuple[str, ...]:
    """What would have to be left out for a mechanism, or for the servo law of tasks, to compile."""
    if isinstance(subject, Tasks):
        return obstacles(subject.mechanism) + _task_obstacles(subject)
    found = []
    if subject.nonideal is not None:
        found.append("the non-ideal force is a Python function")
    if subject.friction.active:
        laws = {c.name: c.friction for c in subject.spec.constraints if c.friction is not None}
        resists = (name for name, law in laws.items() if law.viscous or not law.exact)
        found += [f"constraints.{name}.friction" for name in resists]
    found += [
        f"constraints.{c.name}.compliance" for c in subject.constraints.constraints if c.compliance
    ]
    if subject.local is not None:
        found += _cluster_obstacles(subject)
    if subject.spec.solver.method not in _METHODS:
        found.append(f"solver.method: {subject.spec.solver.method}")
    return tuple(found)


def straight_obstacles(
    subject: ResolvedMechanism, *, moves: bool = False, standing: Collection[str] = ()
) -> tuple[str, ...]:
    """The same where every operation is written out: in exported C and on a GPU.

    ``moves``: with steps over contacts, which know no references of rows. ``standing``: contacts
    whose rows and forces a law has.
    """
    found = obstacles(subject) + (() if moves else _one_sided(subject, standing))
    if moves and subject.one_sided:
        found += tuple(f"constraints.{name}.reference" for name in subject.references.references)
    if subject.local is None:
        return found
    return (*found, f"{subject.model.nv} velocities, which take loops over clusters")


def _one_sided(mechanism: ResolvedMechanism, known: Collection[str] = ()) -> tuple[str, ...]:
    """What C steps over, but nobody else asks it to."""
    names = (one.name for one in mechanism.one_sided)
    return tuple(f"one-sided {name}" for name in names if name not in known)


def _cluster_obstacles(mechanism: ResolvedMechanism) -> list[str]:
    """Where loops over clusters know less than code that is written out."""
    assert mechanism.local is not None
    found = [f"forces.{force.name}" for force in mechanism.spec.forces]
    found += _one_sided(mechanism)
    if mechanism.references.references:
        found += [f"constraints.{name}.reference" for name in mechanism.references.references]
    rigid = [
        constraint.name
        for constraint, support in zip(
            mechanism.constraints.constraints, mechanism.local.constraints.supports, strict=True
        )
        if not support
    ]
    return [*found, *(f"constraints.{name} between frames of one body" for name in rigid)]


def _task_obstacles(tasks: Tasks) -> tuple[str, ...]:
    mechanism = tasks.mechanism
    found = []
    if tasks.uncertainty is not None and mechanism.varied is not None:
        found.append("robust, with values of with_parameters")
    if mechanism.local is not None:
        if mechanism.varied is not None:
            found.append("values of with_parameters, with loops over clusters")
        nv, motors, rows = mechanism.model.nv, len(mechanism.actuators), len(tasks.constraints)
        motions = 3 if tasks.by_generalized_inverse.any() else 2
        if (rows + motions * motors) * nv > _ON_STACK:
            found.append(f"{motors} motors and {rows} task rows on {nv} velocities")
    return tuple(found)


def check(subject: Subject, *, straight: bool = False, moves: bool = False) -> None:
    """Refuse what cannot be compiled; ``straight``: with every operation written out.

    ``moves``: as of :func:`straight_obstacles`. A CompilationError names the obstacles.
    """
    if straight and isinstance(subject, ResolvedMechanism):
        found = straight_obstacles(subject, moves=moves)
    else:
        found = obstacles(subject)
    if found:
        raise CompilationError(
            f'cannot be compiled: {", ".join(found)}; use backend="auto" or "interpreted"',
            file=subject.spec.file,
        )


@contextmanager
def writing() -> Iterator[None]:
    """Make any other error a CompilationError: that C cannot be written is a defect of ours."""
    try:
        yield
    except (UkDynamicsError, MemoryError):
        raise
    except Exception as error:
        raise CompilationError(
            f"its C cannot be written, {type(error).__name__}: {error!s:.200}; please report it,"
            ' and use backend="auto" or "interpreted"'
        ) from error
