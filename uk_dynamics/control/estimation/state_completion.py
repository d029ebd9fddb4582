# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint-state estimation: passive joints from measured ones and the loops, and how sure it is."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from uk_dynamics.arrays import Indices, Values, largest
from uk_dynamics.compilation.build import LoopTables
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.estimation.loop_continuation import LoopContinuation, LoopRows
from uk_dynamics.control.estimation.measured_joints import Encoders
from uk_dynamics.core.servo import Split, free_motions, undetermined
from uk_dynamics.core.servo import continuation_rule as rule
from uk_dynamics.exceptions import InputError, expect
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, State
from uk_dynamics.mechanism_class import Mechanism

JUMP = 0.5  # m or rad, of a measured joint between two measurements
LARGEST_MISFIT = 1e-2  # m or rad, of redundant measurements
SINGULAR_TOLERANCE = 1e-3  # of regularity
_RANK_TOLERANCE = 1e-6  # of the rows that remain for the unmeasured joints
_TRIALS = 4  # configurations that are tried in case the initial guess is singular
_TRIAL_STEP = 0.05  # rad or m


class EstimationStatus(enum.Enum):
    """Outcome of an estimation."""

    COMPLETE = "complete"
    JUMP = "jump"  # measured joints have moved far; the loops were followed to there
    SINGULAR = "singular"  # measured joints do not determine the others in this configuration
    CONTRADICTING = "contradicting"  # redundant measurements contradict each other
    LOST = "lost"  # the loops do not close with these measurements on this branch


@dataclass(frozen=True, slots=True)
class JointStateEstimate:
    """An estimated joint state, and how far it can be trusted.

    Attributes:
        q: Positions, (nq,), in m or rad; the last good ones when lost.
        v: Velocities, (nv,), in m/s or rad/s; zero without measured velocities, and when lost.
        status: Outcome of the estimation.
        joints: Joints that the status is about.
        residual: Largest residual of the loops, in m or rad.
        misfit: Measured minus estimated position of each measured joint, (d,), in m or rad; zero
            unless more joints are measured than the loops need.
        condition: How much the loops amplify measurement errors; infinite when singular.
        iterations: Newton steps.
        branch_doubtful: Since the last reset the loops failed to close, or a singular configuration
            was so near that the mechanism may have passed it onto another assembly branch.
    """

    q: Array
    v: Array
    status: EstimationStatus
    joints: tuple[str, ...]
    residual: float
    misfit: Array
    condition: float
    iterations: int
    branch_doubtful: bool

    @property
    def usable(self) -> bool:
        """Whether the positions belong to this measurement."""
        return self.status is not EstimationStatus.LOST


class StateCompletion:
    """Solves the loops for the passive joints, starting from the last state to keep its branch.

    The first measurement is reached from the mechanism's initial guess, and is taken on its
    assembly branch; so is one after lost measurements that the last state does not lead to.
    Velocity rows, compliant rows and inactive ones determine no position and are not used. Floating
    and planar joints have no encoder: they are as :meth:`complete` is told, and rows between them
    and the world, which say where they are, are not used for the others.

    Attributes:
        mechanism: With the joints.
        encoders: The measured joints; measurements given as arrays have their order.
        redundant: Number of measured joints beyond those that the loops need.
        home: Closed configuration at the mechanism's initial guess, (nq,).
        rows: Loop rows that are used.
        split: Measured joints and others.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        measured: Sequence[str] | None = None,
        *,
        jump: float = JUMP,
        largest_misfit: float = LARGEST_MISFIT,
        singular_tolerance: float = SINGULAR_TOLERANCE,
        active: ActiveConstraints | None = None,
    ) -> None:
        """Check that the measured joints determine all others.

        Args:
            mechanism: With loops that close.
            measured: Joints with an encoder; None: those of the mechanism file.
            jump: Displacement of a measured joint between two measurements that counts as a jump,
                in rad or m.
            largest_misfit: Difference above which redundant measurements contradict each other, in
                rad or m.
            singular_tolerance: Reciprocal condition number below which the loops are singular.
            active: Switchable constraints that are on; None: as in the mechanism file.

        Raises:
            UnknownNameError: A measured joint does not exist.
            InputError: The measured joints do not determine all others; these are named.
            AssemblyError: The loops do not close at the initial guess.
        """
        expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
        self.mechanism, self.jump, self.largest_misfit = mechanism, jump, largest_misfit
        self.encoders = Encoders(mechanism, measured)
        self._model = mechanism.model
        self._held = np.isnan(self._model.by_velocity(self._model.neutral()))  # velocities of bases
        self.singular_tolerance = singular_tolerance
        self.home = mechanism.assemble()
        self.switch(active)
        self.reset()

    def switch(self, active: ActiveConstraints | None) -> None:
        """Change which switchable constraints are on; the last state is kept.

        Args:
            active: Those that are on; None: as in the mechanism file.

        Raises:
            InputError: With them the measured joints do not determine all others, which are named;
                nothing is changed.
        """
        rows, encoders = LoopRows(self.mechanism, active), self.encoders
        scale = rows.coordinate_scale(self.home)
        A = self._determining(rows, scale)
        others = np.setdiff1d(np.flatnonzero(~self._held), encoders.columns)
        free = free_motions(A, scale, _RANK_TOLERANCE) - int(self._held.sum())  # rows ignore bases
        redundant = len(encoders.names) - free
        split = Split(encoders.columns, others, scale[others], encoders.deviations, redundant)
        self._continuation = LoopContinuation(
            rows, self._model, encoders.places, split, self.singular_tolerance
        )
        self.rows, self.split, self.redundant = rows, split, redundant

    def reset(self) -> None:
        """Forget the last state: the next measurement is reached from the initial guess again."""
        self._q = self.home
        self._t: float | None = None
        self._doubtful = self._is_lost = False
        self._continuation.forget()

    def complete(
        self,
        positions: Values,
        velocities: Values | None = None,
        t: float = 0.0,
        references: Mapping[str, ReferenceSample] | None = None,
        bases: State | None = None,
    ) -> JointStateEstimate:
        """The state of all joints.

        Args:
            positions: Of the measured joints, by name or (d,), in rad or m.
            velocities: Of the measured joints, in rad/s or m/s; None: zero.
            t: Time, for rheonomic loops, in s.
            references: What replaces the references of structural constraints, by name.
            bases: A state that has floating and planar joints as they are; None: they are where
                they were, and at rest.

        Raises:
            UnknownNameError: A name is not that of a measured joint.
            StateError: A measured joint is missing, or a number is not finite.
        """
        wanted = self.encoders.values(positions, "position")
        rates = None if velocities is None else self.encoders.values(velocities, "velocity")
        self.rows.live = references or {}
        continuation = self._continuation
        if bases is not None:
            self._q = self._q.copy()
            for base in self._model.bases:
                self._q[base.position] = bases.q[base.position]
        # encoders may count within one turn
        last = self._q[self.encoders.places]
        wanted = self.encoders.nearest_turn(wanted, last)
        far = np.abs(wanted - last) > self.jump
        first = self._t is None
        before = t if self._t is None else self._t
        continuation.iterations = 0
        continuation.passed_singularity = False
        q = None
        if not first and not far.any():
            q = continuation.step(self._q, t, wanted)
        if q is None or continuation.passed_singularity:
            continuation.passed_singularity = False  # shorter steps may show that there is none
            # after an unreachable measurement the next one is probably unreachable too
            steps = rule.FEW_STEPS if self._is_lost else rule.MOST_STEPS
            q = continuation.follow(self._q, (before, t), wanted, steps)
        if q is None and first:
            q = self._assembled(wanted, t)
        elif q is None and self._is_lost:
            # no continuation may lead out of the last state, in a dead centre say
            start = self.home.copy()
            for base in self._model.bases:
                start[base.position] = self._q[base.position]
            wanted = self.encoders.nearest_turn(wanted, start[self.encoders.places])
            q = continuation.follow(start, (t, t), wanted, rule.FEW_STEPS)
        self._is_lost = q is None
        if q is not None:
            self._q, self._t = q, t
        jumped = () if first else tuple(compress(self.encoders.names, far))
        found = self._estimate(wanted, rates, t, jumped)
        if bases is not None:
            found.v[self._held] = bases.v[self._held]
        return found

    def go_on(self, t: float, q: Array) -> None:
        """Take the last state, of time t in s, from where it was found otherwise; q is (nq,)."""
        self._q, self._t, self._is_lost = q, t, False
        self._continuation.forget()

    def tables(self, homes: Array) -> LoopTables:
        """What C knows of it; starts begin at the nearest of homes, (k, nq)."""
        rows, turning = self.rows, self.encoders.turning
        return LoopTables(self.split, rows.held, rows.scale, turning, homes, rows.moving)

    def sensitivity(self) -> Array:
        """Derivative of all coordinates by the measured joints at the last state, J, (nv, d).

        Errors of encoders with covariance C become errors of the state with covariance J C Jᵀ.
        """
        A, _ = self.rows.linearize(self._q, self._t or 0.0)
        return self._continuation.factor(A).sensitivity()

    def _assembled(self, wanted: Array, t: float) -> Array | None:
        """Assemble the loops at the first measurement if continuation does not reach it."""
        if self.redundant:
            return None
        guess = self._q.copy()
        guess[self.encoders.places] = wanted
        found = self.mechanism.assembly(guess, hold=self.encoders.names, t=t)
        if not found.closed:
            return None
        self._continuation.forget()
        return self._continuation.correct(found.q, t, wanted)

    def _estimate(
        self, wanted: Array, rates: Array | None, t: float, jumped: tuple[str, ...]
    ) -> JointStateEstimate:
        """The estimate at the last configuration, which belongs to the measurement unless lost."""
        names, continuation = self.encoders.names, self._continuation
        singular = self._is_lost or continuation.factors.singular  # no factors before a success
        self._doubtful |= continuation.passed_singularity
        misfit = wanted - self._q[self.encoders.places]
        size = largest(misfit)
        status, joints = EstimationStatus.COMPLETE, tuple[str, ...]()
        if self._is_lost:
            self._doubtful = True  # it may come back on the other side of a dead centre
            status = EstimationStatus.LOST
            joints = tuple(compress(names, np.abs(misfit) >= 0.5 * size))
        elif singular:
            status = EstimationStatus.SINGULAR
            joints = tuple(self._model.velocity_names[i] for i in continuation.factors.open_others)
        elif self.redundant and size > self.largest_misfit:
            status = EstimationStatus.CONTRADICTING
            joints = (names[int(np.abs(misfit).argmax())],)
        elif jumped:
            status, joints = EstimationStatus.JUMP, jumped
        v = np.zeros(self._model.nv)
        if rates is not None and not self._is_lost:
            v = continuation.velocity(self._q, t, self.rows.drift(self._q, t), rates)
        return JointStateEstimate(
            q=self._q.copy(),
            v=v,
            status=status,
            joints=joints,
            residual=continuation.residual,
            misfit=misfit,
            condition=np.inf if singular else 1.0 / continuation.factors.regularity,
            iterations=continuation.iterations,
            branch_doubtful=self._doubtful,
        )

    def _determining(self, rows: LoopRows, scale: Array) -> Array:
        """A (m, nv) at a configuration where the measured joints determine the others.

        The initial guess may be singular, like a flat parallelogram; then others near it are tried.
        """
        random = np.random.default_rng(1)
        q = self.home
        for _ in range(_TRIALS):
            A, _ = rows.linearize(q, 0.0)
            open_ = undetermined(A, scale, self._known, _RANK_TOLERANCE)
            if not len(open_):
                return A
            guess = self._model.integrate(
                self.home, random.uniform(-_TRIAL_STEP, _TRIAL_STEP, self._model.nv)
            )
            q = self.mechanism.assembly(guess).q
        names = self._model.velocity_names
        loose = ", ".join(names[i] for i in open_)
        measured = ", ".join(self.encoders.names) or "none"
        freedoms = free_motions(A, scale, _RANK_TOLERANCE) - int(self._held.sum())
        more = self._missing(A, scale, open_)
        remedy = f"write measured: [{', '.join(more)}]" if more else "measure some of these too"
        raise InputError(
            f"the measured joints ({measured}) do not determine {loose}: "
            f"the mechanism has {freedoms} degrees of freedom; {remedy}",
            file=self.mechanism.spec.file,
            place="measured",
        )

    def _missing(self, A: Array, scale: Array, open_: Indices) -> list[str]:
        """Measured joints with as many others as are needed; none where that is not possible."""
        names, columns = self._model.velocity_names, self._known
        for i in open_:
            single = names[i] in self.mechanism.joint_names
            if single and i in undetermined(A, scale, columns, _RANK_TOLERANCE):
                columns = np.append(columns, i)
        if len(undetermined(A, scale, columns, _RANK_TOLERANCE)):
            return []
        return [names[i] for i in columns if not self._held[i]]

    @property
    def _known(self) -> Indices:
        """Coordinates that are measured, or told."""
        return np.append(self.encoders.columns, np.flatnonzero(self._held))
