# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a compiler makes of the questions, found in a process of its own, which may crash."""

from __future__ import annotations

import faulthandler
import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any, NamedTuple

import numpy as np
from compilers.questions import Question, difference

PATIENCE = 900.0  # s, for one compiler and all questions


class Call(NamedTuple):
    """A compiler as the environment variable CC names it.

    Attributes:
        cc: The program and its options.
        run: Whether its code can run here.
        vectors_alone: Whether nothing but code with vectors is of interest.
    """

    cc: str
    run: bool
    vectors_alone: bool = False


Answers = Mapping[str, list[np.ndarray]]


@dataclass(frozen=True)
class Verdict:
    """What came of one compiler and one way of calling it.

    Attributes:
        cc: The compiler and its options.
        ran: Whether its code ran; false: it was only compiled.
        differences: From the reference, by question.
        wrong: What is not as it has to be, by question.
    """

    cc: str
    ran: bool
    differences: dict[str, float]
    wrong: dict[str, str]

    @property
    def worst(self) -> float:
        """The largest difference."""
        return max(self.differences.values(), default=0.0)


def reference(questions: Sequence[Question]) -> Answers:
    """What the interpreted evaluators answer."""
    return {question.name: question.ask("interpreted") for question in questions}


class _Asked:
    """A process that asks one compiler all questions, and what it has said so far."""

    def __init__(self, call: Call, questions: Sequence[Question], expected: Answers) -> None:
        context = multiprocessing.get_context("fork")
        questions = [x for x in questions if x.in_vectors or not call.vectors_alone]
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=_ask, args=(theirs, call, questions, expected))
        self.process.start()
        theirs.close()
        self.end = time.monotonic() + PATIENCE
        self._call = call
        self._asked = ""
        self._differences: dict[str, float] = {}
        self._wrong: dict[str, str] = {}

    def hear(self) -> bool:
        """Whether there is more to come; called when the pipe has something, or is closed."""
        try:
            self._asked, off, problem = self.pipe.recv()
        except EOFError:
            self.process.join()
            if self.process.exitcode:
                self._wrong[f"after {self._asked}"] = f"ended with {self.process.exitcode}"
            return False
        if problem:
            self._wrong[self._asked] = problem
        elif off is not None:
            self._differences[self._asked] = off
        return True

    def give_up(self) -> None:
        """End a process that does not answer."""
        self.process.kill()
        self._wrong[f"after {self._asked}"] = f"no answer within {PATIENCE:.0f} s"

    def verdict(self) -> Verdict:
        """What it has said."""
        self.process.join()
        self.pipe.close()
        return Verdict(self._call.cc, self._call.run, self._differences, self._wrong)


def verdicts(
    calls: Iterable[Call], questions: Sequence[Question], expected: Answers
) -> Iterator[Verdict]:
    """Compile, ask and compare, as many compilers at once as there are processors.

    Args:
        calls: The compilers.
        questions: What to ask.
        expected: The answers.
    """
    left, asked = iter(calls), []
    while True:
        while len(asked) < len(os.sched_getaffinity(0)) and (call := next(left, None)):
            asked.append(_Asked(call, questions, expected))
        if not asked:
            return
        ready = connection.wait([one.pipe for one in asked], timeout=1.0)
        for one in list(asked):
            late = time.monotonic() > one.end
            if late:
                one.give_up()
            if late or (one.pipe in ready and not one.hear()):
                asked.remove(one)
                yield one.verdict()


def _ask(
    pipe: connection.Connection, call: Call, questions: Sequence[Question], expected: Answers
) -> None:
    """In a process of its own: send name, difference and problem of each question."""
    faulthandler.disable()  # how a process ends is the verdict
    complaints: list[str] = []

    class Listener(logging.Handler):
        """Code that is not used, or given up, is warned about."""

        def emit(self, record: logging.LogRecord) -> None:
            complaints.append(record.getMessage())

    logging.getLogger().addHandler(Listener(logging.WARNING))
    with tempfile.TemporaryDirectory(prefix="uk_dynamics_compilers_") as cache:
        os.environ.update(CC=call.cc, XDG_CACHE_HOME=cache)
        for question in questions:
            off, problem = None, ""
            complaints.clear()
            try:
                off = _difference(question, expected[question.name], call.run)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
                problem = f"{type(error).__name__}: {error}"
            if off is not None and not off <= question.tolerance:
                problem = f"differs by {off:.2g}, {question.tolerance:g} are allowed"
            elif complaints and not problem:
                problem = complaints[0]
            pipe.send((question.name, off, problem))


def _difference(question: Question, expected: list[np.ndarray], run: bool) -> Any:
    question.compile()
    return difference(question.ask("compiled"), expected) if run else None
