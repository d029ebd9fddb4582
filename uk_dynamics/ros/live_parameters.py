"""The parameters that tasks and motors bring along to servo_controller."""

from __future__ import annotations

from uk_dynamics.control.task_gains import Gains
from uk_dynamics.ros.parameters import Parameter


def gain_parameters(task: str, gains: Gains, rate: float, *, damped: bool) -> tuple[Parameter, ...]:
    """Parameters of one task's feedback.

    Args:
        task: Its name.
        gains: Of the tasks file.
        rate: States per second; 0: unknown. A tenth is the largest frequency that efforts held for
            a period serve well.
        damped: Whether a damping ratio counts.
    """
    frequency = Parameter(
        f"gains.{task}.frequency",
        gains.frequency,
        f"How stiffly task {task} is followed: natural frequency; 0: no feedback.",
        unit="Hz",
        minimum=0.0,
        maximum=max(gains.frequency, rate / 10.0 or 1e3),
        live=True,
    )
    damping_ratio = Parameter(
        f"gains.{task}.damping_ratio",
        gains.damping_ratio,
        f"Damping of the error of task {task}; 1 is critical.",
        minimum=0.0,
        maximum=max(gains.damping_ratio, 10.0),
        live=True,
    )
    return (frequency, damping_ratio) if damped else (frequency,)


def row_parameter(row: str, force: float) -> Parameter:
    """Parameter of one row of a loop that motors press.

    Args:
        row: Its name.
        force: Of the tasks file, in N or N·m.
    """
    return Parameter(
        f"internal_forces.{row}",
        force,
        f"What {row} bears more than the motion needs.",
        unit="N or N m",
        live=True,
    )


def motor_parameters(motor: str, limit: float, preload: float) -> tuple[Parameter, ...]:
    """Parameters of one motor.

    Args:
        motor: Its name.
        limit: Effort limit of the mechanism file, in N or N·m; infinite where there is none.
        preload: Of the tasks file, in N or N·m.
    """
    return (
        Parameter(
            f"limits.{motor}.effort",
            limit,
            f"Largest effort of {motor}, at most that of the mechanism file.",
            unit="N or N m",
            minimum=0.0,
            maximum=limit,
            live=True,
        ),
        Parameter(
            f"preload.{motor}",
            preload,
            f"Effort of {motor} to come close to where this changes no motion.",
            unit="N or N m",
            minimum=min(-limit, preload),
            maximum=max(limit, preload),
            live=True,
        ),
    )
