# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Robots of the zoo stand and take a push, each from its imported file and a short tasks file.

What the public files leave out is added: that Digit's torso floats, where feet touch the ground,
and which joints of Mini Cheetah have motors. Cassie's leaf springs, which the file leaves almost
undamped, are taken for rigid.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from support.zoo.models import FOLDER

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate
from uk_dynamics.cli.main import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="the zoo of public models is not next to the repository"
    ),
]
PERIOD = 0.002  # s
FREQUENCY = 1.5  # Hz, of the feedback

DIGIT = """
contacts: {right_sole: {}, left_sole: {}}
defaults: {stabilization: {frequency: 1.5}}
tasks:
  balance: {type: center_of_mass, axes: [x, y, z], reference: {type: constant, value: [0, 0, 0.5]}}
  upright: {type: frame, axes: [rx, ry, rz], parent: {link: world}, child: {link: torso}}
  right_place: {type: frame, axes: [x, y, z, rx, ry, rz], parent: {link: world},
    child: {link: foot}, while_lifted: right_sole,
    reference: {type: constant, value: [0, -0.075, 0, 0, 0, 0]}}
  left_place: {type: frame, axes: [x, y, z, rx, ry, rz], parent: {link: world},
    child: {link: foot_left}, while_lifted: left_sole,
    reference: {type: constant, value: [0, 0.075, 0, 0, 0, 0]}}
"""
CHEETAH = """
contacts: {FR_foot: {}, FL_foot: {}, HR_foot: {}, HL_foot: {}}
defaults: {stabilization: {frequency: 1.5}}
tasks:
  balance: {type: center_of_mass, axes: [x, y, z], reference: {type: constant, value: [0, 0, 0.34]}}
  upright: {type: frame, axes: [rx, ry, rz], parent: {link: world}, child: {link: Floating Base}}
"""
CASSIE = """
contacts: {left_sole: {}, right_sole: {}}
defaults: {stabilization: {frequency: 1.5}}
tasks:
  balance: {type: center_of_mass, axes: [x, y, z], reference: {type: constant, value: [0, 0, 0.85]}}
  upright: {type: frame, axes: [rx, ry, rz], parent: {link: world}, child: {link: cassie-pelvis}}
  left_place: {type: frame, axes: [x, y, z, ry, rz], parent: {link: world}, child: LEFT,
    while_lifted: left_sole, reference: {type: constant, value: [0, 0.135, 0, 0, 0]}}
  right_place: {type: frame, axes: [x, y, z, ry, rz], parent: {link: world}, child: RIGHT,
    while_lifted: right_sole, reference: {type: constant, value: [0, -0.135, 0, 0, 0]}}
"""
LEGS = "FR", "FL", "HR", "HL"
HOME = {"hip-pitch": 0.497301, "knee": -1.1997, "tarsus": 1.42671, "foot": -1.59681}  # rad
HOME |= {"foot-crank": -1.52439, "plantar-rod": 1.50645}
GROUND = {"parent": {"link": "world"}, "friction": 0.7}


def stands_and_takes(
    data: dict[str, Any], tasks: str, start: State, trunk: str, force: float
) -> None:
    """It stands for 0.2 s, is pushed to its left for 0.1 s, and has come back 0.9 s later."""
    machine = Mechanism.from_data(data)
    law = ServoController(
        machine, Tasks.from_data(yaml.safe_load(tasks), machine), control_period=PERIOD
    )
    push = {"type": "wrench", "frame": {"link": trunk}, "force": [0, force, 0]}
    pushed = Mechanism.from_data(data | {"forces": {"push": push}})
    options: dict[str, Any] = {"controller": law, "control_period": PERIOD, "method": "moreau"}
    stood = simulate(machine, start, 0.2, **options)
    assert np.abs(stood.tracking_error[:, :6]).max() < 5e-3  # m or rad: where it is put
    first = simulate(pushed, State(0.2, stood.q[-1], stood.v[-1]), 0.1, **options)
    then = simulate(machine, State(0.3, first.q[-1], first.v[-1]), 0.9, **options)
    speed = 0.1 * force / machine.model.total_mass  # m/s, that the push alone gives
    aside = max(np.abs(run.tracking_error[:, 1]).max() for run in (first, then))
    # feedback with critical damping stops it after v/(e ω), or later where soles limit it
    omega = 2.0 * np.pi * FREQUENCY
    assert 0.8 * speed / (np.e * omega) < aside < 2.0 * speed / (np.e * omega)
    # m or rad: e^{-ωt}(1 + ωt) = 2e-3 of what it had
    assert np.abs(then.tracking_error[-1, :6]).max() < 5e-3


def test_digit(tmp_path: Path) -> None:
    source = FOLDER / "gepetto_digit_like_2legs" / "robot.yaml"
    assert main(["import", str(source), "--out", str(tmp_path)]) == 0
    (file,) = tmp_path.glob("*.yaml")
    data: dict[str, Any] = yaml.safe_load(file.read_text())
    data["model"] |= {"urdf": str(tmp_path / data["model"]["urdf"]), "root": "floating"}
    data["model"]["length"] = 0.1
    ends = {
        f"{x}_{y}": [0.08 if x == "toe" else -0.08, 0.04 if y == "left" else -0.04, 0]
        for x in ("toe", "heel")
        for y in ("left", "right")
    }
    data["contacts"] = {
        "right_sole": GROUND | {"child": {"link": "foot"}, "points": ends},
        "left_sole": GROUND | {"child": {"link": "foot_left"}, "points": ends},
    }
    data["initial_guess"] = {"root.x": 0.3, "root.z": 0.6}
    for motor in data["actuators"].values():
        motor["effort_limit"] = 100.0  # N m; the file has none
    machine = Mechanism.from_data(data)
    start = machine.start(tasks=Tasks.from_data(yaml.safe_load(DIGIT), machine))
    stands_and_takes(data, DIGIT, start, "torso", 40.0)


def test_mini_cheetah() -> None:
    joints = (
        ("abad", "torso_to_{}_abad_j"),
        ("hip", "{}_abad_to_hip_j"),
        ("knee", "{}_hip_to_knee_j"),
    )
    data: dict[str, Any] = {
        "model": {"urdf": str(FOLDER / "urdfplus_mini_cheetah/mini_cheetah.urdf"), "length": 0.1},
        "actuators": {
            f"{leg}_{name}": {"joint": joint.format(leg), "effort_limit": 18.0}
            for leg in LEGS
            for name, joint in joints
        },
        "contacts": {
            f"{leg}_foot": GROUND | {"child": {"link": f"{leg}_knee_link", "xyz": [0, 0, -0.195]}}
            for leg in LEGS
        },
    }
    machine = Mechanism.from_data(data)
    bent = {f"{leg}_abad_to_hip_j": 0.5 for leg in LEGS}
    bent |= {f"{leg}_hip_to_knee_j": -1.0 for leg in LEGS}  # the file's rotors turn no further
    q, v = machine.assemble(**bent), np.zeros(machine.model.nv)
    place, rotation = machine.pose("FR_knee_link", q)
    pose = machine.model.bases[0].pose(q)
    pose[2] -= (place + rotation @ [0, 0, -0.195])[2]  # onto its feet
    pose[0] -= 0.0048  # m: the centre of mass above the origin
    machine.model.bases[0].place(q, v, pose, np.zeros(6))
    stands_and_takes(data, CHEETAH, State(0.0, q, v), "Floating Base", 40.0)


def test_cassie(tmp_path: Path) -> None:
    source = FOLDER / "mjcf_cassie" / "cassie.xml"
    assert main(["import", str(source), "--out", str(tmp_path)]) == 0
    (file,) = tmp_path.glob("*.yaml")
    data: dict[str, Any] = yaml.safe_load(file.read_text())
    data["model"] |= {"urdf": str(tmp_path / data["model"]["urdf"]), "length": 0.1}
    front, back = np.array([-0.052821, 0.092622, 0.0]), np.array([0.069746, -0.010224, 0.0])  # m
    ahead = (front - back) / np.linalg.norm(front - back)  # in axes of the foot
    tasks = CASSIE
    data["contacts"] = {}
    y = np.array([0.0, 0.0, -1.0])  # to the left
    for side in ("left", "right"):
        turn = np.column_stack([ahead, y, np.cross(ahead, y)])
        frame = {"link": f"{side}-foot", "xyz": (0.5 * (front + back)).tolist()}
        frame["rpy"] = Rotation.from_matrix(turn).as_euler("xyz").tolist()
        tasks = tasks.replace(side.upper(), yaml.safe_dump(frame, default_flow_style=True).strip())
        data["contacts"][f"{side}_sole"] = GROUND | {
            "child": {"link": f"{side}-foot"},
            "points": {"front": front.tolist(), "back": back.tolist()},
        }
        data["constraints"] |= {
            f"{side}_{spring}_rigid": {"type": "joint", "joint": f"{side}-{joint}"}
            for spring, joint in (("shin", "shin"), ("heel", "heel-spring"))
        }
        # of the file's keyframe
        data["initial_guess"] |= {f"{side}-{joint}": angle for joint, angle in HOME.items()}
    machine = Mechanism.from_data(data)
    start = machine.start(tasks=Tasks.from_data(yaml.safe_load(tasks), machine))
    stands_and_takes(data, tasks, start, "cassie-pelvis", 40.0)
