"""Parameters of the nodes that show or record a machine: viewer, markers, recorder."""

from __future__ import annotations

from uk_dynamics.ros.common_parameters import MECHANISM
from uk_dynamics.ros.parameters import Parameter

_TASKS = Parameter(
    "tasks",
    "",
    "Tasks file whose targets and errors are shown: a path, a package:// address or the name of a"
    " shipped one; empty: none.",
)

VIEWER = (
    *MECHANISM,
    _TASKS,
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

MARKERS = (
    *MECHANISM,
    _TASKS,
    Parameter(
        "rate",
        25.0,
        "Pictures per second, as far as states come; none while nobody listens.",
        unit="Hz",
        minimum=0.1,
        maximum=200.0,
    ),
    Parameter(
        "arrow_length",
        0.35,
        "Length of the longest arrow of the last seconds, as part of the machine's size.",
        minimum=0.01,
        maximum=10.0,
        live=True,
    ),
)

RECORDER = (
    *MECHANISM,
    Parameter("file", "", "Recording to write, .mcap; one that is there is replaced."),
)
