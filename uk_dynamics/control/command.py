# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motor commands: the efforts a controller computed at one state, and what limits them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from uk_dynamics.core.equation import Solution
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import Robustness
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism


def require_motors(mechanism: ResolvedMechanism) -> None:
    """Refuse a mechanism without motors, with an InputError."""
    if not len(mechanism.actuators):
        problem = "the mechanism has no motors; add actuators"
        raise InputError(problem, file=mechanism.spec.file, place="actuators")


@dataclass(frozen=True, slots=True, kw_only=True)
class MotorCommand:
    """The command of a controller at one state.

    Attributes:
        efforts: Motor efforts in declared order, (motors,), within the limits, in N or N·m.
        requested: The efforts without limits, (motors,).
        limited_by: The limit, ``effort``, ``power`` or ``rate``, of each motor that is at one.
        unreachable: Names of the task rows or velocity coordinates that the motors cannot
            accelerate as desired, whatever their limits.
        qdd: The acceleration that ``efforts`` cause, (nv,), in m/s² or rad/s²; without friction
            where the controller ignores friction.
        free: Solution with zero motor efforts.
        settled: Whether ``efforts`` are optimal within the limits; otherwise the search was cut
            short, and they are only feasible.
    """

    efforts: Array
    requested: Array
    limited_by: Mapping[str, str]
    unreachable: tuple[str, ...]
    qdd: Array
    free: Solution
    settled: bool = True

    @property
    def saturated(self) -> tuple[str, ...]:
        """Names of the motors at a limit."""
        return tuple(self.limited_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(MotorCommand):
    """The command of a servo controller, with what its tasks get.

    Attributes:
        missing: By task, the norm of the residual b_t − A_t q̈ in m/s² (angular rows: rad/s² times
            the declared length). Only tasks that miss something: because they are unreachable, of
            lower priority, or because motors are at their limits.
        residual: b_t − A_t q̈ of each row with ``efforts``, (mt,).
        tracking_error: Of each task row, value − reference, (mt,), in m or rad.
        tracking_rate: Its rate, (mt,), in m/s or rad/s; with a velocity observer as observed.
        servo: Ranks, reachability and unreachable residuals, without limits.
        error_bound: What a robust law promises of the errors, (mt,), in m or rad; None: nothing.
        beyond_bound: Rows whose error, relative to the path of a blended start, is larger.
        robust: The robust term; None: there is none.
        held: Whether ``efforts`` are those of the last period: the rank of the structure differs,
            in a singular configuration, for 0.1 s at most.
        contact_forces: Of the contacts that stand, by name: normal, along x and y, (3,) each, in N.
            Those at the edge of what they may take are in ``limited_by``: ``lift-off`` (no force is
            left), ``friction`` or ``force``; those that cannot stand still in ``missing``.
    """

    missing: Mapping[str, float]
    residual: Array
    tracking_error: Array
    tracking_rate: Array
    servo: ServoSolution
    held: bool = False
    error_bound: Array | None = None
    beyond_bound: tuple[str, ...] = ()
    robust: Robustness | None = None
    contact_forces: Mapping[str, Array] = field(default_factory=dict)

    @property
    def actuation(self) -> str:
        """Whether the tasks are fully, under- or redundantly actuated at this state."""
        return self.servo.actuation
