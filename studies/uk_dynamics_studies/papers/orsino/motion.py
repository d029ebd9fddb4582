# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The 3RRR manipulator on the motion of Orsino's paper: in one level, in three, and with slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from uk_dynamics import Mechanism, ServoController, Tasks, Trajectory, simulate
from uk_dynamics.core import factorize
from uk_dynamics.core.recursion import Hierarchical
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution import Array, State

DURATION = 16.0  # s, the paper's
PERIOD = 8.0  # s
POSE = ("platform_x", "platform_z", "platform_angle")
_RTOL = 1e-7  # feedback and projection hold the motion; errors stay far below 1e-9 all the same


def pose(t: float) -> Array:
    """x, z in m and angle in rad of the platform in the paper."""
    s = np.sin(np.pi * t / 4.0)
    return np.array([-np.sin(np.pi * t / 2.0), s, np.pi / 6.0 * s**4])


def pose_rate(t: float) -> Array:
    """Its rate, in m/s and rad/s."""
    s, c = np.sin(np.pi * t / 4.0), np.cos(np.pi * t / 4.0)
    return np.pi / 4.0 * np.array([-2.0 * np.cos(np.pi * t / 2.0), c, 2.0 * np.pi / 3.0 * s**3 * c])


def controlled(mechanism: Mechanism) -> ServoController:
    """The servo law on the paper's motion."""
    return ServoController(mechanism, Tasks.from_file("rrr3_track", mechanism))


def motion(duration: float) -> Trajectory:
    """The manipulator under the servo law, from the start of the paper's motion."""
    mechanism = Mechanism.from_file("rrr3")
    return simulate(
        mechanism, mechanism.start(), duration, controller=controlled(mechanism), rtol=_RTOL
    )


def states(mechanism: Mechanism, times: Sequence[float]) -> list[State]:
    """States of a variant of the manipulator on the paper's motion, at increasing times."""
    found = []
    q = mechanism.assemble()
    for t in times:
        guess = mechanism.model.positions_by_name(q)
        q = mechanism.assemble(guess | dict(zip(POSE, pose(t), strict=True)), hold=POSE)
        closed = mechanism.model.positions_by_name(q)
        start = mechanism.start(closed, dict(zip(POSE, pose_rate(t), strict=True)))
        found.append(State(t, start.q, start.v))
    return found


@dataclass(frozen=True)
class Levels:
    """The model of the modules at each level, and three levels against one."""

    rows: tuple[int, ...]  # rows that hold at each level, (levels + 1,), none first
    # sizes of the groups of coordinates that each level computes with
    blocks: tuple[tuple[int, ...], ...]
    # vertical acceleration of the platform at the start, per level, (levels + 1,), m/s²
    fall: tuple[float, ...]
    acceleration: float  # largest difference of q̈ to one level, in m/s² or rad/s²
    force: float  # largest difference of Q_c to one level, in N or N·m
    efforts: float  # largest difference of the motor torques to those of the tree, in N·m


def levels(times: Sequence[float]) -> Levels:
    """Solve the modules level by level and at once, at states of the paper's motion."""
    mechanism, tree = Mechanism.from_file("rrr3_modular"), Mechanism.from_file("rrr3")
    modular, controller = controlled(mechanism), controlled(tree)
    dynamics = InterpretedDynamics(mechanism)
    motions = list(zip(states(mechanism, times), states(tree, times), strict=True))
    worst = np.zeros(3)
    for state, other in motions:
        terms = mechanism.terms(state)
        factorization = dynamics.prepare(state).factorization
        solution = factorization.solve(terms.F, terms.b)
        at_once = factorize(factorization.mass, terms.A, method="udwadia_kalaba")
        single = at_once.solve(terms.F, terms.b)
        differences = (
            solution.qdd - single.qdd,
            solution.constraint_force - single.constraint_force,
            modular.command(state).efforts - controller.command(other).efforts,
        )
        worst = np.maximum(worst, [float(np.abs(values).max()) for values in differences])
    state = motions[0][0]
    terms = mechanism.terms(state)
    hierarchy = dynamics.prepare(state).factorization
    if not isinstance(hierarchy, Hierarchical):  # the mechanism file says so
        raise TypeError("rrr3_modular is not solved level by level")
    vertical = mechanism.model.velocity_index("platform_z")
    count = len(hierarchy.recursions)
    counts = [0, *(len(recursion.updates) for recursion in hierarchy.recursions)]
    return Levels(
        rows=(0, *(recursion.rank for recursion in hierarchy.recursions)),
        blocks=tuple(
            tuple(len(u.coordinates) for u in recursion.updates[counts[level] :])
            for level, recursion in enumerate(hierarchy.recursions)
        ),
        fall=tuple(
            float(hierarchy.accelerate(terms.F, terms.b, level)[vertical])
            for level in range(count + 1)
        ),
        acceleration=worst[0],
        force=worst[1],
        efforts=worst[2],
    )


@dataclass(frozen=True)
class Slack:
    """The manipulator with compliant platform pins."""

    compliance: float  # m/N
    displacement: float  # largest displacement of a pin, in m
    expected: float  # largest compliance times force of a pin, in m
    tracking_error: float  # largest error of the platform, in m or rad


def slack(compliance: float, duration: float) -> Slack:
    """Move the manipulator with compliant pins."""
    spec = MechanismSpec.from_file("rrr3")
    pins = tuple(replace(pin, compliance=compliance) for pin in spec.constraints)
    mechanism = Mechanism.from_spec(replace(spec, constraints=pins))
    trajectory = simulate(
        mechanism, mechanism.start(), duration, controller=controlled(mechanism), rtol=_RTOL
    )
    return Slack(
        compliance,
        float(np.abs(trajectory.residual).max()),
        compliance * float(np.abs(trajectory.multipliers).max()),
        float(np.abs(trajectory.tracking_error).max()),
    )
