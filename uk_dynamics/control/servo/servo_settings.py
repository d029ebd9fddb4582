# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a servo law is set to and remembers, in the memory on which its steps in C work, too."""

import threading
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Literal

import numpy as np

from uk_dynamics.compilation import Selection
from uk_dynamics.compilation.runtime import ROBUST_KNOWN, ControlMemory
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.command import require_motors
from uk_dynamics.control.estimation import Corrections, Estimate
from uk_dynamics.control.internal_efforts import InternalEfforts, checked_internal_efforts
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, Settings, period_answers
from uk_dynamics.control.servo.contact_schedule import ContactSchedule
from uk_dynamics.control.servo.prediction_and_bumpless_start import BumplessStart, Prediction
from uk_dynamics.control.servo.robust_promise import Promise, promise
from uk_dynamics.control.servo.servo_backend import servo_evaluator
from uk_dynamics.control.servo.task_gains import TaskGains
from uk_dynamics.exceptions import InputError, expect, expect_names
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Told
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array
from uk_dynamics.mechanism_class import Mechanism


class ServoSettings:
    """Settings and memory of the servo law of some tasks.

    Attributes:
        mechanism: What is controlled.
        tasks: What it tracks.
        gains: Of the tasks' feedback; they can be changed at any time.
        limits: Of the motors; they can be restricted at any time.
        prediction: Of the middle of the control period; None: control is continuous.
        start: How the first error after a reset decays.
        corrections: What the law learns of its machine; None: nothing.
        promise: What a robust law promises, and what it rests on; None: the tasks file says nothing
            that is uncertain.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: Tasks,
        *,
        control_period: float | None = None,
        friction: Literal["model", "none"] = "model",
        blend_time: float = 0.0,
        active: ActiveConstraints | Iterable[str] | None = None,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            tasks: Made for this mechanism.
            control_period: Time for which efforts are held, in s; they are exact in its middle.
                None: continuous control, efforts are exact at the state.
            friction: ``model``: friction and damping of the mechanism file are fed forward at the
                velocity of the state, including its noise; ``none``: they are left to the feedback.
            blend_time: Time in which the initial error decays along a smooth path, in s; 0:
                feedback acts on the full error at once.
            active: Switchable constraints that are on, or their names; None: as in the mechanism
                file.
            backend: Evaluator of the law; see :func:`select_backend`. ``auto`` waits for the
                compiler at the first start: a controller is often part of a simulation, whose
                numbers must not change midway.

        Raises:
            InputError: The mechanism has no motors, the tasks belong to another mechanism, there is
                a rate limit and no control period, or an option is invalid.
            CompilationError: With ``compiled``: something cannot be compiled.
        """
        expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
        expect("tasks", tasks, Tasks, 'Tasks.from_file("five_bar_sweep", mechanism)')
        if tasks.mechanism is not mechanism:
            raise InputError("the tasks were made for another mechanism", file=tasks.spec.file)
        require_motors(mechanism)
        if control_period is not None and not 0.0 < control_period < np.inf:
            problem = f"expected a time in s, found {control_period}"
            raise InputError(problem, place="control_period")
        if not 0.0 <= blend_time < np.inf:
            raise InputError(f"expected a time in s, found {blend_time}", place="blend_time")
        self.mechanism, self.tasks = mechanism, tasks
        self.memory = memory = ControlMemory(tasks)
        self.blend_time = blend_time
        if active is not None and not isinstance(active, ActiveConstraints):
            active = ActiveConstraints(frozenset(active))
        if active is not None:
            mechanism.hierarchy.check(active.names)
        self._active = active
        self.structure = {}
        self._control_period = control_period
        memory.fields["period"][0] = control_period or 0.0
        self.weights = tasks.allocation.weights
        self.preload = tasks.allocation.preload
        self.internal = checked_internal_efforts(mechanism, tasks.allocation.internal_forces)
        self.gains = TaskGains(tasks.constraints, memory.fields)
        self._friction: Literal["model", "none"] = friction
        memory.fields["friction"][0] = friction == "model"
        expect_names("friction", [friction], ("model", "none"), place="friction")
        self._evaluator = servo_evaluator(
            tasks,
            backend,
            friction=friction == "model",
            memory=memory.numbers,
            periods=partial(period_answers, partial(type(self), mechanism, tasks)),
        )
        self.limits = MotorLimits(mechanism, control_period, memory.fields)
        self.prediction: Prediction | None = None
        if control_period is not None:
            self.prediction = Prediction(mechanism.model, control_period, memory.fields)
        self.start = BumplessStart(tasks.constraints, memory.fields, tasks.side)
        self._in_c: CompiledPeriod | None = None
        self._lock = threading.RLock()  # what a period remembers is of one thread at a time
        self._ranked = len(np.unique(tasks.priorities)) > 1 or tasks.side is not None
        self.promise: Promise | None = None
        if tasks.uncertainty is not None:
            self.promise = promise(tasks, control_period)
            for name, value in zip(ROBUST_KNOWN, self.promise.known, strict=True):
                memory.fields[name][:] = value
        self.robust = self.promise is not None
        self._plan = None if tasks.standing is None else ContactSchedule(tasks, memory.fields)
        self.corrections: Corrections | None = None
        if tasks.corrected:
            self.corrections = Corrections(tasks, memory.fields)
            if control_period is not None:  # else there are no periods to compare
                self.adaptive, self.observer = bool(tasks.adaptive), bool(tasks.observed.any())

    def __repr__(self) -> str:
        period = self.control_period
        when = "continuous" if period is None else f"every {period:g} s"
        return f"<ServoController {', '.join(self.tasks.names)} of {self.mechanism.name}, {when}>"

    @property
    def control_period(self) -> float | None:
        """Time for which efforts are held, in s; None: control is continuous."""
        return self._control_period

    @property
    def friction(self) -> Literal["model", "none"]:
        """Whether friction and damping of the mechanism file are fed forward."""
        return self._friction

    @property
    def weights(self) -> Array:
        """Diagonal of W, (motors,)."""
        return self.memory.fields["weights"]

    @weights.setter
    def weights(self, weights: Array) -> None:
        self.memory.fields["weights"][:] = weights

    @property
    def blend_time(self) -> float:
        """Time in which the first error decays, in s; see :class:`BumplessStart`."""
        return float(self.memory.fields["blend_time"][0])

    @blend_time.setter
    def blend_time(self, seconds: float) -> None:
        self.memory.fields["blend_time"][0] = seconds

    @property
    def internal(self) -> InternalEfforts | None:
        """Additional efforts that cause internal forces; None: none.

        See :meth:`set_internal_forces`.
        """
        return self._internal

    @internal.setter
    def internal(self, internal: InternalEfforts | None) -> None:
        self._internal, fields = internal, self.memory.fields
        fields["internal"][0] = internal is not None
        if internal is not None:
            fields["internal_row"][:], fields["internal_force"][:] = internal.named, internal.added
            fields["internal_unit"][:] = internal.unit

    @property
    def preload(self) -> Array | None:
        """Preferred efforts s where the tasks leave freedom, (motors,), in N or N·m; None: zero."""
        return self._preload

    @preload.setter
    def preload(self, preload: Array | None) -> None:
        self._preload, self.memory.current = preload, False

    @property
    def active(self) -> ActiveConstraints | None:
        """Switchable constraints that are on; None: as in the mechanism file."""
        return self._active

    @active.setter
    def active(self, active: ActiveConstraints | None) -> None:
        if (active and active.names) != (self._active and self._active.names):
            self.memory.fields["regular_rank"][0] = 0.0  # of other rows
        self._active, self.memory.current = active, False

    @property
    def robust(self) -> bool:
        """Whether the robust term acts."""
        return self._robust

    @robust.setter
    def robust(self, acts: bool) -> None:
        if acts and self.promise is None:
            problem = "the tasks file says nothing that is uncertain; add robust"
            raise InputError(problem, file=self.tasks.spec.file)
        self._robust, self.memory.current = bool(acts), False

    @property
    def adaptive(self) -> bool:
        """Whether estimates of parameters are used; without, they go on all the same."""
        return bool(self.corrections is not None and self.memory.fields["adapts"][0])

    @adaptive.setter
    def adaptive(self, acts: bool) -> None:
        self._switch("adapts", acts, "adaptive", bool(self.tasks.adaptive))

    @property
    def observer(self) -> bool:
        """Whether disturbances that are observed are compensated."""
        return bool(self.corrections is not None and self.memory.fields["observes"][0])

    @observer.setter
    def observer(self, acts: bool) -> None:
        self._switch("observes", acts, "observer", bool(self.tasks.observed.any()))

    def _switch(self, field: str, acts: bool, key: str, declared: bool) -> None:
        if acts and not declared:
            raise InputError(f"the tasks file has no {key}; add it", file=self.tasks.spec.file)
        if self.corrections is not None:
            self.memory.fields[field][0] = acts

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Parameters that are estimated, as they are known now."""
        return () if self.corrections is None else self.corrections.estimates()

    @property
    def estimated(self) -> tuple[str, ...]:
        """Names of the parameters that are estimated, (p,)."""
        return self.tasks.spec.adaptive

    def told(self, watched: Array | None = None) -> Told:
        """Bounds and estimates at K instants, of whose memory C kept (K, watched); None: now."""
        given = self.memory.learned[None] if watched is None else watched
        rows, p = len(self.tasks.constraints), self.tasks.adaptive
        bound = np.full(rows, np.nan) if self.promise is None else self._bound()
        found = np.zeros((2, len(given), p))
        if self.corrections is not None and p:
            found[:] = self.corrections.read(given)
        return Told(np.tile(bound, (len(given), 1)), *found)

    @property
    def structure(self) -> Mapping[str, ReferenceSample]:
        """What replaces the references of structural constraints, by name."""
        return self._structure

    @structure.setter
    def structure(self, structure: Mapping[str, ReferenceSample]) -> None:
        self._structure, self.memory.current = structure, False

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows, ``task.label``."""
        return self.tasks.row_names

    def reset(self, efforts: Mapping[str, float] | Array | None = None) -> None:
        """Forget the past: before a start, after a pause or a jump of time or state.

        Args:
            efforts: Present motor efforts, by name or (motors,), in N or N·m, from which rate
                limits count; None: unknown.

        Raises:
            UnknownNameError, StateError: A motor does not exist, or the size is wrong.
        """
        self.limits.reset(None if efforts is None else self.mechanism.actuators.efforts(efforts))
        self.start.reset()
        if self._plan is not None:
            self._plan.reset()
        for name in ("regular_rank", "pushed"):
            self.memory.fields[name][:] = 0.0
        if self.prediction is not None:
            self.prediction.reset()

    def set_internal_forces(self, forces: Mapping[str, float]) -> None:
        """Change the internal forces; see :func:`internal_efforts`.

        Args:
            forces: In N or N·m, by constraint row; initially those of the tasks file.

        Raises:
            UnknownNameError: There is no such row.
            InputError: The motors cannot cause them at the start of motions, or redundant rows
                share a force.
        """
        self.internal = checked_internal_efforts(self.mechanism, forces)

    def _bound(self) -> Array:
        """The promised bounds, (mt,); infinite without the term, or with other gains."""
        assert self.promise is not None
        promised = self.promise.adapting if self.adaptive else self.promise.error
        constraints, gains = self.tasks.constraints, self.gains
        same = np.array_equal(gains.damping, constraints.damping) and np.array_equal(
            gains.stiffness, constraints.stiffness
        )
        acts = same and self.robust and not self.observer
        return promised if acts else np.full(len(constraints), np.inf)

    def settings(self) -> Settings:
        """What C is told before a period."""
        return Settings(self._preload, self._active, self._structure, self._robust)
