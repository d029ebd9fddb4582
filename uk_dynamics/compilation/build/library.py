# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled libraries of a mechanism: for single states, for batches, for the law of tasks.

What writes their source is imported when there is one to write: what is in the cache is there
sooner without.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from uk_dynamics.compilation.build.cache import OTHER_CACHE, directory, find, forget, library_for
from uk_dynamics.compilation.build.compilable import check, obstacles
from uk_dynamics.compilation.build.compiler import (
    CompilationError,
    end_compilers,
    find_compiler,
    no_compiler,
)
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

T = TypeVar("T")

_DERIVATIVES, _PROJECTION = ".derivatives", ".projection"
_log = logging.getLogger(__name__)


def library_of(mechanism: ResolvedMechanism) -> Path:
    """The library for single states; it is made when it is not in the cache.

    Raises:
        CompilationError: Some part cannot be compiled, there is no compiler, or no cache.
    """

    def source() -> str:
        from uk_dynamics.compilation.emit import cluster_source, generate

        if mechanism.local is not None:
            return cluster_source.cluster_source(mechanism.local.constraints)
        return generate.source(mechanism.as_filed())

    # loops over clusters gain a twelfth from -O3, straight-line code nothing
    return _library(mechanism, source, "", "-O2" if mechanism.local is None else "-O3")


def motion_library_of(mechanism: ResolvedMechanism) -> Path:
    """The library that moves one state; as above, and that of others than clusters has both.

    Raises:
        CompilationError: As above.
    """
    if mechanism.local is None:
        return library_of(mechanism)

    def source() -> str:
        from uk_dynamics.compilation.emit import cluster_source

        return cluster_source.cluster_motion_source(mechanism.as_filed())

    return _library(mechanism, source, ".motion")


def batch_library_of(mechanism: ResolvedMechanism) -> Path:
    """The library for many states at once; as above, and that of clusters has both.

    Raises:
        CompilationError: As above, or the compiler knows no vectors.
    """
    if mechanism.local is not None:
        return library_of(mechanism)

    def source() -> str:
        from uk_dynamics.compilation.emit import generate

        return generate.batch_source(mechanism.as_filed())

    return _library(mechanism, source, ".batch")


def derivative_library_of(mechanism: ResolvedMechanism) -> Path:
    """The library for derivatives of the motion; as above.

    Raises:
        CompilationError: As above.
    """

    def source() -> str:
        from uk_dynamics.compilation.emit import derivative_source

        return derivative_source.derivative_source(mechanism.as_filed())

    return _library(mechanism, source, _DERIVATIVES)


def derivative_batch_library_of(mechanism: ResolvedMechanism) -> Path:
    """The library for derivatives of the motion at many states; as above.

    Raises:
        CompilationError: As above, or the compiler knows no vectors.
    """

    def source() -> str:
        from uk_dynamics.compilation.emit import derivative_batch_source

        return derivative_batch_source.derivative_batch_source(mechanism.as_filed())

    return _library(mechanism, source, f"{_DERIVATIVES}.batch")


def projection_library_of(mechanism: ResolvedMechanism) -> Path:
    """The library for derivatives of the projection, where q is a vector; as above.

    Raises:
        CompilationError: As above.
    """

    def source() -> str:
        from uk_dynamics.compilation.emit import derivative_source

        return derivative_source.projection_source(mechanism.as_filed())

    return _library(mechanism, source, _PROJECTION, "-O2")


def servo_library_of(tasks: Tasks) -> Path:
    """The library for the servo law of tasks; as above.

    Raises:
        CompilationError: As above, or some task cannot be compiled.
    """
    check(tasks)

    def source() -> str:
        from uk_dynamics.compilation.emit import cluster_source, servo_source

        filed = Tasks(tasks.spec, tasks.mechanism.as_filed())
        if tasks.mechanism.local is not None:
            return cluster_source.cluster_servo_source(filed)
        return servo_source.servo_source(filed)

    # half the time of -O3, and not slower: most of it is loops over a few motors
    return _library(tasks.mechanism, source, servo_part(tasks), "-O2")


def effort_library_of(tasks: Tasks) -> Path:
    """The library for derivatives of the efforts of tasks, of a mechanism that varies nothing.

    Raises:
        CompilationError: As above.
    """
    check(tasks)

    def source() -> str:
        from uk_dynamics.compilation.emit import servo_source

        return servo_source.effort_source(Tasks(tasks.spec, tasks.mechanism.as_filed()))

    return _library(tasks.mechanism, source, effort_part(tasks), "-O2")


def crowd_library_of(subject: Tasks | ResolvedMechanism) -> Path:
    """The library for many closed loops at once; as above, or the compiler knows no vectors.

    subject: Tasks, whose law is in lanes too; or what laws of any kind move.

    Raises:
        CompilationError: As above.
    """
    check(subject)
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    if mechanism.local is not None:
        raise CompilationError(f"{mechanism.model.nv} velocities move one after the other")

    def source() -> str:
        from uk_dynamics.compilation.emit import crowd_source

        filed = mechanism.as_filed()
        return crowd_source.crowd_source(
            Tasks(subject.spec, filed) if isinstance(subject, Tasks) else filed
        )

    return _library(mechanism, source, crowd_part(subject))


def servo_part(tasks: Tasks) -> str:
    """What tells the law of these tasks from others of the same mechanism.

    References and gains are inputs of the law.
    """
    rows = [
        replace(task, reference=None, stabilization=type(task.stabilization)())
        for task in tasks.spec.tasks
    ]
    law = (tasks.spec.distribution, rows)
    digest = hashlib.sha256(repr(law).encode()).hexdigest()
    return f".servo-{digest[:12]}"


def effort_part(tasks: Tasks) -> str:
    """The same for derivatives of the efforts."""
    return servo_part(tasks).replace(".servo", ".efforts")


def crowd_part(subject: Tasks | ResolvedMechanism) -> str:
    """The same for many closed loops at once."""
    return (
        servo_part(subject).replace(".servo", ".crowd") if isinstance(subject, Tasks) else ".crowd"
    )


def is_cached(subject: ResolvedMechanism | Tasks, *, crowd: bool = False) -> bool:
    """Whether a mechanism, or the law of tasks, is compiled; batches are when they are needed.

    crowd: For many closed loops at once.
    """
    part = servo_part(subject) if isinstance(subject, Tasks) else ""
    return _part_is_cached(subject, crowd_part(subject) if crowd else part)


def derivatives_are_cached(mechanism: ResolvedMechanism) -> bool:
    """Whether the library of :func:`derivative_library_of` is there."""
    return _part_is_cached(mechanism, _DERIVATIVES)


def projection_is_cached(mechanism: ResolvedMechanism) -> bool:
    """Whether the library of :func:`projection_library_of` is there."""
    return _part_is_cached(mechanism, _PROJECTION)


def efforts_are_cached(tasks: Tasks) -> bool:
    """Whether the library of :func:`effort_library_of` is there."""
    return _part_is_cached(tasks, effort_part(tasks))


def _part_is_cached(subject: ResolvedMechanism | Tasks, part: str) -> bool:
    compiler = find_compiler()
    if compiler is None or obstacles(subject):
        return False
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    try:
        return find(mechanism, compiler, part).intact
    except CompilationError:  # no home directory
        return False


def _library(
    mechanism: ResolvedMechanism, source: Callable[[], str], part: str, optimization: str = "-O3"
) -> Path:
    check(mechanism)
    compiler = find_compiler()
    if compiler is None:
        raise no_compiler()
    compiler = replace(compiler, optimization=optimization)
    try:
        library = library_for(mechanism, compiler, source, part)
        if _fault(library):  # whole, but made on a system with other libraries
            forget(library)
            library = library_for(mechanism, compiler, source, part)
    except OSError as error:
        # what is in error.filename has another name each time
        raise CompilationError(
            f"the cache {directory()} cannot be used: {error.strerror or error}; {OTHER_CACHE}"
        ) from None
    if fault := _fault(library):
        raise CompilationError(f"what was compiled cannot be loaded: {fault}; {OTHER_CACHE}")
    return library


def side_by_side(work: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Results of functions that wait for compilers; an interrupt ends the compilers."""
    # they are separate processes
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(function) for function in work]
        try:
            for answer in answers:
                yield answer.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(answer.done() for answer in answers):
                end_compilers()
                wait(answers, timeout=0.05)
            raise


def _fault(library: Path) -> str:
    """Why a library cannot be loaded; empty: it can."""
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        return str(error)
    return ""


@functools.cache
def announce(message: str, level: int = logging.WARNING) -> None:
    """Log a message, the same one only once."""
    _log.log(level, message)


class _Once:
    """A log that writes every message once."""

    def info(self, message: str) -> None:
        """Say that something happens."""
        announce(message, logging.INFO)

    def warning(self, message: str) -> None:
        """Say that something is not as it could be."""
        announce(message)


ONCE = _Once()
