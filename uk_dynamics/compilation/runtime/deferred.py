"""An interpreted evaluator until its compiled one is ready."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from uk_dynamics.compilation.build import background
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.runtime.fallback import Fallback
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
        interpreted: T,
        compiled: Callable[[], T],
        *,
        cached: Callable[[], bool],
        job: background.Job,
        name: str,
        log: Log,
        after: int = MANY,
    ) -> None:
        """Prepare to change over.

        Args:
            interpreted: Answers until then.
            compiled: Loads the compiled evaluator; called in another thread.
            cached: Whether the library is there.
            job: What has to be compiled for it.
            name: Of what is compiled.
            log: Where one line says that it is compiled, or why it is not.
            after: Calls before compiling begins; 0: it begins now.
        """
        self._evaluator = interpreted
        self._ready: T | None = None
        self._compiled, self._cached, self._job = compiled, cached, job
        self._name, self._log = name, log
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
        if not self._cached():
            what = f"compiling {self._name} in the background; interpreted until it is ready"
            self._log.info(what)
            if problem := background.build(self._job):
                raise CompilationError(problem)
        self._ready = self._compiled()

    def _give_up(self, problem: str) -> None:
        self._waiting = False
        self._log.warning(not_compiled(self._name, problem))


#: One compiler at a time: a program with many mechanisms would have one for each.
_turn = threading.Lock()


def _compile(reference: weakref.ref[Deferred[Any]]) -> None:
    with _turn:
        deferred = reference()
        if deferred is None:  # nobody evaluates it any more
            return
        try:
            deferred._load()
        except (CompilationError, OSError) as error:
            deferred._give_up(str(error))


def not_compiled(name: str, problem: str) -> str:
    """The line of the log where ``auto`` interprets."""
    return f"{name} is not compiled but interpreted: {problem}"


class DeferredDynamics(Fallback):
    """A ``Dynamics`` that is interpreted until it is compiled; both agree to rounding."""

    def __init__(self, deferred: Deferred[Dynamics]) -> None:
        self._deferred = deferred

    @property
    def fallback(self) -> Dynamics:  # type: ignore[override]
        """The evaluator that answers now."""
        return self._deferred.current()
