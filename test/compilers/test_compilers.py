# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One cell of the matrix of compilers in every run; ``make test-compilers`` has all of them."""

from __future__ import annotations

import pytest
from compilers.cells import Cell, can_run, cells, processors
from compilers.questions import questions
from compilers.verdict import Call, reference, verdicts

from uk_dynamics.compilation.build.compiler import find_compiler

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C compiler")


@pytest.mark.slow
def test_code_for_an_unknown_processor_with_avx512_is_right_at_the_first_level() -> None:
    """Compilers fold constants there that they keep elsewhere: -0.0 as a mask was 0.0."""
    assert compiler is not None
    runs = [name for name in processors() if name != "native" and can_run(name)]
    wanted = "skylake-avx512" if "skylake-avx512" in runs else (runs or ["native"])[-1]
    cell = Cell(compiler.command[0], "-O1", wanted, generic=wanted != "native")
    asked = [x for x in questions() if x.name.startswith(("functions", "state, j", "batch"))]
    assert len(asked) > 4
    (found,) = verdicts([Call(cell.cc, run=True)], asked, reference(asked))
    assert not found.wrong
    assert set(found.differences) == {question.name for question in asked}


@pytest.mark.slow
def test_a_compiler_that_makes_something_else_is_found(tmp_path) -> None:
    """And one that fails, and code that ends the process."""
    assert compiler is not None
    for name, sine in {
        "wrong": "1.000001 * __builtin_sin(x)",
        "ends": "__builtin_trap(), x",
    }.items():
        text = f"#include <math.h>\n#define sin(x) ({sine})\n"
        (tmp_path / f"{name}.h").write_text(text)
    program = " ".join(compiler.command)
    asked = [x for x in questions() if x.name == "state, joint forces"]
    calls = [
        Call(f"{program} -O1", run=True),
        Call(f"{program} -O1 -include {tmp_path}/wrong.h", run=True),
        Call(f"{program} -O1 -no-such-option", run=True),
        Call(f"{program} -O1 -include {tmp_path}/ends.h", run=True),
    ]
    found = {one.cc: str(one.wrong) for one in verdicts(calls, asked, reference(asked))}
    right, differs, fails, crashes = (found[call.cc] for call in calls)
    assert right == "{}"
    assert "is off by" in differs  # as it is verified when it is loaded
    assert "no-such-option" in fails
    assert "ended with -" in crashes


def test_the_reduced_matrix_is_part_of_the_whole_one() -> None:
    whole = set(cells(["gcc", "clang"]))
    reduced = set(cells(["gcc", "clang"], reduced=True))
    assert reduced < whole
    assert len({cell.level for cell in reduced}) == 3
    for cell in whole:
        assert cell.processor == "native" or cell.processor in processors()
