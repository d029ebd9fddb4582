# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes that are started without a launch file do not wait for others in shared memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from support.nodes.node_process import NodeProcess, node_command

from uk_dynamics.ros.process.udp_transport import udp_environment

pytestmark = pytest.mark.ros

LOCAL = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
UDP = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"}  # rmw_fastrtps adds shared memory within LOCALHOST
DEFAULT = {"FASTDDS_BUILTIN_TRANSPORTS": "DEFAULT"}


@pytest.mark.parametrize(
    ("given", "shared"),
    [(LOCAL, False), (LOCAL | UDP, False), ({}, False), (DEFAULT, True)],
    ids=["localhost", "localhost, UDP chosen", "subnet", "chosen"],
)
def test_a_node_has_no_shared_memory_unless_it_is_chosen(
    given: dict[str, str], shared: bool, tmp_path: Path
) -> None:
    left_out = ("PROFILES_FILE", "DISCOVERY_RANGE", "BUILTIN_TRANSPORTS")
    env = {k: v for k, v in os.environ.items() if not k.endswith(left_out)} | given
    parameters = {"mechanism": "four_bar"}
    command = node_command("command_watchdog", directory=tmp_path, parameters=parameters)
    node = NodeProcess(command, tmp_path / "log", env=env)
    try:
        node.wait_for_output("waiting for a heartbeat")
        maps = Path(f"/proc/{node.pid}/maps").read_text(encoding="utf-8")
        assert ("/dev/shm/fastrtps" in maps) is shared
    finally:
        assert node.end()


@pytest.mark.parametrize(
    "chosen",
    [
        {"FASTDDS_BUILTIN_TRANSPORTS": "SHM"},
        {"FASTRTPS_DEFAULT_PROFILES_FILE": "mine.xml"},
        {"ROS_STATIC_PEERS": "10.0.0.2"},
        {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"},
    ],
)
def test_what_a_user_has_chosen_holds(chosen: dict[str, str]) -> None:
    assert udp_environment({**LOCAL, **chosen}) == {}
    assert udp_environment(LOCAL)["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SYSTEM_DEFAULT"
