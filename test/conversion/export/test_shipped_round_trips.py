# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every shipped mechanism in every format and back: same accelerations, losses as listed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.exported import read_again, same_accelerations, without_losses, written
from support.repository import ROOT

from uk_dynamics.conversion import FORMATS, export_mechanism
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files

EVERY = FORMATS
URDF = ("urdf-constraint", "urdf+", "gepetto")
ALL_BUT_MJCF = ("sdf", *URDF)
EXAMPLES = ("ankle", "delta", "excavator", "gripper", "two_arms")

ROWS = "type {} has no counterpart: its rows are missing"
START = {"initial_velocity: velocities at the start": EVERY}


# What each loses, by the formats that lose it, besides the velocity limits in MJCF, gravity in SDF,
# and the initial guess in URDF.
def line_springs(*names: str) -> dict[str, tuple[str, ...]]:
    """Springs between frames, which MJCF has as tendons."""
    return {f"force {name}: SDF has no force of type line_spring": ("sdf",) for name in names} | {
        f"force {name}: URDF has no forces": URDF for name in names
    }


LOSSES: dict[str, dict[str, tuple[str, ...]]] = {
    "simple_pendulum": {f"constraint rod: {ROWS.format('distance')}": ALL_BUT_MJCF},
    "n_four_bar": {},
    "andrews_squeezer": line_springs("spring"),
    "bricard": {},
    "flyball_governor": line_springs("left_rod", "right_rod"),
    "diagonal_spring": line_springs("spring"),
    "coordinated_robots": {},
    "differential_drive": {
        f"constraint {wheel}_contact: {ROWS.format('no_slip')}": EVERY
        for wheel in ("left", "right", "caster")
    },
    "dual_panda": {
        "meshes link0.dae, link1.dae, link2.dae, link3.dae, link4.dae, link5.dae, link6.dae,"
        " link7.dae, hand.dae, finger.dae: not drawn; MuJoCo reads STL, OBJ and MSH": ("mjcf",)
    },
    "excavator": {},
    "five_bar": {},
    "five_bar_asymmetric": {},
    "five_bar_maximal": {},
    "five_bar_maximal_asymmetric": {},
    "flexible_joint_arm": START | {"joints q2, q4: spring": URDF},
    "flexible_joint_arm_with_rotors": START
    | {
        f"force {s}_spring: SDF has no force of type joint_spring": ("sdf",)
        for s in ("upper", "lower")
    }
    | {f"force {s}_spring: URDF has no forces": URDF for s in ("upper", "lower")},
    "four_bar": {},
    "landing_leg": {
        "constraint foot: is off at the start: not written": ALL_BUT_MJCF,
        "joints hip, knee: spring": URDF,
    },
    "landing_leg_contact": {
        "contact or stop foot: it is missing": ALL_BUT_MJCF,
        "joints hip, knee: spring": URDF,
    },
    "loop_ladder": {},
    "parallel_2dof": {},
    "rolling_disc": START | {f"constraint contact: {ROWS.format('no_slip')}": EVERY},
    "rrr3": START,
    "rrr3_modular": START
    | {
        "constraints elbow_a, elbow_b, elbow_c, pin_a, pin_b, pin_c: level": EVERY,
        "solver: its settings: the reader's own": EVERY,
    },
    "skate": START | {f"constraint blade: {ROWS.format('no_slip')}": EVERY},
    "slider_crank": {"joint crank: armature": ALL_BUT_MJCF},
    "spiral_particle": {
        f"constraint {name}: {ROWS.format('expression')}": EVERY for name in ("spiral", "drive")
    },
    "stewart_platform": {
        "joints leg_1_slide, leg_2_slide, leg_3_slide, leg_4_slide, leg_5_slide, leg_6_slide:"
        " armature": ALL_BUT_MJCF
    },
    "swarm": {f"constraint swarm: {ROWS.format('expression')}": EVERY},
    "two_mass_spring": {
        "force spring: SDF has no force of type joint_spring": ("sdf",),
        "force spring: URDF has no forces": URDF,
    },
    "examples/ankle": {
        f"force ground_{axis}: {format_} has no force of type expression": (format_.lower(),)
        for axis in ("pitch", "roll")
        for format_ in ("SDF", "MJCF")
    }
    | {f"force ground_{axis}: URDF has no forces": URDF for axis in ("pitch", "roll")}
    | {"joints left_crank, right_crank: armature": ALL_BUT_MJCF},
    "examples/delta": {"joints arm_a, arm_b, arm_c: armature": ALL_BUT_MJCF},
    "examples/excavator": {
        "force soil: SDF has no force of type line_spring": ("sdf",),
        "force soil: URDF has no forces": URDF,
    },
    "examples/gripper": {
        "force block: SDF has no force of type expression": ("sdf",),
        "force block: MJCF has no force of type expression": ("mjcf",),
        "force block: URDF has no forces": URDF,
        "joint left_crank: armature": ALL_BUT_MJCF,
    },
    "examples/two_arms": {},
}


def test_every_shipped_mechanism_is_here():
    assert {*shipped_files("mechanism"), *(f"examples/{name}" for name in EXAMPLES)} == {*LOSSES}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_round_trip(name, tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
    file = ROOT / name / f"{Path(name).name}.yaml" if "/" in name else name
    machine = Mechanism.from_file(file)
    for to in FORMATS:
        export = export_mechanism(machine, to)
        found = [f"{remark.subject}: {remark.reason}" for remark in export.remarks if remark.lost]
        expected = [line for line, formats in LOSSES[name].items() if to in formats]
        assert sorted(found) == sorted(expected + general_losses(machine, to)), to
        folder = tmp_path / to
        folder.mkdir()
        path = written(export, folder)
        for text in export.texts.values():
            assert all(line.partition(":")[0] in " ".join(text.split()) for line in expected)
        again = read_again(path)
        same_accelerations(without_losses(machine, export), again, export)
        same_motors(machine, again, to)


def general_losses(machine, to):
    """What a format never says."""
    lost = []
    gravity = ", ".join(f"{value:g}" for value in machine.model.gravity)
    if to == "sdf":
        lost.append(f"gravity: ({gravity}) m/s²: a model has none; the world has to have it")
    elif to == "mjcf":
        fast = [
            joint.name
            for joint in machine.model.description.joints
            if math.isfinite(joint.velocity_limit)
        ]
        lost.append(f"joint{'s' * (len(fast) > 1)} {', '.join(fast)}: velocity limit")
    else:
        if machine.model.gravity[2] != -9.81:
            lost.append(f"gravity: ({gravity}) m/s²: URDF has none")
        if any(position for _, position in machine.spec.initial_guess):
            lost.append("initial_guess: where the loops close")
    return lost


def same_motors(machine, again, to):
    """The same columns, at least up to a factor, and limits where the format has them."""
    ours, theirs = machine.actuators, again.actuators
    assert len(theirs) == len(ours)
    rows = [again.model.velocity_index(name) for name in machine.model.velocity_names]
    for column, limit in zip(ours.matrix.T, ours.effort_limits, strict=True):
        driven = [np.flatnonzero(other[rows]).tolist() for other in theirs.matrix.T]
        match = driven.index(np.flatnonzero(column).tolist())
        assert theirs.effort_limits[match] == pytest.approx(limit, rel=1e-15), to
        if to == "mjcf":
            np.testing.assert_array_equal(theirs.matrix[rows, match], column)
