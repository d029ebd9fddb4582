# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled libraries of a mechanism, as one table: for states, batches, laws, derivatives.

What writes their source is imported when there is one to write: what is in the cache is there
sooner without.
"""

import ctypes
import functools
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from platform import machine
from typing import NamedTuple, TypeVar

from uk_dynamics.compilation.build.cache import OTHER_CACHE, directory, find, forget, library_for
from uk_dynamics.compilation.build.compilable import Subject, check, obstacles, writing
from uk_dynamics.compilation.build.compiler import (
    THOROUGH,
    CompilationError,
    Compiler,
    compiling_threads,
    find_compiler,
    no_compiler,
)
from uk_dynamics.compilation.emit.layout import LoopTables
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Library(Enum):
    """What is compiled, each as a shared library; subjects are mechanisms, or tasks of the law."""

    STATE = "one state"
    MOTION = "motion of one state"
    BATCH = "batches"
    DERIVATIVES = "derivatives"
    DERIVATIVE_BATCH = "batches of derivatives"
    PROJECTION = "derivatives of the projection"
    SERVO = "servo law"  # of tasks
    EFFORTS = "derivatives of the servo law"  # of tasks
    CLOSED_LOOPS = "batches of closed loops"  # of tasks, or of laws of any kind
    JOINT_SPACE = "hold and gravity compensation"
    ENCODERS = "readings of encoders"  # of a mechanism with tables of its loops


# Without passes that look for vectors and for what is computed twice: what is generated has
# neither. The code of one state is a tenth faster than at -O2, in four fifths of the time.
_PLAIN = ("-O2", "-fno-tree-vectorize", "-fno-tree-pre", "-fno-gcse")
# Lanes and columns of efforts are vectors already, in loops of constant length.
_UNROLLED = ("-O2", "-fno-tree-vectorize", "-fpeel-loops")
# Columns of one state are loops of constant length, too, but not all vectors yet; what is generated
# has no pairs of numbers. Up to a third faster than plain, in 1.1 to 1.4 times the time.
_COLUMNS = ("-O3", "-fno-tree-slp-vectorize", "-fno-tree-pre", "-fno-gcse")
# Steps over contacts are loops over a few directions and velocities: whole vectors of AVX-512,
# which GCC takes on processors of AMD, make them slower.
_LOOPS = ("-O3", *(("-mprefer-vector-width=256",) if machine() in ("x86_64", "AMD64") else ()))


class Recipe(NamedTuple):
    """How a library is made."""

    part: str  # of its name in the cache; ``-`` at its end: and what tells the law from others
    source: str  # the module of ``compilation/emit`` and the function that write it
    optimization: tuple[str, ...] = _PLAIN


_STATE = Recipe("", "generate.source")
_CLUSTERS = Recipe("", "cluster_source.cluster_source", THOROUGH)  # its loops gain a twelfth
_CLUSTER_MOTION = Recipe(".motion", "cluster_source.cluster_motion_source", THOROUGH)
_DERIVATIVES = Recipe(".derivatives", "derivative_source.derivative_source", _COLUMNS)
_DERIVATIVE_BATCH = "derivative_source.derivative_batch_source"
# most of it is loops over a few motors: no slower than at -O2, in two thirds of the time
_SERVO = Recipe(".servo-", "servo_source.servo_source", ("-O1",))
_JOINT_SPACE = Recipe(".hold", "generate.joint_space_source", ("-O1",))
_EFFORTS = Recipe(".efforts-", "servo_source.effort_source", _UNROLLED)
_CLOSED_LOOPS = Recipe(".loops-", "closed_loop_source.closed_loop_source", THOROUGH)

#: The recipe of each library, and that for mechanisms in clusters where there is one.
RECIPES: Mapping[Library, tuple[Recipe, Recipe | None]] = {
    Library.STATE: (_STATE, _CLUSTERS),
    Library.MOTION: (_STATE, _CLUSTER_MOTION),
    Library.BATCH: (Recipe(".batch", "generate.batch_source", _UNROLLED), _CLUSTER_MOTION),
    Library.DERIVATIVES: (_DERIVATIVES, None),
    Library.DERIVATIVE_BATCH: (Recipe(".derivatives.batch", _DERIVATIVE_BATCH, _UNROLLED), None),
    Library.PROJECTION: (Recipe(".projection", "derivative_source.projection_source"), None),
    Library.SERVO: (_SERVO, Recipe(".servo-", "cluster_source.cluster_servo_source")),
    Library.EFFORTS: (_EFFORTS, None),
    Library.CLOSED_LOOPS: (_CLOSED_LOOPS, None),
    Library.JOINT_SPACE: (_JOINT_SPACE, None),
    Library.ENCODERS: (Recipe(".encoders-", "completion_source.encoder_source"), None),
}


def holds_in_c(mechanism: ResolvedMechanism) -> bool:
    """Whether there is a :attr:`Library.JOINT_SPACE` of a mechanism: not without motors."""
    return len(mechanism.actuators) > 0 and mechanism.local is None


def library_of(
    subject: Subject, kind: Library | None = None, tables: LoopTables | None = None
) -> Path:
    """The library of a mechanism, or of tasks; it is made when it is not in the cache.

    Kind None is that of one state of a mechanism, of the law of tasks; :attr:`Library.ENCODERS`
    needs tables of the loops. What keeps it from being made is a CompilationError.
    """
    check(subject)
    compiler = find_compiler()
    if compiler is None:
        raise no_compiler()
    mechanism, recipe = _recipe(subject, kind)

    def source() -> str:
        from uk_dynamics.compilation.emit.c_text import assemble

        module, _, name = recipe.source.partition(".")
        write = getattr(import_module(f"uk_dynamics.compilation.emit.{module}"), name)
        filed = mechanism.as_filed()
        with writing():
            of = Tasks(subject.spec, filed) if isinstance(subject, Tasks) else filed
            return assemble(write(of) if tables is None else write(of, tables))

    how = _LOOPS if mechanism.one_sided else recipe.optimization
    compiler = replace(compiler, optimization=how)
    return _library(mechanism, source, compiler, part_of(subject, kind, tables))


def part_of(subject: Subject, kind: Library | None = None, tables: LoopTables | None = None) -> str:
    """What tells a library from others of the mechanism; references and gains of tasks do not."""
    _, recipe = _recipe(subject, kind)
    part = recipe.part
    if not part.endswith("-"):
        return part
    if tables is not None:
        return part + tables.digest
    if not isinstance(subject, Tasks):
        return part[:-1]
    rows = [
        replace(task, reference=None, stabilization=type(task.stabilization)())
        for task in subject.spec.tasks
    ]
    law: tuple[object, ...] = (subject.spec.distribution, rows)
    if subject.spec.contact_rows:
        plan = [len(contact.intervals) for contact in subject.spec.contacts]
        law = (*law, subject.spec.contact_rows, plan)
    if subject.spec.robust is not None:  # its delay, bandwidth and encoders are settings
        robust = replace(subject.spec.robust, delay=0.0, encoders=None)
        robust = replace(robust, leakage=1.0 if subject.learns_size else None)
        law = (*law, robust if robust.least_bandwidth else replace(robust, bandwidth=None))
    if subject.corrected:
        law = (*law, subject.spec.adaptive, subject.observed.any(), subject.watched.any())
    return part + hashlib.sha256(repr(law).encode()).hexdigest()[:12]


def is_cached(
    subject: Subject, kind: Library | None = None, tables: LoopTables | None = None
) -> bool:
    """Whether a library is there."""
    compiler = find_compiler()
    if compiler is None or obstacles(subject):
        return False
    try:
        mechanism, _ = _recipe(subject, kind)
        return find(mechanism, compiler, part_of(subject, kind, tables)).intact
    except CompilationError:  # no home directory, or no such library
        return False


def _recipe(subject: Subject, kind: Library | None) -> tuple[ResolvedMechanism, Recipe]:
    """The mechanism, and how the library is made of it."""
    tasks = isinstance(subject, Tasks)
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    kind = kind or (Library.SERVO if tasks else Library.STATE)
    dense, clusters = RECIPES[kind]
    if mechanism.local is None:
        return mechanism, dense
    if clusters is None:
        raise CompilationError(f"{mechanism.model.nv} velocities are too many for {kind.value}")
    return mechanism, clusters


def _library(
    mechanism: ResolvedMechanism, source: Callable[[], str], compiler: Compiler, part: str
) -> Path:
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
    with compiling_threads(2) as start:
        for answer in [start(function) for function in work]:
            yield answer()


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
