# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Launch arguments for the processes of a control loop: transport of messages, priority."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from launch.actions import SetEnvironmentVariable, UnsetEnvironmentVariable
from launch.substitutions import LaunchConfiguration

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.process.launch_files import number

TRANSPORT = (
    "transport",
    "udp",
    "Messages of Fast DDS: by udp alone, without its shared memory; or as the environment says.",
)
PRIORITY = (
    "priority",
    "0",
    "Real-time priority (SCHED_FIFO, 1 to 48) of all between states and efforts; 0: none.",
)
_HIGHEST = 48  # the watchdog has one more, the updates of controller_manager have 50

# of Fast DDS 2 and 3: what a user has chosen there holds
_PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
_TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"
_RANGE, _LOCAL, _PEERS = "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"


def transport(given: Mapping[str, str]) -> list[Any]:
    """Actions that set the environment of all processes for the argument ``transport``.

    With the range LOCALHOST rmw_fastrtps always adds shared memory. Its place takes a profile of
    Fast DDS with the same range.
    """
    chosen = any(os.environ.get(name) for name in (*_PROFILES, _TRANSPORTS, _PEERS))
    other = not os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps").startswith("rmw_fastrtps")
    if given["transport"] != "udp" or chosen or other:
        return []
    if os.environ.get(_LOCAL) != "1" and os.environ.get(_RANGE) != "LOCALHOST":
        return [SetEnvironmentVariable(_TRANSPORTS, "UDPv4")]
    profile = str(share_directory() / "config" / "dds" / "udp_loopback.xml")
    return [
        UnsetEnvironmentVariable(_LOCAL),
        SetEnvironmentVariable(_RANGE, "SYSTEM_DEFAULT"),
        *(SetEnvironmentVariable(name, profile) for name in _PROFILES),
    ]


def priority(given: Mapping[str, str]) -> int:
    """The argument ``priority``: of nodes, which have it once they run, the parameter of that name.

    Raises:
        InputError: It is not a priority.
    """
    wanted = int(number(given, "priority", whole=True))
    if wanted > _HIGHEST:
        raise InputError(f"expected at most {_HIGHEST}, found {wanted}", place="priority")
    return wanted


def scheduled(given: Mapping[str, str], executable: str) -> dict[str, Any]:
    """Options of a node that has no such parameter, for the argument ``priority``."""
    wanted = priority(given)
    if not wanted:
        return {}
    # the label in the log would be that of chrt
    prefix = [f"chrt --fifo {wanted} ", LaunchConfiguration("launch-prefix", default="")]
    return {"prefix": prefix, "exec_name": executable}
