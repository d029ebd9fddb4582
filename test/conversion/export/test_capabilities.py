# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The table of what formats can say, cell by cell: what it has arrives, the rest is listed."""

from __future__ import annotations

import pytest
from support.exported import read_again, same_accelerations, without_losses, written
from support.mechanism_builder import joint, link, mechanism

from docs.generators.export_capabilities import COLUMNS, CONSTRAINTS, OTHERS
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.conversion import FORMATS, export_mechanism

AXES = ("0 0 1", "0 1 0", "1 0 0", "0 1 0", "0.6 0 0.8", "0 0 1")
TIP = "[1.25, 0.12, 0.3]"  # where the frames meet, all joints at zero: in the base, and in the tip
OWN = "[0.05, 0.0, -0.1]"
ENDS = f"parent: {{link: base, xyz: {TIP}}}, child: {{link: tip, xyz: {OWN}}}"
LIMITED = '<limit lower="-0.5" upper="0.7" effort="9" velocity="{}"/>'


def robot(limit: str = "", visual: str = "") -> str:
    """Seven joints in a row, one of them sliding, and two beside them on the base."""
    names = ["base", *(f"l{number}" for number in range(1, 7)), "tip"]
    parts = link("base")
    for number, axis in enumerate(AXES, start=1):
        name, kind = f"j{number}", "revolute" if limit and number == 1 else "continuous"
        parts += link(names[number], com="0.1 0.02 0", inertia=0.05 * number).replace(
            "</link>", f"{visual}</link>" if number == 1 else "</link>"
        )
        parts += joint(
            name, names[number - 1], names[number], axis=axis, xyz="0.2 0.02 0", kind=kind
        )
    parts = parts.replace('<limit lower="-9.0" upper="9.0" effort="100" velocity="100"/>', limit)
    parts += link("tip", com="0 0 0.1") + sliding("slide", "l6", "tip", "0 0 0.4")
    parts += link("wheel") + joint("wheel_turn", "base", "wheel", axis="0 0 1", xyz="0 1 0")
    return parts + link("rack") + sliding("rack_slide", "base", "rack", "0 2 0")


def sliding(name: str, parent: str, child: str, xyz: str) -> str:
    """A joint that slides without limits that matter, and at any speed."""
    text = joint(name, parent, child, kind="prismatic", axis="1 0 0", xyz=xyz)
    return text.replace('velocity="100"', 'velocity="1e9"').replace("9.0", "1e9")


def held(text: str) -> str:
    return f"constraints:\n  held: {{{text}}}\n"


def joined(kind: str, keys: str = "") -> str:
    return held(f"type: {kind}, {keys}{', ' * bool(keys)}{ENDS}")


SPRING = "stiffness: 30.0, damping: 0.4"
# By row of the table: part of a mechanism file, and the subject of what is lost of it
PROBES = {
    "point": joined("point"),
    "hinge": joined("hinge", "axis: [1, 2, 2]"),
    "weld": joined("weld"),
    "prismatic": joined("prismatic", "axis: [1, 2, 2]"),
    "cylindrical": joined("cylindrical", "axis: [1, 2, 2]"),
    "planar": joined("planar", "axis: [1, 2, 2]"),
    "screw": joined("screw", "axis: [1, 2, 2], pitch: -0.3"),
    "universal": joined("universal", "parent_axis: [0, 1, 0], child_axis: [0.6, 0, 0.8]"),
    "distance": held(
        "type: distance, distance: 1.2, parent: {link: base}, child: {link: tip, xyz: [0, 0.1, 0]}"
    ),
    "joint": held("type: joint, joint: j2, reference: {type: constant, value: 0.2}"),
    "joint_coupling": held("type: joint_coupling, joints: {wheel_turn: 2, j1: -3}"),
    "joint_coupling of three joints": held(
        "type: joint_coupling, joints: {j1: 2, j3: -1, slide: 0.5}, offset: 0.1"
    ),
    "rack_and_pinion": held("type: rack_and_pinion, pinion: j1, rack: rack_slide, radius: 0.2"),
    "a constraint that is off at the start": joined("point", "switchable: true, active: false"),
    "frame_velocity": joined("frame_velocity", "axes: [x, rz]"),
    "no_slip": held("type: no_slip, radius: 0.1, parent: {link: base}, child: {link: wheel}"),
    "relative_frame": held(
        "type: relative_frame, axes: [y, ry], parent: {link: l1, xyz: [1.05, 0.1, 0.3]},"
        f" child: {{link: tip, xyz: {OWN}}}"
    ),
    "center_of_mass": held("type: center_of_mass, axes: [y]"),
    "momentum": held("type: momentum, axes: [y, rz]"),
    "expression": held("type: expression, expression: j1 - 0.3*j2**2"),
    "a reference that moves": held(
        "type: joint, joint: j2, reference: {type: sinusoid, amplitude: 0.1, frequency: 1}"
    ),
    "compliance": joined("point", "compliance: 0.001"),
    "friction of a constraint": joined("point", "friction: {viscous: 0.5}"),
    "damping of a joint": "joints: {j1: {damping: 0.7}, slide: {damping: 3.0}}\n",
    "dry friction of a joint": "joints: {j1: {friction: 0.7}, slide: {friction: 3.0}}\n",
    "spring of a joint": "joints: {j1: {spring: {stiffness: 30, rest: 0.2}}}\n",
    "armature": "joints: {j1: {armature: 0.2}}\n",
    "stop": "joints: {j1: {stop: {stiffness: 100, damping: 3}}}\n",
    "contact of round bodies, planes and boxes": "contacts: {it: {radius: 0.1, friction: 0.5, "
    "parent: {link: base, xyz: [0, 0, -9]}, child: {link: tip}}}\n",
    "hard stop": "joints: {j1: {stop: {hard: true}}}\n",
    "velocity limit": "",
    "motor of one joint": "actuators: {motor: {joint: j1, effort_limit: 5}}\n",
    "motor of several joints": "actuators: {motor: {joints: {j1: 1, j2: -2}}}\n",
    "power or rate limit": "actuators: {motor: {joint: j1, power_limit: 5, rate_limit: 3}}\n",
    "joint_spring": "forces: {f: {type: joint_spring, joints: {j1: 2, j3: -1}, rest: 0.2, "
    f"{SPRING}}}}}\n",
    "line_spring": f"forces: {{f: {{type: line_spring, {ENDS}, length: 0.3, {SPRING}}}}}\n",
    "effort, wrench, expression": "forces: {f: {type: effort, joints: {j1: 1}, effort: 2}}\n",
    "gravity": "model: {gravity: [1, 2, -3]}\n",
    "floating root": "model: {root: floating}\n",
    "initial_guess": "initial_guess: {j1: 0.3}\n",
    "initial_velocity": "initial_velocity: {j1: 0.3}\n",
    "stabilization, level, solver": joined("point", "level: 2, stabilization: {frequency: 3}")
    + "solver: {method: kkt}\n",
    "shapes": "",
}
SUBJECTS = {
    "contact of round bodies, planes and boxes": "contact",
    "hard stop": "contact or stop",
    "motor of one joint": "actuator",
    "motor of several joints": "actuator",
    "power or rate limit": "actuator",
    "joint_spring": "force",
    "line_spring": "force",
    "effort, wrench, expression": "force",
    "gravity": "gravity",
    "floating root": "root",
    "initial_guess": "initial_guess",
    "initial_velocity": "initial_velocity",
    "stabilization, level, solver": "constraint",
    "shapes": "visual",
} | dict.fromkeys((*CONSTRAINTS, *kinds()), "constraint")


def test_the_table_has_every_kind_and_every_row_its_probe():
    assert COLUMNS == FORMATS
    assert PROBES.keys() >= CONSTRAINTS.keys() | OTHERS.keys()
    assert PROBES.keys() - CONSTRAINTS.keys() - OTHERS.keys() <= kinds().keys()


@pytest.mark.slow
@pytest.mark.parametrize("row", PROBES)
def test_what_a_format_says_arrives_and_what_it_cannot_is_listed(row, tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
    stop = LIMITED.format("1e9")
    limit = {"velocity limit": LIMITED.format(2), "stop": stop, "hard stop": stop}.get(row, "")
    shape = '<visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual>'
    machine = mechanism(robot(limit, shape * (row == "shapes")), PROBES[row])
    for to in FORMATS:
        export = export_mechanism(machine, to)
        subject = SUBJECTS.get(row, "joint")
        lost = [remark for remark in export.remarks if remark.lost]
        about = [remark for remark in lost if remark.subject.startswith(subject)]
        says = to in {**CONSTRAINTS, **OTHERS}.get(row, {})
        assert bool(about) is not says, (to, about)
        others = [remark for remark in lost if remark not in about]
        assert {remark.subject for remark in others} <= {"gravity", "solver"}, to
        folder = tmp_path / to
        folder.mkdir()
        again = read_again(written(export, folder))
        assert not export.missing or subject.startswith(("constraint", "contact", "root"))
        if row == "floating root" and not says:
            continue  # it stands there
        same_accelerations(without_losses(machine, export), again, export)


def test_couplings_in_a_circle_are_mimic_joints_and_a_gearbox(tmp_path):
    """Three wheels geared with each other: a joint mimics one other, and none in a circle."""
    wheels = "".join(
        link(f"w{n}") + joint(f"t{n}", "base", f"w{n}", axis=axis, xyz=f"{n} 0 0")
        for n, axis in enumerate(("0 0 1", "0 0 -1", "0 0 1"), start=1)
    )
    gears = ("a: t1: 2, t2: 1", "b: t2: 3, t3: -2", "c: t1: 3, t3: 1")
    text = "".join(
        f"  {gear[0]}: {{type: joint_coupling, joints: {{{gear[3:]}}}}}\n" for gear in gears
    )
    machine = mechanism(link("base") + wheels, f"constraints:\n{text}")
    export = export_mechanism(machine, "sdf")
    assert export.texts["mechanism.sdf"].count("<mimic") == 2
    assert export.texts["mechanism.sdf"].count('type="gearbox"') == 1
    assert not export.missing
    again = read_again(written(export, tmp_path))
    assert len(again.constraints) == 3
    same_accelerations(machine, again, export)
