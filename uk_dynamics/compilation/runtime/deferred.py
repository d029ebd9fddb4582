# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""An interpreted evaluator until its compiled one is ready."""

import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from uk_dynamics.compilation.build import CompilationError, Subject, background, is_cached
from uk_dynamics.compilation.runtime.fallback import Fallback
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Dynamics

#: Calls of an evaluator from which on a library is worth its compilation; some 0.2 s.
MANY = 1000

T = TypeVar("T")


class Log(Protocol):
    """Where decisions are reported: a logger of Python or of a ROS node."""

    def info(self, message: str, /) -> object:
        """Say that something happens."""

    def warning(self, message: str, /) -> object:
        """Say that something is not as it could be."""


class Deferred(Generic[T]):
    """The evaluator that answers now: ``interpreted``, later ``compiled()``.

    Compiling begins after some calls, in a process of its own. A thread starts it and loads the
    library, so that no evaluation waits for either.
    """

    def __init__(
        self,
        interpreted: T,  # answers until then
        compiled: Callable[[], T],  # loads the compiled evaluator; called in another thread
        subject: Subject,  # what is evaluated
        log: Log,  # where one line says that it is compiled, or why it is not
        after: int = MANY,  # calls before compiling begins; 0: it begins now
    ) -> None:
        """Prepare to change over."""
        self._evaluator = interpreted
        self._ready: T | None = None
        self._compiled, self._subject, self._log = compiled, subject, log
        self._remaining = after
        self._waiting = True
        if not after:
            self._begin()

    def current(self) -> T:
        """The evaluator for the next evaluation."""
        if self._waiting:
            if self._ready is not None:
                self._evaluator, self._waiting = self._ready, False
            elif self._remaining >= 0:
                self._remaining -= 1
                if self._remaining < 0:
                    self._begin()
        return self._evaluator

    def _begin(self) -> None:
        arguments = (weakref.ref(self),)
        threading.Thread(target=_compile, args=arguments, name="uk_compile", daemon=True).start()

    def _load(self) -> None:
        """Compile and load."""
        if not is_cached(self._subject):
            what = title(self._subject)
            self._log.info(f"compiling {what} in the background; interpreted until it is ready")
            if problem := background.build(background.Job.of(self._subject)):
                raise CompilationError(problem)
        self._ready = self._compiled()


#: One compiler at a time: a program with many mechanisms would have one for each.
_turn = threading.Lock()


def _compile(reference: weakref.ref[Deferred[Any]]) -> None:
    with _turn:
        deferred = reference()
        if deferred is None:  # no longer in use
            return
        try:
            deferred._load()
        except (CompilationError, OSError) as error:
            deferred._waiting = False
            deferred._log.warning(not_compiled(deferred._subject, str(error)))


def title(subject: Subject) -> str:
    """What messages call it."""
    if isinstance(subject, Tasks):
        return f"the servo law of {subject.mechanism.name}"
    return subject.name


def not_compiled(subject: Subject, problem: str) -> str:
    """The line of the log where ``auto`` interprets."""
    return f"{title(subject)} is not compiled but interpreted: {problem}"


class DeferredDynamics(Fallback):
    """A ``Dynamics`` that is interpreted until it is compiled; both agree to rounding."""

    def __init__(self, deferred: Deferred[Dynamics]) -> None:
        self._deferred = deferred

    @property
    def fallback(self) -> Dynamics:  # type: ignore[override]
        """The evaluator that answers now."""
        return self._deferred.current()
