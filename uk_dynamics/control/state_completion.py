"""From measured joints to the whole state: passive positions and velocities solved on the loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.completion_result import Completion, CompletionStatus
from uk_dynamics.control.encoders import Encoders
from uk_dynamics.control.loop_follower import FEW_LEGS, MOST_LEGS, LoopFollower
from uk_dynamics.control.loop_rows import LoopRows
from uk_dynamics.core.completion import Split, free_motions, undetermined
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array

_RANK_TOLERANCE = 1e-6  # of what a set of encoders determines, at a generic configuration
_TRIALS = 4  # configurations that are tried, in case the initial guess is singular
_TRIAL_STEP = 0.05  # rad or m


class StateCompletion:
    """Solves passive joints on the loops, always from the last state, so the branch is kept.

    The first measurement is reached from the mechanism's initial guess, whose branch it takes.
    Rows on velocities alone, compliant ones, and those that are switched off hold no position and
    are not used.

    Attributes:
        mechanism: Whose joints.
        encoders: The measured joints; measurements given as arrays have their order.
        redundant: How many more are measured than the loops need.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        measured: Sequence[str] | None = None,
        *,
        jump: float = 0.5,
        largest_misfit: float = 1e-2,
        singular_tolerance: float = 1e-3,
        active: ActiveConstraints | None = None,
    ) -> None:
        """Check that the measured joints determine all others.

        Args:
            mechanism: With loops that close.
            measured: Joints with an encoder; None: those of the mechanism file.
            jump: Way of a measured joint between two measurements above which it has jumped, in
                rad or m.
            largest_misfit: Disagreement of redundant measurements above which they contradict each
                other, in rad or m.
            singular_tolerance: One over the condition above which the loops are singular.
            active: Switchable constraints that are on; None: those of the start.

        Raises:
            UnknownNameError: A measured joint does not exist.
            InputError: The measured joints leave others open; they are named.
            AssemblyError: The loops do not close at the initial guess.
        """
        self.mechanism = mechanism
        self.jump = jump
        self.largest_misfit = largest_misfit
        self.encoders = Encoders(mechanism, measured)
        self._model = mechanism.model
        self._singular_tolerance = singular_tolerance
        self._home = mechanism.assemble()
        self.switch(active)
        self.reset()

    def switch(self, active: ActiveConstraints | None) -> None:
        """From now on other switchable constraints are on; the last state stays the last one.

        Args:
            active: Those that are on; None: those of the start.

        Raises:
            InputError: With them the measured joints leave others open, which are named; nothing
                is switched then.
        """
        rows, encoders = LoopRows(self.mechanism, active), self.encoders
        scale = rows.coordinate_scale(self._home)
        A = self._determining(rows, scale)
        others = np.setdiff1d(np.arange(self._model.nv), encoders.columns)
        redundant = len(encoders.names) - free_motions(A, scale, _RANK_TOLERANCE)
        split = Split(encoders.columns, others, scale[others], encoders.deviations, redundant)
        self._follower = LoopFollower(
            rows, self._model, encoders.places, split, self._singular_tolerance
        )
        self._rows, self.redundant = rows, redundant

    def reset(self) -> None:
        """Forget the last state: the next measurement is reached from the initial guess again."""
        self._q = self._home
        self._t: float | None = None
        self._doubtful = False
        self._is_lost = False
        self._follower.forget()

    def complete(
        self,
        positions: Mapping[str, float] | ArrayLike,
        velocities: Mapping[str, float] | ArrayLike | None = None,
        t: float = 0.0,
        references: Mapping[str, ReferenceSample] | None = None,
    ) -> Completion:
        """The state of all joints.

        Args:
            positions: Of the measured joints, by name or (d,), in rad or m.
            velocities: Of the measured joints, in rad/s or m/s; None: they stand still.
            t: Time, for loops that move in time, in s.
            references: What replaces the references of structural constraints, by name.

        Raises:
            UnknownNameError: A name is not one of a measured joint.
            StateError: Some measured joint is missing, or a number is not finite.
        """
        wanted = self.encoders.values(positions, "position")
        rates = None if velocities is None else self.encoders.values(velocities, "velocity")
        self._rows.live = references or {}
        follower = self._follower
        # an encoder that counts within one turn is read as the nearest of its turns
        last = self._q[self.encoders.places]
        wanted = self.encoders.nearest_turn(wanted, last)
        far = np.abs(wanted - last) > self.jump
        first = self._t is None
        before = t if self._t is None else self._t
        follower.iterations = 0
        follower.passed_singularity = False
        q = None
        if not first and not far.any():
            q = follower.step(self._q, t, wanted)
        if q is None:
            # the measurement after a hopeless one is probably hopeless too
            legs = FEW_LEGS if self._is_lost else MOST_LEGS
            q = follower.lead(self._q, (before, t), wanted, legs)
        if q is None and first:
            q = self._assembled(wanted, t)
        self._is_lost = q is None
        if q is None:
            return self._lost(wanted)
        self._q, self._t = q, t
        return self._judged(wanted, rates, t, () if first else self.encoders.named(far))

    def sensitivity(self) -> Array:
        """How far every coordinate moves per measured joint at the last state, J, (nv, d).

        Errors of encoders with covariance C become errors of the state with covariance J C Jᵀ.
        """
        A, _ = self._rows.linearize(self._q, self._t or 0.0)
        return self._follower.factor(A).sensitivity()

    def _assembled(self, wanted: Array, t: float) -> Array | None:
        """Close the loops around the first measurement, where nothing leads there."""
        if self.redundant:
            return None
        guess = self._q.copy()
        guess[self.encoders.places] = wanted
        found = self.mechanism.assembly(guess, hold=self.encoders.names, t=t)
        if not found.closed:
            return None
        self._follower.forget()
        return self._follower.correct(found.q, t, wanted)

    def _judged(
        self, wanted: Array, rates: Array | None, t: float, far: tuple[str, ...]
    ) -> Completion:
        factors = self._follower.factors
        self._doubtful |= self._follower.passed_singularity
        status = CompletionStatus.COMPLETE
        joints: tuple[str, ...] = ()
        misfit = wanted - self._q[self.encoders.places]
        if factors.singular:
            status = CompletionStatus.SINGULAR
            joints = tuple(self._model.velocity_names[i] for i in factors.open_others)
        elif self.redundant and np.abs(misfit).max() > self.largest_misfit:
            status = CompletionStatus.CONTRADICTING
            joints = (self.encoders.names[int(np.abs(misfit).argmax())],)
        elif far:
            status, joints = CompletionStatus.JUMP, far
        v = np.zeros(self._model.nv)
        if rates is not None:
            v = self._follower.velocity(self._q, t, self._rows.drift(self._q, t), rates)
        return Completion(
            q=self._q.copy(),
            v=v,
            status=status,
            joints=joints,
            residual=self._follower.residual,
            misfit=misfit,
            condition=np.inf if factors.singular else 1.0 / factors.regularity,
            iterations=self._follower.iterations,
            branch_doubtful=self._doubtful,
        )

    def _lost(self, wanted: Array) -> Completion:
        self._doubtful = True  # it may return from behind a dead centre
        misfit = wanted - self._q[self.encoders.places]
        return Completion(
            q=self._q.copy(),
            v=np.zeros(self._model.nv),
            status=CompletionStatus.LOST,
            joints=self.encoders.named(np.abs(misfit) >= 0.5 * np.abs(misfit).max()),
            residual=self._follower.residual,
            misfit=misfit,
            condition=np.inf,
            iterations=self._follower.iterations,
            branch_doubtful=self._doubtful,
        )

    def _determining(self, rows: LoopRows, scale: Array) -> Array:
        """A (m, nv) at a configuration where the measured joints determine the others.

        The initial guess may be singular, as a flat parallelogram is, so others near it are tried.

        Raises:
            InputError: They never do.
        """
        random = np.random.default_rng(1)
        q = self._home
        for _ in range(_TRIALS):
            A, _ = rows.linearize(q, 0.0)
            open_ = undetermined(A, scale, self.encoders.columns, _RANK_TOLERANCE)
            if not len(open_):
                return A
            guess = self._model.integrate(
                self._home, random.uniform(-_TRIAL_STEP, _TRIAL_STEP, self._model.nv)
            )
            q = self.mechanism.assembly(guess).q
        names = self._model.velocity_names
        loose = ", ".join(names[i] for i in open_)
        measured = ", ".join(self.encoders.names) or "none"
        freedoms = free_motions(A, scale, _RANK_TOLERANCE)
        raise InputError(
            f"the measured joints ({measured}) do not determine {loose}: "
            f"the mechanism has {freedoms} freedoms; measure some of these too",
            file=self.mechanism.spec.file,
            place="measured",
        )
