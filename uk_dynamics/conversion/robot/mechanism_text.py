# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The two files of an imported robot."""

from __future__ import annotations

from collections.abc import Iterator

from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.robot.yaml_layout import comment, entry, flow, short_entry


def mechanism_text(robot: ImportedRobot, source: str, urdf: str) -> str:
    """The mechanism file."""
    return "\n".join(_lines(robot, source, urdf)) + "\n"


def _lines(robot: ImportedRobot, source: str, urdf: str) -> Iterator[str]:
    yield from comment(f"Imported from {source}.")
    for lost, title in ((True, "Not carried over:"), (False, "In another form:")):
        remarks = [remark for remark in robot.remarks if remark.lost == lost]
        if remarks:
            yield f"# {title}"
        for remark in remarks:
            for number, line in enumerate(comment(f"{remark.subject}: {remark.reason}")):
                yield line.replace("# ", "# - " if number == 0 else "#   ", 1)
    yield "schema: 1"
    yield "model:"
    yield f"  urdf: {flow(urdf)}"
    yield f"  gravity: {flow([float(value) for value in robot.gravity])}"
    if robot.root != "fixed":
        yield f"  root: {robot.root}"
    if robot.joint_data:
        yield "joints:"
        yield from (short_entry(name, data) for name, data in robot.joint_data.items())
    if robot.actuators:
        yield "actuators:"
        for name, data in robot.actuators.items():
            yield short_entry(name, data, remark=robot.guesses.get(name, ""))
    if robot.forces:
        yield "forces:"
        for name, data in robot.forces.items():
            yield from entry(name, data)
    if robot.initial_guess:
        yield "initial_guess:"
        yield from (short_entry(name, value) for name, value in robot.initial_guess.items())
    if robot.solver:
        yield f"solver: {flow(robot.solver)}"
    if robot.constraints:
        yield "constraints:"
        for name, data in robot.constraints.items():
            yield from entry(name, data)
