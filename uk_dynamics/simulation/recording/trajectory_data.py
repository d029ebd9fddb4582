# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Samples of a motion over time, with the names of their columns."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import expect_names
from uk_dynamics.mechanism.contact import SLOW
from uk_dynamics.simulation.recording.machine_data import MachineData

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Names:
    """Column names of a trajectory."""

    positions: tuple[str, ...]  # of q
    velocities: tuple[str, ...]  # of v and qdd
    motors: tuple[str, ...]  # of efforts
    constraint_rows: tuple[str, ...]  # of residual and multipliers
    task_rows: tuple[str, ...]  # of tracking_error
    # of contacts, stops and ropes: ``foot.normal`` and, with friction, ``foot.x`` and ``foot.y``
    contact_rows: tuple[str, ...] = ()
    estimated: tuple[str, ...] = ()  # of estimates


@dataclass(frozen=True)
class Switching:
    """Constraints switched on or off at one instant.

    Attributes:
        t: Time, in s.
        changes: On or off, by name of the constraint.
        energy_lost: Kinetic energy dissipated by the jump of the velocities, in J; in steps of
            ``moreau`` what all impulses take in one in which something strikes, NaN in others.
    """

    t: float
    changes: Mapping[str, bool]
    energy_lost: float

    def text(self, contacts: Collection[str] = ()) -> str:
        """What happened, such as ``foot closes, foot sticks`` of names that are contacts."""
        words = []
        for name, on in self.changes.items():
            contact = name.removesuffix(".sticking")
            if name in contacts:
                struck = "bounces" if abs(self.energy_lost) > 0.0 else "opens"
                words.append(f"{name} {'closes' if on else struck}")
            elif contact == name:
                words.append(f"{name} {'on' if on else 'off'}")
            elif on or self.changes.get(contact, True):
                words.append(f"{contact} {'sticks' if on else 'slips'}")
        return ", ".join(words)


@dataclass(frozen=True)
class Statistics:
    """Computational cost of a simulation.

    Attributes:
        steps: Accepted integration steps.
        evaluations: Evaluations of the constrained acceleration.
        wall_time: In s.
        rejected: Steps that error control took again, shorter; 0 for ``Radau``, which does not say.
        largest_projection: With error control, the largest correction at the end of a step, in m,
            rad or their rates.
        contact_error: Of steps over contacts, the largest part of their motion by which impulses
            miss Signorini's and Coulomb's conditions.
        contact_iterations: Of the solver, to find these impulses.
        contact_fallbacks: Steps in which Newton's method, from the impulses before and from none,
            did not arrive, and alternating directions or easier problems went on.
    """

    steps: int
    evaluations: int
    wall_time: float
    rejected: int = 0
    largest_projection: float = 0.0
    contact_error: float = 0.0
    contact_iterations: int = 0
    contact_fallbacks: int = 0


@dataclass(frozen=True, eq=False)
class ContactMotion:
    """K samples of a contact, stop or rope.

    Attributes:
        gap: What separates it, (K,), in m or rad.
        rate: Of the gap, (K,), in m/s or rad/s.
        slip: Velocity in the plane, along its x and y axes, (K, 2), in m/s; without friction
            (K, 0).
        normal: Normal force, (K,), in N or N·m.
        friction: Along the x and y axes, (K, 2), in N; without friction (K, 0).
    """

    gap: Array
    rate: Array
    slip: Array
    normal: Array
    friction: Array

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Whether it has a normal force, (K,)."""
        return self.normal > 0.0

    @property
    def sticks(self) -> NDArray[np.bool_]:
        """Whether it is closed and friction keeps it from sliding, (K,)."""
        still = np.linalg.norm(self.slip, axis=1) <= SLOW
        found: NDArray[np.bool_] = self.closed & still & (self.slip.shape[1] > 0)
        return found


class _Late:
    """A field that may be given as a function, which is called when the field is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Array:
        value = instance.__dict__[self._name]
        if callable(value):
            value = instance.__dict__[self._name] = value()
        found: Array = value
        return found

    def __set__(self, instance: object, value: Array | Callable[[], Array]) -> None:
        instance.__dict__[self._name] = value


@dataclass(frozen=True, eq=False)
class TrajectoryData:
    """K samples of a motion; arrays have one row per sample.

    Of a simulation only times, positions, velocities, efforts, what the controller tells and
    switchings are there at once; accelerations, forces and all that follows from them are computed
    when they are first read.

    Attributes:
        name: Name of the mechanism.
        names: Column names.
        t: Times, (K,), in s.
        q: Configurations, (K, nq), in m or rad.
        v: Velocities, (K, nv), in m/s or rad/s.
        qdd: Accelerations, (K, nv), in m/s² or rad/s².
        efforts: Motor efforts, (K, motors), in N or N·m; at a control instant, those that
            start there.
        effort_limits: Of the motors, (motors,), infinite where none is declared.
        residual: Constraint residuals ψ, (K, m), in m or rad.
        residual_rate: Rates of the rows, (K, m), in m/s or rad/s.
        multipliers: Of the rows, with the contribution of friction, (K, m), in N or N·m.
        tracking_error: Task residuals, (K, mt), in m or rad.
        references: What the task rows follow, (K, mt), in m or rad; NaN where it is not known.
        bounds: What a robust law promises of the task residuals, (K, mt), in m or rad; NaN or
            infinite where it promises nothing.
        estimates: Parameters that an adaptive law estimates, (K, p), in SI units; NaN where they
            were not recorded, as in batches.
        deviations: Their standard deviations, (K, p).
        contact_gaps: Distances of the contact rows, (K, c), in m or rad; 0 for those of friction.
        contact_rates: Their rates and velocities of sliding, (K, c), in m/s or rad/s.
        contact_forces: Normal forces and friction, (K, c), in N or N·m.
        kinetic: Kinetic energy, (K,), in J.
        potential: Potential energy, (K,), in J.
        rank: Rank of the structural constraints, (K,).
        condition: Condition number of the independent rows, (K,).
        status: Name of each solution's status, (K,).
        warnings: One line each: joints outside their limits, motors at theirs, unreachable tasks,
            inconsistent constraints, singular configurations that were passed between samples.
        statistics: Computational cost.
        switchings: Constraints switched on and off during the motion.
        machine: Units and limits of its coordinates, its motors and tasks.
    """

    name: str
    names: Names
    t: Array
    q: Array
    v: Array
    qdd: Array
    efforts: Array
    effort_limits: Array
    residual: Array
    residual_rate: Array
    multipliers: Array
    tracking_error: Array
    references: Array
    bounds: Array
    estimates: Array
    deviations: Array
    contact_gaps: Array
    contact_rates: Array
    contact_forces: Array
    kinetic: Array
    potential: Array
    rank: NDArray[np.int_]
    condition: Array
    status: tuple[str, ...]
    warnings: tuple[str, ...]
    statistics: Statistics
    switchings: tuple[Switching, ...] = ()
    machine: MachineData = field(default_factory=MachineData)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def energy(self) -> Array:
        """Total mechanical energy, (K,), in J."""
        return self.kinetic + self.potential

    def position(self, name: str) -> Array:
        """Samples of one position coordinate, (K,), in m or rad.

        Raises:
            UnknownNameError: There is no such coordinate.
        """
        return _column("position", name, self.names.positions, self.q)

    def velocity(self, name: str) -> Array:
        """Samples of one velocity coordinate, (K,), in m/s or rad/s.

        Raises:
            UnknownNameError: There is no such coordinate.
        """
        return _column("velocity", name, self.names.velocities, self.v)

    def effort(self, name: str) -> Array:
        """Samples of the effort of one motor, (K,), in N or N·m.

        Raises:
            UnknownNameError: There is no such motor.
        """
        return _column("motor", name, self.names.motors, self.efforts)

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts, stops and ropes."""
        ending = ".normal"
        return tuple(x.removesuffix(ending) for x in self.names.contact_rows if x.endswith(ending))

    def contact(self, name: str) -> ContactMotion:
        """What one contact, stop or rope did.

        Raises:
            UnknownNameError: There is none with this name.
        """
        expect_names("contact", [name], self.contacts)
        first = self.names.contact_rows.index(f"{name}.normal")
        rubs = f"{name}.x" in self.names.contact_rows
        tangents = slice(first + 1, first + 3 if rubs else first + 1)
        return ContactMotion(
            self.contact_gaps[:, first],
            self.contact_rates[:, first],
            self.contact_rates[:, tangents],
            self.contact_forces[:, first],
            self.contact_forces[:, tangents],
        )


def _column(kind: str, name: str, names: tuple[str, ...], values: Array) -> Array:
    expect_names(kind, [name], names)
    return values[:, names.index(name)]


#: What a simulation computes of its samples when it is first read.
LATE = (
    *("qdd", "residual", "residual_rate", "multipliers", "references", "contact_gaps"),
    *("contact_rates", "contact_forces", "kinetic", "potential", "rank", "condition"),
    *("status", "warnings"),
)
for _name in LATE:
    setattr(TrajectoryData, _name, _Late(_name))  # not in the class: it would be a default
