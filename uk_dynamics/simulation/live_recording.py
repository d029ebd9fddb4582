# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recording during a simulation, so that samples are saved even if it fails."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.recording.mcap_messages import MotionLog, check_joints
from uk_dynamics.simulation.recording.trajectory_data import Statistics
from uk_dynamics.simulation.trajectory import SUFFIXES, unknown_suffix


@contextmanager
def live_recording(
    path: Path | None, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    """Write the samples of a recorder to a file.

    An ``.mcap`` file grows sample by sample. Others are written at the end, even of a simulation
    that was interrupted or failed. If it fails before the first sample, an existing file is kept.
    """
    if path is None:
        yield
        return
    if path.suffix.lower() not in SUFFIXES:
        raise unknown_suffix(path)
    write = _growing if path.suffix.lower() == ".mcap" else _at_the_end
    with write(path, recorder, statistics):
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
            with contextlib.suppress(InputError):  # disk full: report the first error
                replace(so_far, warnings=warnings).save(path)
        raise
    recorder.trajectory(statistics()).save(path)


@contextmanager
def _growing(
    path: Path, recorder: Recorder, statistics: Callable[[], Statistics]
) -> Iterator[None]:
    check_joints(recorder.names, path, recorder.machine)
    log: MotionLog | None = None

    def append(sample: Mapping[str, Any], status: str) -> None:
        nonlocal log
        if log is None:
            about = (recorder.names, recorder.effort_limits, recorder.machine)
            log = MotionLog(path, recorder.mechanism_name, *about)
        try:
            log.sample(sample, status)
        except OSError as error:
            raise _unwritten(path, error) from None

    def end(*final_warnings: str) -> None:
        if log is not None:
            with contextlib.closing(log):
                so_far = recorder.trajectory(statistics())
                warnings = (*so_far.warnings, *final_warnings)
                log.finish(warnings, so_far.statistics, so_far.switchings)

    recorder.listener = append
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):  # disk full: the file is readable so far
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
