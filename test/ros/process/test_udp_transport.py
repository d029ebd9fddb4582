# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes that are started without a launch file do not wait for others in shared memory."""

from __future__ import annotations

import os
import socket
import statistics
import struct
import time
from itertools import pairwise
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
    [
        pytest.param(LOCAL, False, id="localhost"),
        pytest.param(LOCAL | UDP, False, id="localhost, UDP chosen", marks=pytest.mark.slow),
        pytest.param({}, False, id="subnet", marks=pytest.mark.slow),
        pytest.param(DEFAULT, True, id="chosen"),
    ],
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


@pytest.mark.slow
@pytest.mark.parametrize("given", [LOCAL, {}], ids=["localhost", "subnet"])
def test_a_node_says_where_it_is_several_times_a_second(
    given: dict[str, str], tmp_path: Path, ros_domain: int
) -> None:
    """Fast DDS does so every 3 s, and a process that has missed the first answer waits for it."""
    left_out = ("PROFILES_FILE", "DISCOVERY_RANGE", "BUILTIN_TRANSPORTS")
    env = {k: v for k, v in os.environ.items() if not k.endswith(left_out)} | given
    first = 7400 + 250 * ros_domain  # ports of DDS: multicast, and of participant 30
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        heard.bind(("", first + 10 + 2 * 30 if given else first))
        if not given:
            group = struct.pack("=4sI", socket.inet_aton("239.255.0.1"), socket.INADDR_ANY)
            heard.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        heard.settimeout(30.0)
        parameters = {"mechanism": "four_bar"}
        command = node_command("command_watchdog", directory=tmp_path, parameters=parameters)
        node = NodeProcess(command, tmp_path / "log", env=env)
        try:
            times = []
            while len(times) < 20:  # five come in the first half second by themselves
                assert heard.recv(65536).startswith(b"RTPS")
                times.append(time.monotonic())
        finally:
            assert node.end()
    # 0.25 s or 3 s each; where the computer is busy some are longer, but not half of them
    assert statistics.median(now - last for last, now in pairwise(times[6:])) < 1.5


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
