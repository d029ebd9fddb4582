# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""No number is written in two languages: C and C++ templates have those of Python from Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from support.repository import ROOT

PACKAGE = ROOT / "uk_dynamics"
PLACES = (
    *sorted((PACKAGE / "compilation" / "c").glob("*.[ch]")),
    *sorted((PACKAGE / "conversion" / "controller_package" / "templates").glob("*pp.in")),
)
# Numbers that are of one value with a constant of Python and of another meaning: file, number.
OTHERS = {
    ("adaptive.c", 1e-15),  # first steps and step sizes of SciPy's solve_ivp
    ("adaptive.c", 1e-5),
    ("adaptive.c", 1e-6),
    ("adaptive.c", 1e-3),
    ("adaptive.c", 0.01),
    ("adaptive.c", 0.2),
    ("dormand_prince.h", 0.1),  # coefficients of the method
    ("dormand_prince.h", 0.2),
    ("lanes.c", 1e12),  # largest angle
    ("pivoted_law.c", 1e-300),  # keeps quotients finite
    ("loop_transmission.hpp.in", 1e-6),  # least pivot
    ("closed_loop_controller.cpp.in", 1e-9),  # s in a ns
    ("test_closed_loop_controller.cpp.in", 1e9),  # ns in a s
}


def of_python() -> dict[float, str]:
    """Floats of module constants that are no round numbers, with where one is."""
    found = {}
    for layer in ("core", "model", "constraints", "forces", "mechanism", "simulation", "control"):
        for file in sorted((PACKAGE / layer).rglob("*.py")):
            for statement in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(statement, ast.Assign):
                    for node in ast.walk(statement.value):
                        if isinstance(node, ast.Constant) and isinstance(node.value, float):
                            found[node.value] = f"{file.name}:{statement.lineno}"
    return {x: place for x, place in found.items() if is_particular(x)}


def is_particular(x: float) -> bool:
    """Whether a number is a choice: not a whole one, a half, a third or the like, or a tenth."""
    return (0.0 < abs(x) < 0.5 and x != 0.25) or abs(x) >= 1e4


def of_c() -> Iterator[tuple[str, float, str]]:
    for file in PLACES:
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        for line in text.splitlines():
            for number in re.findall(
                r"(?<![\w.])\d+\.\d*(?:e[-+]?\d+)?|(?<![\w.])\d+e[-+]?\d+", line
            ):
                yield file.name, float(number), line.strip()


def test_no_number_of_python_is_typed_again_in_c() -> None:
    python = of_python()
    again = [
        f"{file}: {line} has the number of {python[x]}"
        for file, x, line in of_c()
        if x in python and (file, x) not in OTHERS
    ]
    assert not again, "\n".join(again)


def test_defined_numbers_of_c_are_its_own() -> None:
    """A #define with a number of one's own choice in C, by name: what Python lacks."""
    own = {"UK_SURE", "UK_LITTLE", "UK_PARALLEL", "UK_TURN"}
    defined = {
        found[1]
        for file in PLACES
        for found in re.finditer(r"#define (\w+) \(?(?:\d*\.\d|\d+e)", file.read_text())
    }
    assert defined <= own
