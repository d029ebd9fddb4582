# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The biped in MuJoCo: servo_controller keeps it on its feet over DDS; the physics is theirs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from support.nodes.ros_ears import DiagnosticsEar
from support.nodes.ros_fixtures import Ros, StartProcess
from support.repository import ROOT

from uk_dynamics.cli.main import main

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.together("biped in MuJoCo")]

FOLDER = ROOT / "examples" / "biped"
PERIOD = 0.002  # s


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MJCF, whose contacts in_mujoco.py replaces by those of the soles."""
    folder = tmp_path_factory.mktemp("mjcf")
    mechanism = str(FOLDER / "biped.yaml")
    assert main(["export", mechanism, "--format", "mjcf", "--out", str(folder)]) == 0
    return folder / "biped.xml"


def test_it_takes_half_of_the_push_that_it_takes_here(
    ros: Ros, start_node: StartProcess, start_process: StartProcess, exported: Path
) -> None:
    """100 N for 0.1 s from the side, of 200 N with our contacts, and it is back after 0.9 s."""
    node = ros.node()
    diagnostics = DiagnosticsEar(node, "servo_controller")
    start_node(
        "servo_controller",
        parameters={
            "mechanism": str(FOLDER / "biped.yaml"),
            "tasks": str(FOLDER / "stand.yaml"),
            "command_mode": "joint_state",
            "update_rate": 1.0 / PERIOD,
            "autostart": True,
            "state_timeout": 60.0,
        },
    )
    machine = start_process(
        [
            *(sys.executable, str(FOLDER / "in_mujoco.py"), str(exported)),
            *("--mechanism", str(FOLDER / "biped.yaml"), "--period", str(PERIOD)),
            *("--duration", "1.2", "--push", "100", "--at", "0.2"),
        ]
    )
    ros.until(lambda: machine.exit_code is not None, "1.2 s of motion", 300.0)
    said = machine.output
    found = re.search(r"(\w+) at 1\.200 s: ([\d.]+) mm .* ([\d.]+) mm at most", said)
    assert found is not None, said + diagnostics.message
    assert found[1] == "stands"
    # 10 N s are 0.24 m/s, which feedback of 1.5 Hz stops after v/(e ω) = 9 mm of the centre of
    # mass; MuJoCo's floor and loops give way by some mm
    assert 5.0 < float(found[3]) < 20.0
    assert float(found[2]) < 1.0
