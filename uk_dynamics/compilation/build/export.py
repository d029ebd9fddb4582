"""A mechanism as C files for other programs: sources, headers, and examples that build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from uk_dynamics.compilation.build.export_batch import batch_files
from uk_dynamics.compilation.build.limits import check
from uk_dynamics.compilation.emit.generate import declarations, definitions
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.assembly.start import start
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.whole_file import whole_file

# What other programs see.
_PUBLIC = "evaluate|memory|evaluate_batch|batch|rollout|trajectories|width"

_HEADER = """\
/* {name}: constrained accelerations of a mechanism with closed loops. Generated; double precision,
 * no allocation, no global state: one {id}_memory per thread, all zeros at first.
 *
 *   q, v, tau:   {joints}
 *   rows:        {rows}
 *
 * Set t, q, v, tau, stabilize and active (1 for rows that act), call {id}_evaluate, read qdd,
 * ideal_force, multipliers, rank, status. It returns 0; 1 where the mass matrix is singular, 2
 * where something is not finite: then there is no answer.
 */
#ifndef {guard}_H
#define {guard}_H

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

int uk_evaluate(uk_memory *memory);

#ifdef __cplusplus
}}
#endif

#endif
"""

_EXAMPLE = """\
/* One evaluation of {name}: cc -O2 {id}.c {id}_example.c -o {id}_example -lm && ./{id}_example */
#include <stdio.h>

#include "{id}.h"

static uk_memory memory;

int main(void) {{
  const double q[] = {{{q}}};
  const double v[] = {{{v}}};
  const char *const names[] = {{{names}}};
  for (int i = 0; i < UK_NQ; ++i) memory.q[i] = q[i];
  for (int i = 0; i < UK_NV; ++i) memory.v[i] = v[i];
  for (int i = 0; i < UK_M; ++i) memory.active[i] = 1.0;
  memory.stabilize = 1.0;
  const int failed = uk_evaluate(&memory);
  if (failed) return failed;
  printf("rank %g\\n", memory.rank);
  for (int i = 0; i < UK_NV; ++i) printf("%s %.17g\\n", names[i], memory.qdd[i]);
  return 0;
}}
"""


def export(mechanism: ResolvedMechanism, directory: Path) -> tuple[Path, ...]:
    """Write ``NAME.c``, ``NAME.h``, ``NAME_example.c``, and for batches ``NAME_batch.c`` ….

    Args:
        mechanism: What to write.
        directory: Where to; it is made if need be.

    Returns:
        The files.

    Raises:
        CompilationError: Some part of the mechanism cannot be compiled.
        InputError: The directory cannot be written.
    """
    check(mechanism)
    identifier = re.sub(r"\W", "_", mechanism.name)
    if not identifier[:1].isalpha():
        identifier = f"mechanism_{identifier}"
    begin = start(mechanism)
    texts = {
        ".h": _HEADER.format(
            name=mechanism.name,
            id=identifier,
            joints=_wrapped(mechanism.model.velocity_names),
            rows=_wrapped(mechanism.row_names),
            guard=identifier.upper(),
            declarations=declarations(mechanism),
        ),
        ".c": f'#include <math.h>\n\n#include "{identifier}.h"\n' + definitions(mechanism),
        "_example.c": _EXAMPLE.format(
            name=mechanism.name,
            id=identifier,
            q=", ".join(repr(float(x)) for x in begin.q),
            v=", ".join(repr(float(x)) for x in begin.v),
            names=", ".join(f'"{name}"' for name in mechanism.model.velocity_names),
        ),
        **batch_files(mechanism, identifier),
    }
    files = tuple(directory / f"{identifier}{suffix}" for suffix in texts)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as written:  # all of them or none
            for file, text in zip(files, texts.values(), strict=True):
                temporary = written.enter_context(whole_file(file))
                temporary.write_text(_named(text, identifier), encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}; give a directory of your own"
        raise InputError(problem, file=str(directory)) from None
    return files


def _named(text: str, identifier: str) -> str:
    """Names of its own, so that two mechanisms fit into one program."""
    text = re.sub(rf"\buk_({_PUBLIC})\b", rf"{identifier}_\1", text)
    return re.sub(r"\bUK_", f"{identifier.upper()}_", text)


def _wrapped(names: Sequence[str]) -> str:
    return ",\n *                ".join(names) or "none"
