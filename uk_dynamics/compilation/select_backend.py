# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which evaluator answers: one table for the library, the commands and the nodes."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from uk_dynamics.compilation.build.compilable import Subject, obstacles
from uk_dynamics.compilation.build.compiler import CompilationError, find_compiler, no_compiler
from uk_dynamics.compilation.build.library import ONCE, is_cached
from uk_dynamics.compilation.runtime.deferred import (
    MANY,
    Deferred,
    DeferredDynamics,
    Log,
    not_compiled,
    title,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import InterpretedContactDynamics
from uk_dynamics.mechanism.dynamics import BACKENDS, Dynamics, InterpretedDynamics
from uk_dynamics.mechanism.resolution import LEAST_VELOCITIES, ResolvedMechanism

#: Environment variable with the backend that ``auto`` stands for.
VARIABLE = "UK_DYNAMICS_BACKEND"

T = TypeVar("T")
Unready = Literal["defer", "wait"]
Choice = Literal["interpreted", "compiled", "deferred", "gpu"]


@dataclass(frozen=True)
class Selection:
    """What a caller asks for."""

    backend: str = "auto"  # see the table of :func:`select_backend`
    unready: Unready = "defer"  # what ``auto`` does where the library is not in the cache
    # Calls of the evaluator before compiling begins in the background; 0: it begins now
    after: int = MANY
    log: Log = ONCE  # where ``auto`` says what it does

    @classmethod
    def of(cls, given: "str | Selection", unready: Unready = "defer") -> "Selection":
        """The selection behind the name of a backend; what a motion is made of waits."""
        return cls(given, unready) if isinstance(given, str) else given


def select_backend(mechanism: ResolvedMechanism, selection: str | Selection = "auto") -> Dynamics:
    """The evaluator of a mechanism.

    ============= ================ ================================= ==========================
    backend       in the cache     not in the cache                  cannot be compiled
    ============= ================ ================================= ==========================
    auto          compiled         interpreted; compiled in the      interpreted, the log says
                                   background, which takes over      why
                                   when it is ready (``defer``), or
                                   compiled at once (``wait``);
                                   above 60 velocities with other
                                   than local loops interpreted, and
                                   the log says how to compile
    cached        compiled         interpreted                       interpreted
    compiled      compiled         compiled at once, however long    CompilationError
                                   that takes
    interpreted   interpreted      interpreted                       interpreted
    gpu           on a GPU         on a GPU                          CompilationError
    ============= ================ ================================= ==========================

    "Cannot be compiled" is a mechanism with parts that C does not know (see
    :mod:`~uk_dynamics.compilation.build.compilable`), or a computer without a compiler or a cache.
    The environment variable ``UK_DYNAMICS_BACKEND`` says what ``auto`` stands for.

    Interpreted and compiled results agree to rounding, not to the last bit. Callers whose numbers
    must not change midway do not defer: simulations and the servo law in them wait.

    Args:
        mechanism: What to evaluate.
        selection: The name of a backend, or more.

    Raises:
        InputError: There is no such backend, or no GPU.
        CompilationError: See the table.
    """
    asked = Selection.of(selection)
    choice = choose(mechanism, asked)
    if choice == "gpu":
        from uk_dynamics.compilation.gpu import GpuDynamics

        return GpuDynamics(mechanism)
    of_kind = InterpretedContactDynamics if mechanism.one_sided else InterpretedDynamics
    interpreted: Dynamics = of_kind(mechanism)

    def compiled() -> Dynamics:
        from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics

        dynamics = CompiledDynamics(mechanism, interpreted, strict=asked.backend == "compiled")
        if choice == "deferred":
            dynamics.load()
        return dynamics

    return chosen(choice, mechanism, asked, interpreted, compiled, DeferredDynamics)


def shared_backend(mechanism: ResolvedMechanism, backend: str) -> Dynamics:
    """The evaluator for motions, which waits: one that is compiled serves all of a mechanism."""
    asked = backend, os.environ.get(VARIABLE)
    found: Dynamics | None = mechanism.evaluators.get(asked)
    if found is None:
        found = select_backend(mechanism, Selection(backend, unready="wait"))
        if found.backend == "compiled":
            mechanism.evaluators[asked] = found
    return found


def chosen(
    choice: Choice,
    subject: Subject,
    asked: Selection,
    interpreted: T,
    compiled: Callable[[], T],
    deferred: Callable[[Deferred[T]], T],
) -> T:
    """The evaluator behind an entry of the table; the log says where it is interpreted instead."""
    if choice == "deferred":
        return deferred(Deferred(interpreted, compiled, subject, asked.log, asked.after))
    if choice == "compiled":
        try:
            return _compiled_now(subject, asked.log, compiled)
        except CompilationError as error:
            reason = error.unless(strict=asked.backend == "compiled")
            asked.log.warning(not_compiled(subject, reason))
    return interpreted


def _compiled_now(subject: Subject, log: Log, compiled: Callable[[], T]) -> T:
    """The compiled evaluator; the log says what the caller waits for."""
    if is_cached(subject):
        return compiled()
    start = time.monotonic()
    log.info(f"compiling {title(subject)}: seconds to a minute, at the first start only")
    evaluator = compiled()
    log.info(f"compiled {title(subject)} in {time.monotonic() - start:.1f} s")
    return evaluator


def choose(subject: Subject, asked: Selection) -> Choice:
    """The entry of the table for a mechanism or a servo law; InputError: no such backend."""
    backend = asked.backend
    if backend == "auto":
        backend = os.environ.get(VARIABLE, "auto")
    if backend not in BACKENDS:
        raise InputError(
            f'no backend "{backend}"; there are: {", ".join(BACKENDS)}', place="backend"
        )
    if backend in ("interpreted", "compiled", "gpu"):
        return backend
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    if is_cached(subject):
        return "compiled"
    if backend == "cached":
        return "interpreted"
    if found := obstacles(subject):  # nothing that a user could change
        asked.log.info(not_compiled(subject, f"C does not know {', '.join(found)}"))
        return "interpreted"
    problem = ""
    if mechanism.model.nv >= LEAST_VELOCITIES and mechanism.local is None:
        nv = mechanism.model.nv
        problem = f"{nv} velocities take minutes to compile; uk_dynamics compile does it, once"
    elif find_compiler() is None:
        problem = str(no_compiler())
    if problem:
        asked.log.warning(not_compiled(subject, problem))
        return "interpreted"
    return "deferred" if asked.unready == "defer" else "compiled"
