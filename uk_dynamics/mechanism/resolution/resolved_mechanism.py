# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the names in a mechanism file stand for, resolved against a robot."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.equation import WHITENING
from uk_dynamics.exceptions import CodedWarning, expect, expect_names, located
from uk_dynamics.forces import PassiveForces
from uk_dynamics.mechanism.files.specification import ActuatorSpec, MechanismSpec
from uk_dynamics.mechanism.resolution.actuators import Actuators, resolve_actuators
from uk_dynamics.mechanism.resolution.constraint_resolution import (
    STANDING,
    resolve_contact_friction,
    resolve_forces,
    resolve_friction,
    resolve_references,
    structural_constraints,
)
from uk_dynamics.mechanism.resolution.contact_shapes import with_shapes
from uk_dynamics.mechanism.resolution.hierarchy import Hierarchy
from uk_dynamics.mechanism.resolution.named_values import NamedValues
from uk_dynamics.mechanism.resolution.natural_scale import (
    LEAST_INTERPRETED,
    LEAST_VELOCITIES,
    LocalStructure,
    local_structure,
    natural_row_scale,
)
from uk_dynamics.mechanism.resolution.one_sided import (
    OneSided,
    mixed_restitutions,
    one_sided_constraints,
)
from uk_dynamics.mechanism.resolution.parameters import (
    Parameter,
    Varied,
    check_estimates,
    check_values,
    parameters_of,
    plain,
    with_values,
)
from uk_dynamics.mechanism.resolution.payload import with_payload
from uk_dynamics.mechanism.resolution.robot_resolution import (
    Measurements,
    attached_frames,
    build_model,
    joint_forces,
    with_loops,
)
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, NonidealFunction
from uk_dynamics.model import RobotModel, machine_size
from uk_dynamics.model.urdf import AttachedFrame, RobotDescription

Self = TypeVar("Self", bound="ResolvedMechanism")

_ROUNDING = 1e-13  # of residuals, in m or rad: no tolerance is smaller


class ResolvedMechanism(NamedValues):
    """The parts of a mechanism, whose values are given by names; the rest is in Mechanism.

    Attributes:
        spec: What the mechanism file says.
        name: Name of the mechanism.
        model: The robot as a tree.
        constraints: Structural constraints, URDF mimic couplings included.
        references: What structural constraints follow over time.
        hierarchy: Levels of the structural rows, compliant rows, and rows that can be switched.
        actuators: The motors.
        measured: The joints with an encoder.
        passive: Damping, friction, springs and stops of the joints.
        forces: Declared springs, dampers and constant forces.
        friction: Friction of the loop joints.
        one_sided: Contacts, hard stops and declared one-sided constraints.
        contact_friction: Friction of contacts that slide, and of loop joints that stick.
        nonideal: A user's own non-ideal constraint force, None for none.
        local: Clusters of joints of a large mechanism with local loops, None for others.
        natural_scale: Whitened size of each row if nothing in it cancelled, (m,).
        initial_guess: Configuration near which the loops close, (nq,).
        varied: Which parameters differ from those of its files; None: none.
    """

    def __init__(
        self,
        spec: MechanismSpec,
        description: RobotDescription,
        *,
        nonideal: NonidealFunction | None = None,
        varied: Varied | None = None,
    ) -> None:
        """Resolve a specification against a robot description.

        Args:
            spec: A checked specification.
            description: A checked robot description.
            nonideal: Gives c of the servo paper's (12) from a state and the solution it leads to,
                (nv,), in N or N·m; it is iterated until both agree. Such a mechanism cannot be
                compiled.
            varied: As in :meth:`with_parameters`, which gives it.

        Raises:
            InputError: Names that do not exist, with file and place.
        """
        self.varied = varied
        self.evaluators: dict[object, Any] = {}  # that motions share, by what was asked for
        expect("spec", spec, MechanismSpec, 'one read by Mechanism.from_file("five_bar")')
        self.spec = spec = with_shapes(with_loops(spec, description), description)
        self.name = spec.name
        self._description = description
        links = [link.name for link in description.links]
        self._frames = [
            *attached_frames(spec.constraints, links, spec.file, "constraints"),
            *attached_frames(spec.forces, links, spec.file, "forces"),
            *attached_frames(spec.contacts, links, spec.file, "contacts"),
        ]
        self.model = self.extended_model(())
        constraints = structural_constraints(spec, self.model)
        self.constraints = ConstraintSet(
            constraints, self.model.ancestry, self.model.nq, spec.model.length
        )
        self.references = resolve_references(spec.constraints, constraints, "constraint")
        self.one_sided: tuple[OneSided, ...] = tuple(one_sided_constraints(spec, self.model))
        self._stiction = frozenset(one.name for one in self.one_sided if one.dry is not None)
        switched = [name for one in self.one_sided for name in one.constraints]
        self.hierarchy = Hierarchy.of(self.constraints, spec.constraints, switched, spec.file)
        self.actuators: Actuators = resolve_actuators(spec.actuators, self.model, spec.file)
        self.measured = Measurements.of(spec, self.model, self.actuators)
        with located(spec.file, "joints"):
            self.passive = PassiveForces(self.model, joint_forces(spec.joints))
        self.forces = resolve_forces(spec.forces, self.model, spec.file)
        self.friction = resolve_friction(spec.constraints, self.constraints, self.model)
        self.contact_friction = resolve_contact_friction(
            spec.constraints, self.one_sided, self.constraints, self.model
        )
        joints = [joint.name for joint in description.joints]
        owners = {
            "links": links,
            "payload": links,
            "joints": joints,
            "encoders": joints,
            "motors": self.actuators.names,
            "constraints": [constraint.name for constraint in spec.constraints],
            "forces": [force.name for force in spec.forces],
        }
        check_estimates(spec, owners)
        self.nonideal = nonideal
        with located(spec.file, "initial_guess"):
            self.initial_guess = self.model.to_positions(dict(spec.initial_guess))
        self.initial_guess.flags.writeable = False
        with located(spec.file, "initial_velocity"):
            self.model.to_velocities(dict(spec.initial_velocity))
        # Loops over clusters in C do not know these.
        more = self.forces.active or self.friction.active or self.references.references
        self.local: LocalStructure | None = local_structure(
            self.model,
            self.constraints,
            self.hierarchy,
            spec.solver,
            spec.model.length,
            LEAST_INTERPRETED if more or nonideal is not None else LEAST_VELOCITIES,
        )
        with located(spec.file, "model.urdf"):  # here M is evaluated for the first time
            self.natural_scale = natural_row_scale(
                self.model,
                self.constraints if self.local is None else self.local.constraints,
                self.initial_guess,
                spec.solver,
                length=spec.model.length,
                whiten=spec.solver.method in WHITENING and self.local is None,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "evaluators": {}}  # they are bound to memory of this process

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Numbers that can be varied, by name, with their units and values."""
        return parameters_of(plain(self.spec, self._description))

    def for_control(self, active: ActiveConstraints) -> ActiveConstraints:
        """What a controller takes as given: what sticks in a joint is to be moved, not held."""
        stick = self._stiction & active.names
        return replace(active, names=active.names - stick) if stick else active

    def with_parameters(self: Self, values: Mapping[str, float] | Iterable[str]) -> Self:
        """The same mechanism with other numbers; one compiled library serves all their values.

        Args:
            values: New values by the names of :attr:`parameters`; or names alone, whose values
                stay. What is not named stays as it is.

        Raises:
            UnknownNameError: There is no such parameter.
            InputError: A value is not possible.
        """
        known = self.parameters
        if not isinstance(values, Mapping):
            names = tuple(values)
            expect_names("parameter", names, known, file=self.spec.file)
            values = {name: known[name].value for name in names}
        check_values(known, values, self.spec.file)
        given = self.varied or Varied(plain(self.spec, self._description), (), np.zeros(0))
        base, before = given.base, dict(zip(given.names, given.values.tolist(), strict=True))
        changed = before | {name: float(value) for name, value in values.items()}
        names = tuple(sorted(changed))
        varied = Varied(base, names, np.array([changed[name] for name in names]))
        return type(self)(*with_values(base, changed), nonideal=self.nonideal, varied=varied)

    def with_payload(
        self: Self,
        link: str,
        mass: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> Self:
        """The same mechanism carrying a further body; one compiled library serves all payloads.

        Args:
            link: On which it is fixed.
            mass: In kg.
            center: Its centre of mass in the link's frame, (3,), in m.
            inertia: About the centre, in axes of the link, (3, 3), in kg m²; None: a point.

        Raises:
            UnknownNameError: There is no such link.
            InputError: The link does not move, nothing that it is part of has a mass, or no body
                has such numbers.
        """
        return self.with_parameters(
            with_payload(self.model, self.parameters, link, mass, center, inertia)
        )

    def with_actuators(self: Self, actuators: Sequence[ActuatorSpec]) -> Self:
        """The same mechanism, of files alone, with other motors."""
        spec = replace(self.spec, actuators=tuple(actuators))
        return type(self)(spec, self._description, nonideal=self.nonideal)

    def settled(self: Self) -> Self:
        """The mechanism with all of its numbers as constants, where code has no parameters."""
        found = copy.copy(self)
        found.varied = None
        return found

    def as_filed(self: Self) -> Self:
        """The mechanism with the values of its files, and the same parameters named."""
        if self.varied is None:
            return self
        known = parameters_of(self.varied.base)
        return self.with_parameters({name: known[name].value for name in self.varied.names})

    @cached_property
    def size(self) -> float:
        """Largest extent of the link frames at the initial guess, in m."""
        return machine_size(self.model, self.initial_guess)

    @cached_property
    def closure_tolerance(self) -> float:
        """Largest residual of a closed loop, in m or rad."""
        return max(self.spec.solver.closure_tolerance * self.size, _ROUNDING)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the one-dof joints in velocity order."""
        return self.model.joint_names

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the constraint rows, ``constraint.label``."""
        return self.constraints.row_names

    @property
    def conservative(self) -> bool:
        """Whether its energy is constant without motor efforts and with constant references."""
        dissipates = self.friction.active or bool(self.one_sided) or self.nonideal is not None
        return self.passive.conservative and self.forces.conservative and not dissipates

    @property
    def balances(self) -> bool:
        """Whether its energy follows from the work of known forces: none in loops, no row moves."""
        rubs = self.friction.active or self.nonideal is not None
        return self.of_places and not rubs

    @property
    def of_places(self) -> bool:
        """Whether its rows, tangents of contacts aside, hold places that do not move."""
        sticking = {one.sticking for one in self.one_sided}
        own = (rows for name, rows in self.constraints.slices.items() if name not in sticking)
        return (
            all(self.constraints.position_rows[rows].all() for rows in own)
            and not self.driven_by_time
        )

    @property
    def driven_by_time(self) -> bool:
        """Whether the machine itself depends on t: moving references, t in rows or forces."""
        moving = (r for r in self.references.references.values() if not isinstance(r, STANDING))
        return self.constraints.time_dependent or self.forces.time_dependent or any(moving)

    @property
    def follows_references(self) -> bool:
        """Whether rows may follow references: those of the file, or poses captured in switching."""
        return bool(self.references.references or self.hierarchy.switches)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is legal but doubtful."""
        hints: tuple[str, ...] = ()
        if not len(self.constraints) and self.spec.file.endswith((".urdf", ".xacro")):
            hint = "closes no loops itself; uk_dynamics init drafts a mechanism file for it"
            hints = (CodedWarning(f"{self.spec.file}: {hint}", "no_loops"),)
        if mixed := mixed_restitutions(self.one_sided):
            hints += (CodedWarning(f"{self.spec.file}: {mixed}", "restitution"),)
        return (*hints, *self.model.warnings, *self._unlimited_motors())

    def _unlimited_motors(self) -> Iterator[str]:
        """Warnings of motors whose joints have the effort limit 0, and that declare none."""
        for motor in self.spec.actuators:
            for joint, _ in motor.joints if motor.effort_limit is None else ():
                if joint in self._description.without_effort:
                    yield (
                        f"{self._description.source}: joint {joint}: limit effort is 0, treated as"
                        f" not declared; give the motor {motor.name} an effort_limit"
                    )

    def extended_model(self, frames: Sequence[AttachedFrame]) -> RobotModel:
        """The robot with further frames behind its own; indices of existing frames stay."""
        return build_model(self.spec, self._description, [*self._frames, *frames])
