# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The page about expressions: its files load, its errors are what is said."""

from __future__ import annotations

import re

import pytest
from support import mechanism_builder
from support.mechanism_builder import joint, link
from support.repository import DOCS

from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
from uk_dynamics.exceptions import ExpressionValueError, InputError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism

PAGE = (DOCS / "expressions.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
NAMES = ("x", "y", "r", "theta", "arm/joint-1", "arm/joint-2")
ROBOTS = tuple(f"{axis}_{robot}" for robot in (1, 2, 3) for axis in "xy")
PARTS = link("base") + "".join(
    link(f"l_{n}") + joint(name, "base", f"l_{n}", kind="prismatic")
    for n, name in enumerate(NAMES + ROBOTS)
)


def machine(text: str) -> Mechanism:
    spec = MechanismSpec.from_text(f"schema: 1\n{text}", file="five_bar.yaml")
    return Mechanism.from_spec(spec, robot_description=f'<robot name="test">{PARTS}</robot>')


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split()[1])
def test_every_file_on_the_page_loads(block: str) -> None:
    if block.startswith("tasks:"):
        tasks = Tasks(
            TasksSpec.from_text(f"schema: 1\n{block}"), mechanism_builder.mechanism(PARTS)
        )
        assert tasks.row_names == ("circle.1", "circle.2")
        assert tasks.sample(0.0) is not None
        return
    constraints = machine(block).constraints
    assert len(constraints) >= 1
    if "rods" in constraints.names:
        assert constraints.row_names[:3] == ("swarm.x_1", "swarm.y_1", "swarm.x_2")
        assert constraints.row_names[-2:] == ("rods.1_2", "rods.2_3")


def test_the_page_names_every_function() -> None:
    smooth = [name for name, function in FUNCTIONS.items() if function.smooth]
    assert f"`{' '.join(smooth)}`" in PAGE
    for name, function in FUNCTIONS.items():
        assert function.smooth or f"`{name}`" in PAGE


def test_the_errors_on_the_page_are_those_that_come() -> None:
    wrong, valueless = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    with pytest.raises(InputError) as caught:
        machine("constraints: {c: {type: expression, expression: x - 2*sine(y)}}")
    assert str(caught.value) == wrong
    mechanism = machine("constraints: {c: {type: expression, expression: y - log(x)}}")
    with pytest.raises(ExpressionValueError) as met:
        mechanism.terms(mechanism.state({"x": -0.01}, t=1.25))
    assert str(met.value) == valueless
