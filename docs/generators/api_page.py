# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Index of the Python names that are documented: one line each, from the docstrings.

On GitHub a name leads to its source; on the site ``docs/conf.py`` makes a page of it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import uk_dynamics as ukd
from docs.generators.markdown import code, heading, plain, table
from uk_dynamics import exceptions
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.command import Command, MotorCommand
from uk_dynamics.control.encoder_feedback import EncoderFeedback
from uk_dynamics.control.estimation import EncoderReadings
from uk_dynamics.control.estimation.state_completion import JointStateEstimate
from uk_dynamics.control.servo.servo_settings import ServoSettings
from uk_dynamics.mechanism.analysis.linear_system import Mode
from uk_dynamics.mechanism.assembly.assembly import Assembly
from uk_dynamics.mechanism.contact.contact import Contact
from uk_dynamics.mechanism.dynamics.constraint_activation import Switched
from uk_dynamics.mechanism.dynamics.derivatives import (
    Derivative,
    DerivativeStatus,
    Quantities,
)
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.files.file_location import Read
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.kinematics import (
    Dexterity,
    ForceEnvelope,
    FrameJacobian,
    IndependentCoordinates,
    SingularConfiguration,
    Transmission,
)
from uk_dynamics.mechanism.resolution.state import (
    ActiveConstraints,
    DynamicsTerms,
    Energy,
    Residual,
)
from uk_dynamics.simulation.recording.trajectory_data import (
    ContactMotion,
    Statistics,
    Switching,
    TrajectoryData,
)

Documented = type | Callable[..., object]

ERRORS: tuple[type, ...] = tuple(
    found
    for found in vars(exceptions).values()
    if inspect.isclass(found) and found.__module__ == exceptions.__name__
)
GROUPS: dict[str, tuple[Documented, ...]] = {
    "Mechanisms and tasks": (ukd.Mechanism, ukd.Tasks, ukd.Reality),
    "States and inputs": (ukd.State, ukd.Inputs, ActiveConstraints, ReferenceSample),
    "Forward dynamics": (
        ukd.forward_dynamics,
        Dynamics,
        ukd.Solution,
        ukd.Status,
        DynamicsTerms,
        Residual,
        Energy,
        Assembly,
        Switched,
    ),
    "Contacts": (Contact, ContactMotion),
    "Kinematics": (
        FrameJacobian,
        IndependentCoordinates,
        Transmission,
        Dexterity,
        SingularConfiguration,
        ForceEnvelope,
    ),
    "Derivatives": (
        ukd.linearize,
        ukd.linearize_along,
        ukd.LinearSystem,
        Mode,
        ukd.equilibrium,
        ukd.Equilibrium,
        ukd.MotionDerivatives,
        ukd.ParameterDerivatives,
        ukd.ServoDerivatives,
        ukd.ProjectionDerivatives,
        ukd.Derivatives,
        Derivative,
        Quantities,
        DerivativeStatus,
    ),
    "Simulation": (
        ukd.simulate,
        ukd.simulate_many,
        ukd.Trajectory,
        TrajectoryData,
        Statistics,
        Switching,
    ),
    "Control": (
        ukd.ServoController,
        ServoSettings,
        ukd.DelayCompensation,
        EncoderFeedback,
        EncoderReadings,
        MotorCommand,
        Command,
        ukd.GravityCompensation,
        ukd.Hold,
        ukd.inverse_dynamics,
        ukd.InverseDynamics,
        ukd.standing,
        ukd.Standing,
        ukd.internal_efforts,
        ukd.StateCompletion,
        JointStateEstimate,
    ),
    "Files": (MechanismSpec, TasksSpec, Read),
    "Errors": ERRORS,
}
_INTRODUCTION = """\
Names in **bold** are the package's own: `import uk_dynamics as ukd`, then `ukd.Mechanism`. The others are what these
take and return; they are rarely imported. None of it needs ROS. Arrays are NumPy's, in SI units; values of joints and
motors can be given by name."""  # noqa: E501 (a page, not code)
_BEFORE = {"Errors": "[Troubleshooting](../troubleshooting.md) says what to do about them."}


def page() -> str:
    """All of the index."""
    parts = [
        heading(1, "Python"),
        _INTRODUCTION,
    ]
    for group, members in GROUPS.items():
        parts.append(heading(2, group))
        if group in _BEFORE:
            parts.append(_BEFORE[group])
        parts.append(table(("name", "what it is"), (_row(member) for member in members)))
    return "\n\n".join(parts) + "\n"


def _row(member: Documented) -> tuple[str, str]:
    name = member.__name__
    link = f"[{code(name)}](../../{member.__module__.replace('.', '/')}.py)"
    summary = (inspect.getdoc(member) or "").split("\n\n")[0].replace("\n", " ")
    summary = re.sub(r"``(.*?)``", r"`\1`", summary)
    parts = re.split(r"(`[^`]*`)", summary)
    summary = "".join(part if part.startswith("`") else plain(part) for part in parts)
    return (f"**{link}**" if name in ukd.__all__ else link), summary
