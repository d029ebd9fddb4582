"""Samples of a simulation reach a file whatever ends it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.mcap_trajectory import MotionLog, refuse_vehicles
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.trajectory import Statistics
from uk_dynamics.simulation.trajectory_files import SUFFIXES, unknown_suffix


@contextmanager
def live_recording(
    path: Path | None, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    """Write to a file, under its own name, what a recorder gets, whatever happens.

    An ``.mcap`` grows from the first sample on. Others are written at the end, also of a
    simulation that was interrupted or failed. One that fails before the first sample leaves an
    older file alone.

    Args:
        path: File to write, ``.mcap``, ``.npz`` or ``.csv``; None writes nothing.
        recorder: Who gets the samples.
        statistics: Tells what the simulation has cost so far.

    Raises:
        InputError: Another suffix, joints that do not fit, or the file cannot be written.
    """
    if path is None:
        yield
        return
    if path.suffix.lower() not in SUFFIXES:
        raise unknown_suffix(path)
    way = _growing if path.suffix.lower() == ".mcap" else _at_the_end
    with way(path, recorder, statistics):
        yield


@contextmanager
def _at_the_end(
    path: Path, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if recorder.begun:
            so_far = recorder.trajectory(statistics())
            warnings = (*so_far.warnings, _ended_early(error))
            with contextlib.suppress(InputError):  # on a full disk: the first error counts
                replace(so_far, warnings=warnings).save(path)
        raise
    recorder.trajectory(statistics()).save(path)


@contextmanager
def _growing(
    path: Path, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    refuse_vehicles(recorder.names, path)
    log: MotionLog | None = None

    def hear(sample: Mapping[str, Any], status: str) -> None:
        nonlocal log
        if log is None:
            log = MotionLog(path, recorder.mechanism_name, recorder.names, recorder.effort_limits)
        try:
            log.sample(sample, status)
        except OSError as error:
            raise _unwritten(path, error) from None

    def end(*last_words: str) -> None:
        if log is not None:
            with log:
                so_far = recorder.trajectory(statistics())
                warnings = (*so_far.warnings, *last_words)
                log.finish(warnings, so_far.statistics, so_far.switchings)

    recorder.listener = hear
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):  # on a full disk: what is there can be read
            end(_ended_early(error))
        raise
    try:
        end()
    except OSError as error:
        raise _unwritten(path, error) from None


def _ended_early(error: BaseException) -> str:
    reason = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
    return f"the simulation ended early: {reason}"


def _unwritten(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror}", file=str(path))
