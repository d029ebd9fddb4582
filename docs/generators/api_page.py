"""Reference page of the Python interface: names, a line each, with links to their definitions.

The site has a page for each name, which ``conf.py`` makes of the rows of this one.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import uk_dynamics
from docs.generators.markdown import code, heading, table
from uk_dynamics import exceptions

ROOT = Path(uk_dynamics.__file__).resolve().parent.parent
# Names of ``uk_dynamics``, and dotted names of what these take and return.
SECTIONS = {
    "Mechanisms and tasks": ("Mechanism", "Tasks"),
    "States and inputs": (
        "State",
        "Inputs",
        "uk_dynamics.mechanism.state.ActiveConstraints",
        "uk_dynamics.constraints.references.ReferenceSample",
    ),
    "Forward dynamics": (
        "forward_dynamics",
        "uk_dynamics.mechanism.dynamics.Dynamics",
        "Solution",
        "Status",
        "uk_dynamics.mechanism.state.DynamicsTerms",
        "uk_dynamics.mechanism.state.Residual",
        "uk_dynamics.mechanism.state.Energy",
        "uk_dynamics.mechanism.assembly.Assembly",
        "uk_dynamics.mechanism.switching.Switched",
    ),
    "Simulation": (
        "simulate",
        "Trajectory",
        "uk_dynamics.simulation.trajectory.Statistics",
        "uk_dynamics.simulation.trajectory.Switching",
    ),
    "Control": (
        "ServoController",
        "uk_dynamics.control.command.Command",
        "GravityCompensation",
        "Hold",
        "inverse_dynamics",
        "InverseDynamics",
        "internal_efforts",
        "StateCompletion",
        "uk_dynamics.control.completion_result.Completion",
    ),
    "Files": (
        "uk_dynamics.mechanism.specification.MechanismSpec",
        "uk_dynamics.mechanism.tasks_specification.TasksSpec",
    ),
}
_INTRODUCTION = """\
Public names are imported with `import uk_dynamics as ukd`, the others from the
module in the last column. None of them needs ROS. Arrays are NumPy arrays in SI
units; joint quantities can be given by joint name."""
_ERRORS = "[Troubleshooting](../troubleshooting.md) says what to do about them."


def page() -> str:
    """All sections, and the errors."""
    parts = [heading(1, "Python"), _INTRODUCTION]
    for title, names in SECTIONS.items():
        parts += [heading(2, title), _table(_found(name) for name in names)]
    errors = (value for _, value in inspect.getmembers(exceptions, inspect.isclass))
    own = (value for value in errors if value.__module__ == exceptions.__name__)
    parts += [heading(2, "Errors"), _ERRORS, _table(own)]
    return "\n\n".join(parts) + "\n"


def _found(name: str) -> type:
    module, _, last = name.rpartition(".")
    found: type = getattr(importlib.import_module(module or "uk_dynamics"), last)
    return found


def _table(values: Iterator[type]) -> str:
    return table(("name", "what it is", "from"), map(_row, values))


def _row(value: type) -> tuple[str, str, str]:
    source = Path(inspect.getfile(value)).resolve().relative_to(ROOT).as_posix()
    first = (inspect.getdoc(value) or "").partition("\n")[0]
    public = value.__name__ in uk_dynamics.__all__
    home = "uk_dynamics" if public else value.__module__
    return f"[`{value.__name__}`](../../{source})", first.replace("``", "`"), code(home)
