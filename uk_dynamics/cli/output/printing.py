# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Results and remarks as tables and as JSON; progress and the log of the package on a terminal."""

from __future__ import annotations

import json
import logging
import math
import sys
import textwrap
import threading
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uk_dynamics.conversion import Remark


_WIDTH = 100
TIME_BAR = "{percentage:3.0f}% |{bar}| {n:.2f} of {total:g} s, {remaining} to go"  # of progress
PART_BAR = "{desc}{percentage:3.0f}% |{bar}| {elapsed} so far, {remaining} to go at most"
_TICK = 1.0  # s


def json_text(data: object) -> str:
    """JSON text; NaN and infinity, which JSON cannot represent, become null."""
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def show(arguments: Namespace, facts: object, text: str | Callable[[], str]) -> None:
    """Print a result as the command line asks for it: ``facts`` for ``--json``, else the text."""
    if arguments.json:
        print(json_text(facts))
    else:
        print(text if isinstance(text, str) else text())


def show_files(arguments: Namespace, mechanism: str, files: Sequence[Path]) -> None:
    """Print the files that were written for a mechanism, one per line or as JSON."""
    show(arguments, {"mechanism": mechanism, "files": files}, "\n".join(map(str, files)))


def table(rows: Iterable[tuple[str, str]], indent: int = 2) -> str:
    """Aligned pairs of label and value; long values are wrapped."""
    pairs = list(rows)
    left = max((len(label) for label, _ in pairs), default=0)
    lines = []
    for label, value in pairs:
        start = f"{'':{indent}}{label:{left}}  "
        wrapped = textwrap.wrap(value, _WIDTH - len(start), break_on_hyphens=False) or [""]
        lines.append((start + wrapped[0]).rstrip())
        lines += [f"{'':{len(start)}}{line}" for line in wrapped[1:]]
    return "\n".join(lines)


@contextmanager
def progress_bar(total: float | None, unit: str, shape: str | None = None) -> Iterator[Any]:
    """A tqdm bar, whose time goes on within long parts; ``shape`` is its format.

    None is the usual one, with an estimate.
    """
    from tqdm import tqdm

    ended = threading.Event()
    with tqdm(
        total=total, unit=unit, file=sys.stderr, disable=None, leave=False, bar_format=shape
    ) as bar:

        def tick() -> None:
            while not ended.wait(_TICK):
                bar.refresh()

        ticking = threading.Thread(target=tick, daemon=True)
        if not bar.disable:
            ticking.start()
        try:
            yield bar
        finally:
            ended.set()
            if ticking.ident is not None:
                ticking.join()


# whether remarks are of what was lost, their label in tables, and their key in JSON
_REMARKS = (
    (True, "not converted", "not_carried_over"),
    (False, "in another form", "in_another_form"),
)


def remark_rows(remarks: Sequence[Remark]) -> list[tuple[str, str]]:
    """Remarks of a conversion as rows of a table, those of what was lost first."""
    return [
        (label, f"{remark.subject}: {remark.reason}")
        for lost, label, _ in _REMARKS
        for remark in remarks
        if remark.lost == lost
    ]


def remark_data(remarks: Sequence[Remark]) -> dict[str, object]:
    """Remarks of a conversion for JSON."""
    return {
        key: [{"subject": r.subject, "reason": r.reason} for r in remarks if r.lost == lost]
        for lost, _, key in _REMARKS
    }


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Write what the package logs to standard error: what is compiled, and what is not and why."""
    log = logging.getLogger("uk_dynamics")
    level, handler = log.level, logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("uk_dynamics: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
