# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What exported C files share: names with that of the mechanism, headers, files."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from uk_dynamics.arrays import Flags
from uk_dynamics.escaping import c_comment
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file

# What other programs see.
_PUBLIC = (
    "evaluate|memory|contacts|contact_state|start_contacts|step_contacts|evaluate_batch|batch|rollout|trajectories|width"
    "|servo|allocate|decide|errors|closure_error|completion|complete|complete_start|loop_factors|controller"
    "|differentiate|differentiate_batch|derivative_batch|equation_derivatives|force_derivatives|exist|projection_derivatives|projection_batch|projected_states|effort_derivatives|effort_derivatives_batch|effort_batch|effort_start|control|control_reset|control_start|track|predict_effect|send|rates"
)

_HEADER = """\
/* {title}
{lists}
 */
#ifndef {guard}_H
#define {guard}_H

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

{prototypes}
#ifdef __cplusplus
}}
#endif

#endif
"""


def header_and_source(
    identifier: str,  # prefix of all names
    declared: str,  # constants and types, as those of ``emit`` write them
    definitions: str,  # of the functions, likewise
    *,
    title: str,  # first words of the header's comment, which names the mechanism
    functions: str,  # their prototypes and how to use them, likewise
    lists: Mapping[str, Sequence[str]] | None = None,  # names of the mechanism, by what they are
    before: str = "",  # what the header without suffix declares, which this one includes
    suffix: str = "",  # of the names of both files; empty: they stand alone
) -> tuple[str, str]:
    """A header, and the file that defines what it declares."""
    from uk_dynamics.compilation.emit.c_text import assemble  # only those who export need it

    included = f'#include "{identifier}.h"\n\n' if suffix else ""
    entries = "".join(
        f"\n *   {f'{name}:':13}{listed(names)}" for name, names in (lists or {}).items()
    )
    declaring = _HEADER.format(
        title=title,
        lists=f" *{entries}",
        guard=f"{identifier}{suffix}".upper(),
        declarations=included + named(assemble(declared, before), identifier),
        prototypes=named(assemble(functions, before + declared), identifier),
    )
    defining = named(assemble(definitions, before + declared), identifier)
    return declaring, f'#include "{identifier}{suffix}.h"\n{defining}'


def write(directory: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write files by name, all of them or none; their paths. InputError: they cannot be."""
    files = tuple(directory / name for name in texts)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as written:
            for file, text in zip(files, texts.values(), strict=True):
                written.enter_context(whole_file(file)).write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}; give a directory of your own"
        raise InputError(problem, file=str(directory)) from None
    return files


def named(text: str, identifier: str) -> str:
    """Our names with that of the mechanism, so that two fit into one program.

    Before names of the mechanism come in: theirs stay as they are.
    """
    text = re.sub(rf"\buk_({_PUBLIC})\b", rf"{identifier}_\1", text)
    return re.sub(r"\bUK_", f"{identifier.upper()}_", text)


def listed(names: Sequence[str]) -> str:
    """Names of the mechanism in a comment, a line for each."""
    return ",\n *                ".join(map(c_comment, names)) or "none"


def marked(names: Sequence[str], pattern: Flags, columns: Sequence[tuple[int, int]]) -> list[str]:
    """Which entries of a matrix may differ from zero, a row for each name, in groups of columns."""
    return [
        f"{name}  " + " | ".join("".join(".x"[int(x)] for x in row[k:end]) for k, end in columns)
        for name, row in zip(names, pattern, strict=True)
    ]
