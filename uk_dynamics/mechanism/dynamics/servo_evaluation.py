# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What evaluates the servo law at a state, whatever it is written in."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from uk_dynamics.arrays import Indices
from uk_dynamics.constraints.references import References
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.servo import Known, ServoSolution
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State


class TrackingErrors(NamedTuple):
    """How far tasks are from being done."""

    residual: Array  # of each row, (mt,), in m (angular rows: rad times the declared length)
    rate: Array  # its rate, (mt,)


class RobustDemand(NamedTuple):
    """What a robust term acts against."""

    surface: Array  # s = ė + k e of each row, (mt,)
    known: Known  # what is known of the uncertainty beforehand
    acts: bool = True  # False: the efforts are those without it
    added: Array | None = None  # what corrections add to the desired acceleration, (mt,)
    lacking: Array | None = None  # as :class:`Adaptation` has it, (mt,)
    estimate: Array | None = None  # deviations of parameters that are estimated, (p,)
    adapts: float = 0.0  # how much of them is part of ``added``, 0 to 1
    friction_v: Array | None = None  # velocities that joint forces are of, (nv,); None: the state's


class Standing(NamedTuple):
    """The contacts that stand at an instant, k points of them, and what tasks ask for meanwhile."""

    points: Indices  # their places among those of :class:`StandingContacts`, (k,)
    share: Array  # of the forces that they may take, in (0, 1], (k,)
    most: Array  # largest normal forces, (k,), in N
    asked: Array  # 1, or 0 for the rows of tasks that ask for nothing, (mt,)


class Demand(NamedTuple):
    """What is asked for at a state, besides the motion of the references."""

    feedback: Array  # −2ζω·rate − ω²·residual of each row, (mt,)
    # what is desired besides: on the path along which a first error decays, and by corrections,
    # (mt,); None: zero
    approach: Array | None
    weights: Array  # diagonal of W, (motors,)
    preload: Array | None  # s, (motors,), in N or N·m; None: zero
    inputs: Inputs  # what the structure follows, and which of its constraints act; no forces
    robust: RobustDemand | None = None  # for a robust term; None: there is none
    # contacts whose forces are unknowns like the efforts; None: the tasks file has none
    standing: Standing | None = None

    @property
    def desired(self) -> Array:
        """b_t of rows without bias, (mt,)."""
        return self.feedback if self.approach is None else self.feedback + self.approach


class Robustness(NamedTuple):
    """What a robust term is at a state, in the metric of the tasks' inertia."""

    size: float  # |s|, in √kg m/s
    bound: float  # ρ, in √kg m/s²
    authority: float  # α; at most 0: no effort is sure to push s back
    factor: float  # what it adds to the desired acceleration is −factor · s, in 1/s
    growth: float  # of the size that is learned, in 1/s; 0: it is as the file says


class Regression(NamedTuple):
    """What estimates of parameters need of a state."""

    regressor: Array  # effect of each deviation on ë as it is asked for, (mt, p)
    explaining: Array  # the same as the machine accelerates, (mt, p)
    push: Array  # what the errors say of each, (p,)
    reached: Array  # what efforts without the robust term add to ë, (mt,)


class ServoOutcome(NamedTuple):
    """What the law says at a state.

    With standing contacts, their forces (normal, along x and y of each) are further efforts behind
    those of the motors, and that they stand comes in rows before those of the tasks.
    """

    servo: ServoSolution  # efforts without limits, and how far they serve the tasks
    free: Solution  # solution of the structure with motors at rest
    qdd: Array  # acceleration with motors at rest and the friction that acts while they work, (nv,)
    response: Callable[[Array], Array]  # acceleration that efforts, (motors,), add to it, (nv,)
    robust: Robustness | None = None  # of the robust term, where there is one
    drift: Array | None = None  # second derivative of the errors without efforts, (mt,)
    regression: Regression | None = None  # where parameters are estimated


class ServoEvaluator(Protocol):
    """Evaluates the law of some tasks; not to be shared between threads."""

    def loop_closure_error(self, state: State, inputs: Inputs) -> float:
        """Largest residual of a structural constraint, in m or rad (m/s of rows on velocities)."""

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """How far the tasks are from being done, at the state's time.

        References replace those of the tasks file, by task name; errors as :meth:`Tasks.sample`.
        """

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """The law at a state, for which efforts are made right, if motions are determined there."""

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts within limits: least task slack by priority, then nearest to those without.

        Limits are (motors,), in N or N·m, as are the efforts; with them, whether there are no
        better ones; else the search was cut short.
        """
