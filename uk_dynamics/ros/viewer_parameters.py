"""Parameters of the viewer."""

from __future__ import annotations

from uk_dynamics.ros.common_parameters import MECHANISM
from uk_dynamics.ros.parameters import Parameter

VIEWER = (
    *MECHANISM,
    Parameter(
        "tasks",
        "",
        "Tasks file whose targets and errors are shown: a path, a package:// address or the name"
        " of a shipped one; empty: none.",
    ),
    Parameter(
        "host",
        "127.0.0.1",
        "Address to serve at; any other lets the network look and press the buttons.",
    ),
    Parameter("port", 8080, "Port to serve at; 0: any that is free.", minimum=0, maximum=65535),
    Parameter(
        "simulator",
        "simulator",
        "Node whose services the buttons call, where the machine is simulated.",
    ),
    Parameter(
        "state_timeout",
        0.5,
        "Age of the last state above which the view says so.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
)
