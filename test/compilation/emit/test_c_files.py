# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files of C are files of C: each compiles alone, next to the headers of a mechanism."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from support.mechanism_builder import clustered, shipped

import uk_dynamics as ukd
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.build.library import RECIPES, Library, Recipe
from uk_dynamics.compilation.emit.c_text import assemble, header, headers
from uk_dynamics.compilation.emit.completion_source import (
    completion_declarations,
    completion_definitions,
)
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.conversion.controller_package.parts import loop_tables
from uk_dynamics.mechanism.tasks import Tasks

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C compiler on this machine")

FOLDER = Path(import_module("uk_dynamics.compilation").__file__ or "").parent / "c"
OF_TASKS = (Library.SERVO, Library.EFFORTS, Library.CLOSED_LOOPS)


def written(kind: Library, recipe: Recipe, machine: str) -> str:
    """What a generator writes, before files are put together."""
    mechanism = clustered(shipped("five_bar")) if machine == "clusters" else shipped(machine)
    if machine == "landing_leg":
        foot = {"parent": {"link": "ground"}, "child": {"link": "shank"}}
        data = {"model": {"urdf": URDF}, "contacts": {"foot": foot}}
        mechanism = ukd.Mechanism.from_data(data)
    module, _, name = recipe.source.partition(".")
    write = getattr(import_module(f"uk_dynamics.compilation.emit.{module}"), name)
    if kind is Library.ENCODERS:
        return str(write(mechanism, loop_tables(StateCompletion(mechanism))))
    if kind not in OF_TASKS:
        return str(write(mechanism))
    return str(write(Tasks.from_file("five_bar_sweep", mechanism)))


def preprocessed(text: str, folder: Path, *options: str) -> str:
    """What the compiler says of a text."""
    assert compiler is not None
    command = [*compiler.command, "-std=gnu11", "-Werror=implicit", *options, "-x", "c", "-"]
    done = subprocess.run(
        [*command, f"-I{FOLDER}", f"-I{folder}"], input=text, capture_output=True, text=True
    )
    return done.stdout + done.stderr * bool(done.returncode)


URDF = "package://uk_dynamics/urdf/landing_leg.urdf.xacro"
CASES = [
    (Library.STATE, RECIPES[Library.STATE][0], "landing_leg"),  # with contacts
    *((kind, dense, "five_bar") for kind, (dense, _) in RECIPES.items()),
    *((kind, clusters, "clusters") for kind, (_, clusters) in RECIPES.items() if clusters),
]


# With contacts, derivatives of a law, a law in lanes, and clusters: most files are in one of them.
OFTEN = (
    CASES[0],
    *((kind, RECIPES[kind][0], "five_bar") for kind in (Library.EFFORTS, Library.CLOSED_LOOPS)),
    (Library.BATCH, RECIPES[Library.BATCH][1], "clusters"),
)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            marks=[] if case in OFTEN else [pytest.mark.slow],
            id=f"{case[0].name.lower()}-{case[2]}",
        )
        for case in CASES
    ],
)
def test_every_file_of_a_library_compiles_alone(
    case: tuple[Library, Recipe, str], tmp_path: Path
) -> None:
    text = written(*case)
    assert files_that_compile_alone(text, tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].name.lower()}-{c[2]}")
def test_a_library_compiles_as_one_file(case: tuple[Library, Recipe, str], tmp_path: Path) -> None:
    """A file that is first included under a condition would be missing where that is false."""
    assert not preprocessed(assemble(written(*case)), tmp_path, "-fsyntax-only")


def test_the_files_of_the_estimation_compile_alone(tmp_path: Path) -> None:
    machine = shipped("five_bar")
    tables = loop_tables(StateCompletion(machine, singular_tolerance=1e-3))
    sizes = header("uk_mechanism.h", f"#define UK_NV {machine.model.nv}")
    definitions = completion_definitions(trace(machine), tables)
    text = "\n".join([sizes, config(), completion_declarations(tables), definitions])
    assert "completion.c" in files_that_compile_alone(text, tmp_path)


def files_that_compile_alone(text: str, folder: Path) -> list[str]:
    """Files of a library, next to its headers; one that does not compile is a failure."""
    for name, content in headers(text).items():
        (folder / name).write_text(content)
    included = re.findall(rf"{re.escape(str(FOLDER))}/(\S+)", preprocessed(text, folder, "-MM"))
    faults = {
        name: preprocessed(f'#include "{name}"\n', folder, "-fsyntax-only") for name in included
    }
    assert not any(faults.values()), "\n".join(faults.values())
    return included


def test_a_file_stands_once_in_what_is_put_together() -> None:
    text = assemble(written(Library.STATE, RECIPES[Library.STATE][0], "five_bar"))
    assert text.count("static inline void uk_lanes_whiten(") == 1
    assert not re.findall(r'#include "|#pragma (once|uk)', text)


def test_every_name_has_one_meaning() -> None:
    """Macros with values, which in another file would silently be others."""
    homes: dict[str, set[str]] = {}
    for file in sorted(FOLDER.iterdir()):
        for name, value in re.findall(
            r"^#define (UK_\w+) (.+?)(?: *//.*| */\*.*)?$", file.read_text(), re.M
        ):
            homes.setdefault(name, set()).add(value.strip())
    twice = {name: values for name, values in homes.items() if len(values) > 1}
    by_processor = {"UK_WIDTH"}
    by_case = {"UK_EXPORT", "UK_OF_BATCHES", "UK_APART", "UK_INLINE", "UK_OPTIONAL", "UK_PIECE"}
    by_case |= {"UK_EVALUATION"}
    by_kind = {"UK_BASIS_ROWS"}
    assert twice.keys() <= by_processor | by_case | by_kind, twice
