"""Samples of a simulation go to a file while it runs, so that no end of it loses them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.mcap_trajectory import MotionLog, refuse_vehicles
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.trajectory import Statistics


@contextmanager
def live_recording(
    path: Path | None, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    """Write to a file, under its own name, what a recorder gets; end the file whatever happens.

    The first sample makes the file: a simulation that fails before leaves an older one alone.

    Args:
        path: File to write, ``.mcap``; None writes nothing.
        recorder: Who gets the samples.
        statistics: Tells what the simulation has cost so far.

    Raises:
        InputError: Another suffix, joints that do not fit, or the file cannot be written.
    """
    if path is None:
        yield
        return
    if path.suffix.lower() != ".mcap":
        raise InputError(
            f'cannot write "{path.suffix}" files while they grow; use .mcap', file=str(path)
        )
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
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        with contextlib.suppress(OSError):  # on a full disk: what is there can be read
            end(f"the simulation ended early: {reason}")
        raise
    try:
        end()
    except OSError as error:
        raise _unwritten(path, error) from None


def _unwritten(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror}", file=str(path))
