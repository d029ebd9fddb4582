# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine is calibrated and identified from what its running nodes published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap_ros2")

from std_msgs.msg import Float64MultiArray
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros

import uk_dynamics as ukd
from uk_dynamics.cli.main import main
from uk_dynamics.conversion import updated_files
from uk_dynamics.mechanism.files import yaml_text

pytestmark = pytest.mark.ros

TRUE = {
    "constraints.rocker_pin.parent.x": 0.253,
    "joints.crank.damping": 0.02,
    "joints.crank.friction": 0.05,
}
SWING = "1.2 + 0.5*sin(3*t) + 0.25*sin(7*t)"
COMMANDS = 900  # at 200 Hz: 4.5 s


@pytest.mark.slow
@pytest.mark.retry(reason="commands in real time come late where the computer is busy")
def test_a_machine_is_calibrated_and_identified_from_its_nodes(
    ros: Ros, start_node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ukd.Mechanism.from_file("four_bar")
    for name, text in updated_files(files, TRUE, command="test", report="").items():
        (tmp_path / name).write_text(text)
    swing = {"type": "expression", "value": SWING}
    tasks = {"swing": {"type": "joint", "joint": "crank", "reference": swing}}
    (tmp_path / "swing.yaml").write_text(yaml_text({"schema": 1, "tasks": tasks}))
    machine = {"mechanism": str(tmp_path / "four_bar.yaml")}
    recording = str(tmp_path / "run.mcap")
    recorder = start_node("recorder", parameters={**machine, "file": recording})
    commands = Ear(ros.node(), Float64MultiArray, "effort_controller/commands")
    start_node("simulator", parameters={**machine, "rate": 400.0})
    controller = {"tasks": str(tmp_path / "swing.yaml"), "autostart": True, "state_timeout": 10.0}
    start_node("servo_controller", parameters={**machine, **controller, "update_rate": 200.0})
    ros.until(lambda: len(commands.messages) > COMMANDS, "a motion", 60.0)
    assert recorder.end()
    pin, *friction = TRUE
    out = tmp_path / "calibrated"
    measured = ["--measured=crank", "--measured=rocker"]
    assert (
        main(["calibrate", "four_bar", recording, *measured, f"--estimate={pin}", f"--out={out}"])
        == 0
    )
    known = ukd.Mechanism.from_file(out / "four_bar.yaml").parameters
    # encoders of the simulator have no noise
    assert known[pin].value == pytest.approx(TRUE[pin], abs=1e-5)
    capsys.readouterr()
    estimate = [f"--estimate={name}" for name in friction]
    main(["identify", str(out / "four_bar.yaml"), recording, *estimate, "--rate=100", "--json"])
    found = json.loads(capsys.readouterr().out)
    # real time on a busy computer: some commands come 50 ms late, and none says when
    damping, rubbing = (found["parameters"][name]["value"] for name in friction)
    assert rubbing == pytest.approx(TRUE[friction[1]], rel=0.4)  # 0 in the files
    assert damping > 3.0 * files.parameters[friction[0]].value
    assert found["held_out"]["relative_after"] < found["held_out"]["relative_before"]
