# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law of tasks, and its derivatives, as C files with examples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uk_dynamics.compilation.build import effort_export, servo_export
from uk_dynamics.compilation.runtime import ForeignReferenceError, reference_table
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import start

_EXAMPLE = """\
/* Efforts at the start of {name}, held for a millisecond:
 * cc -O2 {id}.c {id}_example.c -o {id}_example -lm && ./{id}_example
 */
#include <stdio.h>

#include "{id}.h"

static {id}_memory memory;
static double tasks[] = {{{tasks}}}; /* references of the tasks file */
static double structure[] = {{{structure}}}; /* of the mechanism file */

int main(void) {{
  const {id}_controller controller = {{&memory, tasks, structure}};
  const double q[] = {{{q}}};
  const double v[] = {{{v}}};
  const char *const motors[] = {{{motors}}};
  double efforts[{ID}_NU], flags[{ID}_FLAGS];
  {id}_control_start(&memory, 1e-3);
  const int failed = {id}_control(&controller, 0.0, q, v, efforts, flags);
  if (failed) return failed;
  for (int j = 0; j < {ID}_NU; ++j) printf("%s %.17g\\n", motors[j], efforts[j]);
  return 0;
}}
"""


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
    begin = start(mechanism)
    of_tasks, of_structure = (np.zeros(1) if table is None else table for table in tables)
    example = _EXAMPLE.format(
        id=name,
        ID=name.upper(),
        name=c_comment(mechanism.name),
        q=_numbers(begin.q),
        v=_numbers(begin.v),
        motors=", ".join(map(c_string, mechanism.actuators.names)),
        tasks=_numbers(of_tasks),
        structure=_numbers(of_structure),
    )
    return {f"{name}.h": header, f"{name}.c": source, f"{name}_example.c": example}


_DERIVATIVES = """\
/* Efforts at the start of {name}, and their derivatives:
 * cc -O2 {id}.c {id}_example.c -o {id}_example -lm && ./{id}_example
 */
#include <stdio.h>

#include "{id}.h"

static {id}_memory memory;

int main(void) {{
  const double q[] = {{{q}}};
  const double v[] = {{{v}}};
  const double followed[] = {{{followed}}};
  const char *const motors[] = {{{motors}}};
  {id}_effort_start(&memory);
  for (int i = 0; i < {ID}_NQ; ++i) memory.q[i] = q[i];
  for (int i = 0; i < {ID}_NV; ++i) memory.v[i] = v[i];
  for (int k = 0; k < 3 * {ID}_MT; ++k) memory.task_followed[k] = followed[k];
  const int failed = {id}_effort_derivatives(&memory);
  if (failed) return failed;
  for (int j = 0; j < {ID}_NU; ++j) {{
    printf("%s %.17g", motors[j], memory.limited[j]);
    for (int k = 0; k < {ID}_EFFORT_COLUMNS; ++k)
      printf(" %.17g", memory.effort_derivatives[j * {ID}_EFFORT_COLUMNS + k]);
    printf("\\n");
  }}
  return 0;
}}
"""


def effort_files(tasks: Tasks) -> dict[str, str]:
    """Texts of ``NAME_servo_derivatives.h``, ``.c`` and ``_example.c``, by name.

    tasks: Whose efforts have derivatives, of a mechanism that varies no parameters.

    Raises:
        InputError: Some part cannot be written as C.
    """
    mechanism = tasks.mechanism
    name = f"{c_identifier(mechanism.name)}_servo_derivatives"
    header, source = effort_export(tasks, name)
    sample, begin = tasks.sample(0.0), start(mechanism)
    nothing = np.zeros(3 * len(tasks.constraints))
    example = _DERIVATIVES.format(
        id=name,
        ID=name.upper(),
        name=c_comment(mechanism.name),
        q=_numbers(begin.q),
        v=_numbers(begin.v),
        followed=_numbers(nothing if sample is None else np.concatenate(sample)),
        motors=", ".join(map(c_string, mechanism.actuators.names)),
    )
    return {f"{name}.h": header, f"{name}.c": source, f"{name}_example.c": example}


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(x)) for x in values)
