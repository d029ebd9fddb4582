# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The C compiler of this machine, and what it makes of a source."""

import contextlib
import functools
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from uk_dynamics.exceptions import InputError

REMEDY = (
    "install a C compiler (Debian, Ubuntu: apt install gcc), or name one in the environment "
    'variable CC; or use backend="interpreted"'
)
FLAGS = (
    "-std=gnu11",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    # sums may be reordered, which vectors need; infinities and NaN stay what they are
    "-fno-signed-zeros",
    "-fassociative-math",
)
_LIBRARY = ("-fPIC", "-fvisibility=hidden")
_EXPORT = '-DUK_EXPORT=__attribute__((visibility("default")))'
_WITHIN = "-DUK_EXPORT=static"  # what another unit makes: not used, and therefore left out

THOROUGH = ("-O3",)  # pieces, too

# Pieces of a source (emit/pieces.py) are compiled side by side on the processors of this process.
_LEAST_PIECES = 6  # fewer are not worth a second compiler
_MOST_UNITS = 4
# Of straight-line code of single numbers GCC makes at -O1, with the order of instructions from -O2,
# what it makes at -O2 or better: pairs of numbers in vectors cost more than they save. It takes
# four fifths of the time.
_STRAIGHT = ("-O1", "-fschedule-insns2", "-fexpensive-optimizations")
# What is no piece takes as long as some of them.
_PATTERN = 8


class CompilationError(InputError):
    """A mechanism cannot be compiled, or not on this machine."""

    def unless(self, *, strict: bool) -> str:
        """What it says, for the log of what is interpreted instead; strictly, it is raised."""
        if strict:
            raise self
        return str(self)


@dataclass(frozen=True)
class Compiler:
    """A C compiler."""

    command: tuple[str, ...]  # the program, maybe behind others that start it
    version: str  # what it says of itself, and the processor it compiles for
    optimization: tuple[str, ...] = THOROUGH  # how hard it tries
    options: tuple[str, ...] = ()  # those that CC adds; they overrule the others

    def build(self, source: Path, library: Path) -> None:
        """Compile a shared library, in several units where the source has many pieces."""
        pieces = source.read_text(encoding="utf-8").count("#if UK_IN_UNIT(")
        apart = pieces >= _LEAST_PIECES
        straight = apart and self.optimization != THOROUGH and not self._clang
        units = min(len(os.sched_getaffinity(0)), _MOST_UNITS) if apart else 1
        if straight:
            units = max(units, 2)
        with compiling_threads(units) as start:
            if units == 1:
                what = [_EXPORT, *_python(), "-shared", str(source), "-lm", "-o", str(library)]
                start(partial(self._run, self.optimization, what))()
            else:
                self._build_units(start, units, source, library, straight=straight)
        if not library.is_file():
            raise CompilationError(f"the compiler {self.command[0]} has made nothing; {REMEDY}")

    def _build_units(
        self, start: "Starting[Any]", units: int, source: Path, library: Path, *, straight: bool
    ) -> None:
        """The first unit has all but pieces, and half as many of those as others, or none."""
        objects = [str(library.with_suffix(f".{k}.o")) for k in range(units)]
        first = 0 if straight else _PATTERN // (2 * units - 1)

        def build(unit: int) -> None:
            shares = [k for k in range(_PATTERN) if _unit_of(k, units, first) == unit]
            mine = "||".join(f"(k)%{_PATTERN}=={k}" for k in shares) or "0"
            what = [_WITHIN] if unit else [_EXPORT, *_python()]
            what += [f"-DUK_IN_UNIT(k)=({mine})", "-c", str(source), "-o", objects[unit]]
            how = _STRAIGHT if unit and straight else self.optimization
            self._run(how, what)

        for answer in [start(partial(build, unit)) for unit in range(units)]:
            answer()
        what = ["-shared", *objects, "-lm", "-o", str(library)]
        start(partial(self._run, self.optimization, what))()

    @property
    def _clang(self) -> bool:
        return "clang" in self.version

    def _run(self, how: tuple[str, ...], what: list[str]) -> None:
        output = Path(what[-1])
        if self._clang:  # which refuses some options of GCC
            how = tuple(x for x in how if x.startswith("-O"))
        command = [*self.command, *FLAGS, *_LIBRARY, *how, *self.options, *what]
        status, said_all = _run(command, output.parent)
        if status != 0:
            lines = (said_all.strip() or "nothing").splitlines()
            said = next((line for line in lines if "error" in line), lines[0])
            said = said.replace(f"{output.parent}/", "")  # another one each time
            raise CompilationError(f"the compiler {self.command[0]} failed: {said}; {REMEDY}")


def _unit_of(share: int, units: int, first: int) -> int:
    """The unit that makes a share of the pieces; the first unit makes the first of them."""
    return 0 if share < first else 1 + (share - first) % (units - 1)


T = TypeVar("T")

Starting = Callable[[Callable[[], T]], Callable[[], T]]


class _Ends(threading.local):
    """The events after which no compiler is wanted any more in the present thread."""

    events: tuple[threading.Event, ...] = ()


_ends = _Ends()
_LOOK = 0.05  # s from one look to the next, at them and at signals


@contextlib.contextmanager
def compiling_threads(number: int) -> Iterator[Starting[Any]]:
    """Start what waits for compilers in threads; where the block fails, those compilers end.

    What starts a function returns another one, which waits for its answer.

    Ctrl-C interrupts the main thread, at any moment: no compiler is started there. Each thread ends
    its own, so that none is overlooked that is about to begin.
    """
    events = (*_ends.events, threading.Event())

    def within(work: Callable[[], T]) -> T:
        _ends.events = events
        return work()

    with ThreadPoolExecutor(number) as pool:
        try:
            yield lambda work: partial(_answer, pool.submit(within, work))
        except BaseException:
            events[-1].set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _answer(future: Future[T]) -> T:
    """Wait for an answer; Ctrl-C just before a wait without limit would be heard after it."""
    while not future.done():
        wait((future,), timeout=_LOOK)
    return future.result()


def _run(command: list[str], temporary: Path) -> tuple[int, str]:
    """Exit status of a compiler, and what it complains about."""
    # It has a session of its own: an interrupt reaches this process alone, which ends the compiler.
    # Its temporary files are in a directory that the caller removes, in whichever way it ends.
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    # this process may be in a control loop with real-time priority, and compilers inherit it
    with contextlib.suppress(ProcessLookupError):
        os.sched_setscheduler(process.pid, os.SCHED_OTHER, os.sched_param(0))
    while (complaints := _complaints(process)) is None:
        if any(event.is_set() for event in _ends.events):
            with contextlib.suppress(ProcessLookupError):  # with what it has started
                os.killpg(process.pid, signal.SIGTERM)  # they remove their temporary files
    return process.returncode, complaints


def _complaints(process: subprocess.Popen[str]) -> str | None:
    """What a compiler that has ended complains about; None: it has not, after a moment."""
    try:
        return process.communicate(timeout=_LOOK)[1]
    except subprocess.TimeoutExpired:
        return None


@functools.lru_cache(maxsize=4)
def _known(text: str, path: str | None) -> Compiler | None:
    try:
        words = tuple(shlex.split(text))
    except ValueError:  # a quotation that does not end
        return None
    # "ccache gcc -O1 -march=haswell": options begin with the first word that is one
    first = next((k for k, word in enumerate(words) if word.startswith("-")), len(words))
    command, options = words[:first], words[first:]
    if not command or shutil.which(command[0], path=path) is None:
        return None
    try:
        said = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=True, timeout=20
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    facts = [said, *FLAGS, *options, *_python(), np.__version__, processor()]
    return Compiler(command, "\n".join(facts), options=options)


def find_compiler() -> Compiler | None:
    """The compiler that CC names, or else one of the usual names; None: there is none."""
    path = os.environ.get("PATH")
    if os.environ.get("CC"):
        return _known(os.environ["CC"], path)
    return _known("cc", path) or _known("gcc", path) or _known("clang", path)


def no_compiler() -> CompilationError:
    """What to say where there is none."""
    named = os.environ.get("CC")
    if named:
        return CompilationError(f'CC is "{named}", which is no C compiler; {REMEDY}')
    return CompilationError(f"there is no C compiler; {REMEDY}")


@functools.cache
def _python() -> tuple[str, ...]:
    """Options for functions that Python calls; none where its headers are not installed."""
    headers = Path(sysconfig.get_path("include"))
    if sys.implementation.name != "cpython" or not os.access(headers / "Python.h", os.R_OK):
        return ()
    return ("-DUK_PYTHON", f"-I{headers}", f"-I{np.get_include()}")


@functools.cache
def processor() -> str:
    """Name and instruction sets of this processor: what is made for it may not run on others."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    facts = ("vendor_id", "model name", "flags", "CPU implementer", "CPU part", "Features")
    found = [next((x for x in lines if x.startswith(fact)), "") for fact in facts]
    return "\n".join([platform.machine(), platform.system(), *found])
