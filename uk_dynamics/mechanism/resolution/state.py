# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Plain values that change from step to step: state, inputs, and what they give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import HeldFeatures
from uk_dynamics.core.equation import OfMany, Results, Solution, Status, results


@dataclass(frozen=True, slots=True)
class State:
    """A state of a mechanism.

    Attributes:
        t: Time since the time origin, in s.
        q: Configuration, (nq,), in m or rad.
        v: Velocity, (nv,), in m/s or rad/s.
    """

    t: float
    q: Array
    v: Array


RolloutMethod = Literal["rk4", "semi_implicit_euler", "moreau"]
NonidealFunction = Callable[[State, Solution], ArrayLike]


@dataclass(frozen=True, slots=True)
class ActiveConstraints:
    """Which switchable constraints are on, and where they were closed.

    Attributes:
        names: Those that are on.
        captured: Values of the rows found when a constraint was switched on, by its name, (rows,)
            each, in m or rad; a constraint that is not in here holds its own pose.
        sliding: Unit direction in which each sliding contact with friction began to slide, (2,), in
            the x and y axes of its plane, by name; of joints, along the directions that move.
        features: Corners, faces and edges of convex hulls that touch until others are nearest;
            empty: those that are nearest now.
        distinct: Names whose rows are independent though they nearly depend on each other: those
            of contacts of two rigid bodies, as of feet a hair apart; see ``rank_rule``.
    """

    names: frozenset[str] = frozenset()
    captured: Mapping[str, Array] = field(default_factory=dict)
    sliding: Mapping[str, Array] = field(default_factory=dict)
    features: HeldFeatures = field(default_factory=dict)
    distinct: frozenset[str] = frozenset()

    @property
    def beyond_rows(self) -> bool:
        """Whether it says more than which rows act: what slides, or is distinct."""
        return bool(self.sliding or self.distinct)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What acts on a mechanism during one evaluation.

    Attributes:
        tau: Generalized forces of motors and the outside world, (nv,), in N or N·m; None is zero.
        nonideal: The vector c of non-ideal constraint forces, (nv,), servo paper (12), in
            addition to those of the mechanism; or a function that gives it from the state and the
            solution it leads to, which is iterated until both agree and cannot be compiled.
        stabilize: Whether b contains the stabilisation of the constraints; simulations that project
            every step onto the constraints leave it out, since it makes the equation stiff.
        references: Samples that replace the references of structural constraints, by name.
        active: Switchable constraints that are on, and contacts, stops and ropes that are closed;
            None: those that the mechanism file says, and no contacts.
    """

    tau: Array | None = None
    nonideal: Array | NonidealFunction | None = None
    stabilize: bool = True
    references: Mapping[str, ReferenceSample] | None = None
    active: ActiveConstraints | None = None


class DynamicsTerms(NamedTuple):
    """M q̈ = F + Q_c and A q̈ = b at one state.

    Attributes:
        M: Mass matrix, (nv, nv), in kg, kg·m or kg·m².
        F: Motors, passive forces, gravity and velocity terms, (nv,), in N or N·m.
        A: Constraint matrix, (m, nv).
        b: Right-hand side with stabilisation, (m,), in m/s² (angular rows times the length).
    """

    M: Array
    F: Array
    A: Array
    b: Array


@dataclass(frozen=True, slots=True)
class Residual:
    """How far a state is from the constraints.

    Attributes:
        names: Row names, ``constraint.label``.
        position: ψ, (m,), in m or rad; of rows on velocities ψ too, per s.
        velocity: Rates of the rows, (m,), in m/s or rad/s.
    """

    names: tuple[str, ...]
    position: Array
    velocity: Array


@dataclass(frozen=True, slots=True)
class Energy:
    """Mechanical energy of a mechanism, in J.

    Attributes:
        kinetic: ½ vᵀMv.
        potential: Of gravity and springs.
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Kinetic plus potential energy, in J."""
        return self.kinetic + self.potential


@dataclass(frozen=True, eq=False)
class Plan:
    """Checked inputs of a rollout."""

    q: Array  # where trajectories start, (K, nq)
    v: Array  # (K, nv)
    tau: Array  # constant within a step: (K or 1, steps or 1, nv)
    steps: int  # number of steps
    dt: float  # of a step, in s
    every: int  # steps from sample to sample
    method: str  # a ``RolloutMethod``
    project: bool  # whether every step ends on the constraints
    t: float  # start, in s

    @property
    def instants(self) -> Array:
        """Times of the samples, (S,), in s."""
        return self.t + self.dt * np.arange(0, self.steps + 1, self.every, dtype=float)

    @property
    def half_steps(self) -> Array:
        """Times of the ends and the middles of steps, in s."""
        return self.t + 0.5 * self.dt * np.arange(2 * self.steps + 1, dtype=float)

    def tau_at(self, k: int, step: int) -> Array:
        """Generalized forces of trajectory k in a step, (nv,)."""
        K, S, _ = self.tau.shape
        row: Array = self.tau[k if K > 1 else 0, step if S > 1 else 0]
        return row


class States(NamedTuple):
    """Checked inputs of a batch."""

    t: Array  # (K,) or (1,), in s
    q: Array  # (K, nq)
    v: Array  # (K, nv)
    tau: Array | None  # (K, nv), or None for zero

    def at(self, k: int, inputs: Inputs) -> tuple[State, Inputs]:
        """State and inputs number k."""
        tau = None if self.tau is None else self.tau[k]
        state = State(float(self.t[k if len(self.t) > 1 else 0]), self.q[k], self.v[k])
        return state, replace(inputs, tau=tau)


class BatchSolution(OfMany, Results):
    """Constrained motion at K instants, row by row what :class:`Solution` holds.

    What is not declared to be there always is None unless forces were asked for.
    """

    def __init__(self, **found: Any) -> None:
        """Take the results, (K, …) each, by name."""
        for result in results(always=False):
            vars(self)[result.name] = None
        vars(self).update(found)


class Samples(NamedTuple):
    """What recordings hold of K states of one motion; a row for each."""

    qdd: Array  # accelerations, (K, nv)
    rank: NDArray[np.intp]  # of the constraints, (K,)
    # what the joints transmit, (K, m), of rows that count in the declared length
    multipliers: Array
    residual: Array  # constraint residuals, (K, m), in m or rad
    residual_rate: Array  # their rates, (K, m)
    status: list[Status]  # of each solution
    solution: Callable[[int], Solution]  # the solution of state number k


@dataclass(frozen=True)
class Stopped:
    """A trajectory that has come to an end too early."""

    t: float  # end of the step that was not possible, in s
    reason: str  # why


@dataclass(frozen=True, eq=False)
class Rollout:
    """K trajectories at S common instants."""

    t: Array  # in s, (S,)
    q: Array  # configurations, (K, S, nq); NaN after a trajectory has stopped
    v: Array  # velocities, (K, S, nv); likewise
    stopped: dict[int, Stopped]  # trajectories that could not be followed to the end, by number
    warnings: dict[int, str] = field(default_factory=dict)  # what to know of others, by number

    @classmethod
    def unknown(cls, given: Plan) -> "Rollout":
        """Trajectories of which nothing is known yet."""
        instants = given.instants
        shape = len(given.q), len(instants)
        q, v = (np.full((*shape, x.shape[1]), np.nan) for x in (given.q, given.v))
        return cls(instants, q, v, {})
