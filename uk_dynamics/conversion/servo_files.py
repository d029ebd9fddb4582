# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law of tasks, and its derivatives, as C files with examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from uk_dynamics.compilation.build import effort_export, servo_export
from uk_dynamics.compilation.runtime import ForeignReferenceError, reference_table
from uk_dynamics.conversion.output_files import filled
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_EXAMPLES = Path(__file__).with_name("c_examples")


def servo_files(tasks: Tasks) -> dict[str, str]:
    """Texts of ``NAME_servo.h``, ``NAME_servo.c``, ``NAME_servo_example.c``, by name.

    Raises:
        InputError: Some part cannot be written as C.
    """
    mechanism = tasks.mechanism
    if tasks.allocation.internal_forces:
        raise InputError(
            "internal forces cannot be written as C; use allocation.preload",
            file=tasks.spec.file,
            place="allocation.internal_forces",
        )
    name = f"{c_identifier(mechanism.name)}_servo"
    header, source = servo_export(tasks, name)
    try:
        tables = reference_table(tasks.references), reference_table(mechanism.references)
    except ForeignReferenceError as error:
        raise InputError(f"{error}, which cannot be written as C", file=tasks.spec.file) from None
    of_tasks, of_structure = (np.zeros(1) if table is None else table for table in tables)
    words = {"tasks": _numbers(of_tasks), "structure": _numbers(of_structure)}
    example = _example("servo", name, mechanism, words)
    return {f"{name}.h": header, f"{name}.c": source, f"{name}_example.c": example}


def effort_files(tasks: Tasks) -> dict[str, str]:
    """Texts of ``NAME_servo_derivatives.h``, ``.c`` and ``_example.c``, by name.

    tasks: Whose efforts have derivatives, of a mechanism that varies no parameters.

    Raises:
        InputError: Some part cannot be written as C.
    """
    mechanism = tasks.mechanism
    name = f"{c_identifier(mechanism.name)}_servo_derivatives"
    header, source = effort_export(tasks, name)
    sample, nothing = tasks.sample(0.0), np.zeros(3 * len(tasks.constraints))
    followed = _numbers(nothing if sample is None else np.concatenate(sample))
    example = _example("servo_derivatives", name, mechanism, {"followed": followed})
    return {f"{name}.h": header, f"{name}.c": source, f"{name}_example.c": example}


def _example(
    template: str, name: str, mechanism: ResolvedMechanism, words: Mapping[str, str]
) -> str:
    """A program that calls the functions of a name at the start of a mechanism."""
    begin = start(mechanism)
    known = {
        "id": name,
        "ID": name.upper(),
        "name": c_comment(mechanism.name),
        "q": _numbers(begin.q),
        "v": _numbers(begin.v),
        "motors": ", ".join(map(c_string, mechanism.actuators.names)),
    }
    return filled(_EXAMPLES / f"{template}.c.in", {**known, **words})


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(x)) for x in values)
