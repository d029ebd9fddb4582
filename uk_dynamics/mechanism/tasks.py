# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks: the constraints that motors enforce, with their references."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.constraints.references import References, ReferenceSample
from uk_dynamics.constraints.rows import ConstraintSet, ConstraintTerms
from uk_dynamics.core.servo import lacking, relaxed_share
from uk_dynamics.exceptions import InputError, expect, inside
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.actuators import Allocation
from uk_dynamics.mechanism.resolution.constraint_resolution import (
    resolve_constraint,
    resolve_references,
)
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.robot_resolution import attached_frames
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.standing_contacts import StandingContacts
from uk_dynamics.mechanism.task_checks import bandwidths, check_bounded, check_surfaces
from uk_dynamics.mechanism.uncertainty import Uncertainty
from uk_dynamics.model.kinematics import Workspace


class Tasks:
    """Desired motions of a mechanism: rows with references that vary in time.

    Attributes:
        spec: What the tasks file says.
        mechanism: The mechanism that they are for.
        model: The mechanism's robot, extended by the frames of the tasks.
        constraints: The tasks as constraints, in declared order.
        references: What the tasks follow over time.
        allocation: What decides where they leave efforts open.
        priorities: Priority of each row, 1 first, (mt,).
        by_generalized_inverse: Whether the feedback of each row is distributed by review (72),
            (mt,).
        side: Which rows are bounded: 1 by what they are at least, −1 at most, 0 not, (mt,); None:
            none is.
        served: The tasks without those that are bounded; None: all are.
        uncertainty: What may differ from the model; None: nothing.
        standing: Contacts whose forces move the machine; None: there are none.
    """

    def __init__(self, spec: TasksSpec, mechanism: ResolvedMechanism) -> None:
        """Resolve a specification against a mechanism.

        Raises:
            InputError: Names that do not exist, with file and place.
        """
        expect("spec", spec, TasksSpec, "TasksSpec.from_text(...)")
        expect("mechanism", mechanism, ResolvedMechanism, 'Mechanism.from_file("five_bar")')
        self.spec, self.mechanism = spec, mechanism
        frames = attached_frames(spec.tasks, mechanism.model.link_names, spec.file, "tasks")
        self.model = mechanism.extended_model(frames)
        constraints = tuple(
            resolve_constraint(task, self.model, spec.file, "tasks") for task in spec.tasks
        )
        self.constraints = ConstraintSet(
            constraints, self.model.ancestry, self.model.nq, mechanism.spec.model.length
        )
        self.references = resolve_references(spec.tasks, constraints, "task")
        self.allocation = Allocation.of(
            spec.allocation, mechanism.actuators, spec.file, mechanism.row_names
        )
        sizes = [len(constraint.rows) for constraint in constraints]
        self.priorities: NDArray[np.intp] = np.repeat([t.priority for t in spec.tasks], sizes)
        self.by_generalized_inverse: NDArray[np.bool_] = np.repeat(
            [task.feedback == "generalized_inverse" for task in spec.tasks], sizes
        )

        self.side: Array | None = None
        self.served: Tasks | None = self
        if any(task.one_sided for task in spec.tasks):
            check_bounded(spec, self.constraints)
            sides = {None: 0.0, "at_least": 1.0, "at_most": -1.0}
            self.side = np.repeat([sides[task.one_sided] for task in spec.tasks], sizes)
            own = tuple(task for task in spec.tasks if task.one_sided is None)
            self.served = Tasks(replace(spec, tasks=own), mechanism) if own else None
        self._relaxed = self._relaxations(spec, sizes)
        self.standing: StandingContacts | None = None
        if spec.contacts and not spec.contact_rows:
            self.standing = StandingContacts(spec, mechanism, sizes)
        elif lifted := [task for task in spec.tasks if task.while_lifted]:
            problem = "no contact stands; add contacts, or leave while_lifted out"
            raise InputError(problem, file=spec.file, place=f"tasks.{lifted[0].name}.while_lifted")
        self.uncertainty: Uncertainty | None = None
        if spec.robust is not None:
            check_surfaces(spec, self.constraints)
            self.uncertainty = Uncertainty(spec.robust, mechanism, spec.file, spec.adaptive)
        elif spec.adaptive:
            problem = "estimates stay within intervals; give them in robust: parameters"
            raise InputError(problem, file=spec.file, place="adaptive")
        #: Bandwidths with which disturbances are observed, (mt,), in rad/s; 0: they are not.
        self.observed = bandwidths(spec, self.constraints, "observer")
        #: The same of the velocity observer.
        self.watched = bandwidths(spec, self.constraints, "velocity_observer")

    @property
    def adaptive(self) -> int:
        """Number of parameters that are estimated while the machine moves."""
        return 0 if self.uncertainty is None else len(self.uncertainty.adaptive)

    @property
    def met_delay(self) -> float:
        """Delay of the loop, in s, that the gain of a robust law is for: it is not predicted."""
        return 0.0 if self.uncertainty is None else self.uncertainty.spec.delay

    @property
    def corrected(self) -> bool:
        """Whether the law compares periods: it adapts or observes."""
        return bool(self.adaptive or self.observed.any() or self.watched.any()) or self.learns_size

    @property
    def learns_size(self) -> bool:
        """Whether the law learns how large all that is uncertain is."""
        return self.spec.robust is not None and self.spec.robust.leakage is not None

    def lacking(self, errors: Array) -> Array:
        """Errors of the rows, (..., mt), where bounded rows have them beyond their bounds only."""
        return lacking(-errors, self.side) * -1.0 if self.side is not None else errors

    def _relaxations(self, spec: TasksSpec, sizes: list[int]) -> tuple[Any, ...] | None:
        """Place of a joint, and its numbers for :func:`relaxed_share`, by row; None: no task is."""
        if not any(task.relaxed for task in spec.tasks):
            return None
        rows: list[tuple[float, ...]] = []
        for task, size in zip(spec.tasks, sizes, strict=True):
            place, one = 0, (0.0, 0.0, 1.0, 0.0)
            if (found := task.relaxed) is not None:
                with inside(spec.file, f"tasks.{task.name}.relaxed.joint"):
                    place = self.model.position_index(found.joint)
                one = (found.at, found.within, found.blend, found.every)
            rows += [(place, float(found is not None), *one)] * size
        columns = np.array(rows).T
        return columns[0].astype(np.intp), *columns[1:]

    @property
    def relaxes(self) -> bool:
        """Whether some task asks for less near a configuration."""
        return self._relaxed is not None

    def share(self, q: NDArray[Any]) -> Array | None:
        """What part of their demands tasks have at a configuration, (mt,); None: all of them.

        Args:
            q: Configuration, (nq,), or symbols.
        """
        if self._relaxed is None:
            return None
        place, relaxed, *numbers = self._relaxed
        share: Array = 1.0 + relaxed * (relaxed_share(q[place], *numbers) - 1.0)
        return share

    @classmethod
    def from_file(cls, path: str | Path, mechanism: ResolvedMechanism) -> "Tasks":
        """Read a tasks file.

        Args:
            path: Path or ``package://`` URI of a tasks file, or the name of a shipped one.
            mechanism: The mechanism it is for.

        Raises:
            InputError: Anything wrong in the file, with the place.
        """
        return cls(TasksSpec.from_file(path), mechanism)

    @classmethod
    def from_spec(cls, spec: TasksSpec, mechanism: ResolvedMechanism) -> "Tasks":
        """Build tasks from a specification, such as ``TasksSpec.from_text(...)``.

        Raises:
            InputError: Names that do not exist, with file and place.
        """
        return cls(spec, mechanism)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], mechanism: ResolvedMechanism) -> "Tasks":
        """Build tasks from what a tasks file would contain, as Python's dicts and lists.

        Args:
            data: With the key ``tasks``, as in a file; ``schema`` may be left out.
            mechanism: The mechanism they are for.

        Raises:
            InputError: As for a file, with the place.
        """
        return cls(TasksSpec.from_data(data), mechanism)

    @classmethod
    def through(
        cls,
        mechanism: ResolvedMechanism,
        times: ArrayLike,
        waypoints: Mapping[str, ArrayLike] | None = None,
        *,
        boundary: Literal["clamped", "natural", "periodic"] = "clamped",
        **joints: ArrayLike,
    ) -> "Tasks":
        """Tasks that move joints through waypoints, on splines of degree 5.

        Args:
            mechanism: The mechanism they are for.
            times: When each waypoint is reached, (k,), increasing, in s.
            waypoints: Positions at these times, (k,), in m or rad, by joint.
            boundary: ``clamped``: at rest at both ends; ``natural``; or ``periodic``.
            **joints: Further waypoints, by keyword: ``crank=[0.6, 1.0, 0.6]``.

        Raises:
            InputError: Unknown joints, or numbers that do not fit.
        """
        along = {"type": "spline", "degree": 5, "times": times, "boundary": boundary}
        tasks = {
            joint: {"type": "joint", "joint": joint, "reference": {**along, "values": values}}
            for joint, values in {**(waypoints or {}), **joints}.items()
        }
        return cls.from_data({"tasks": tasks}, mechanism)

    def __repr__(self) -> str:
        return f"<Tasks {', '.join(self.names)} of {self.mechanism.name}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Task names in declared order."""
        return self.constraints.names

    @property
    def row_names(self) -> tuple[str, ...]:
        """Row names, ``task.label``."""
        return self.constraints.row_names

    def sample(self, t: float, live: References | None = None) -> ReferenceSample | None:
        """References of all rows, (mt,) each; None where every one is zero.

        Args:
            t: Time, in s.
            live: Samples, or functions of time, that replace the references of the file, by
                task name.

        Raises:
            UnknownNameError: A live sample is for a task that does not exist.
            StateError: A live sample has the wrong size.
        """
        return self.references.sample(t, live)

    def evaluate(
        self, workspace: Workspace, q: Array, v: Array, t: float, live: References | None = None
    ) -> ConstraintTerms:
        """Task rows at a state; residual is the tracking error, rate the error of the rates.

        Angles and their rates are multiplied by the declared length.

        Args:
            workspace: Of ``self.model``, updated at (q, v).
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            t: Time of the references, in s.
            live: Samples, or functions of time, that replace the references of the file, by
                task name.

        Raises:
            UnknownNameError, StateError: As :meth:`sample`.
        """
        return self.constraints.evaluate(workspace, t, q, v, self.sample(t, live))
