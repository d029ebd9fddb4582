# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages of Fast DDS by UDP alone: by shared memory, one process can hold up what others send."""

import os
from collections.abc import Mapping

from uk_dynamics.resources import share_directory

# of Fast DDS 2 and 3: what a user has chosen there holds
_PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"
_RANGE, _LOCAL, _PEERS = "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"


def udp_environment(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Variables (None: unset) for UDP alone; none at all where a user has chosen something.

    With the range LOCALHOST rmw_fastrtps always adds shared memory, whatever transports are named;
    one that stands still there was seen to hold up others for a second, after which Fast DDS looks
    whether it lives. Its place takes a profile of Fast DDS with the same range, which also lets
    processes find each other sooner; so does one for the other ranges.
    """
    udp = environment.get(TRANSPORTS) in (None, "", "UDPv4")
    chosen = not udp or any(environment.get(name) for name in (*_PROFILES, _PEERS))
    other = not environment.get("RMW_IMPLEMENTATION", "rmw_fastrtps").startswith("rmw_fastrtps")
    if chosen or other:
        return {}
    here = environment.get(_LOCAL) == "1" or environment.get(_RANGE) == "LOCALHOST"
    profile = share_directory() / "config" / "dds" / ("udp_loopback.xml" if here else "udp.xml")
    local = {_LOCAL: None, _RANGE: "SYSTEM_DEFAULT"} if here else {}
    return {**local, TRANSPORTS: None, **dict.fromkeys(_PROFILES, str(profile))}


def use_udp() -> None:
    """The same for this process, before there is a ROS context."""
    for name, value in udp_environment(os.environ).items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
