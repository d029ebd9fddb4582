# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The immutable mechanism: a robot, its structural constraints, its motors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.arrays import Values
from uk_dynamics.exceptions import expect
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.analysis import Equilibrium, LinearSystem, MechanismReport, report
from uk_dynamics.mechanism.assembly import Assembly, assemble, closed_configuration, start
from uk_dynamics.mechanism.contact import Contact, ContactDynamics
from uk_dynamics.mechanism.dynamics import (
    Backend,
    Derivatives,
    Dynamics,
    InterpretedDynamics,
    Switched,
    require_finite,
    switch,
)
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.kinematics import KinematicMechanism
from uk_dynamics.mechanism.resolution import (
    Array,
    DynamicsTerms,
    Energy,
    Inputs,
    NonidealFunction,
    State,
    read_description,
)


class Mechanism(KinematicMechanism):
    """A mechanism with closed loops, made from a URDF and a mechanism file, and what it can do."""

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        robot_description: str | None = None,
        nonideal: NonidealFunction | None = None,
    ) -> "Mechanism":
        """Read a mechanism file.

        Args:
            path: Path or ``package://`` URI of a mechanism file, or the name of a shipped one.
            robot_description: URDF text to use instead of the file's ``model.urdf``.
            nonideal: A user's own non-ideal constraint force; see :class:`ResolvedMechanism`.

        Raises:
            InputError: Anything wrong in the file or in the robot description.
        """
        return cls.from_spec(
            MechanismSpec.from_file(path), robot_description=robot_description, nonideal=nonideal
        )

    @classmethod
    def from_spec(
        cls,
        spec: MechanismSpec,
        *,
        robot_description: str | None = None,
        nonideal: NonidealFunction | None = None,
    ) -> "Mechanism":
        """Build a mechanism from a specification; see :meth:`from_file`."""
        expect("spec", spec, MechanismSpec, 'MechanismSpec.from_file("five_bar")')
        return cls(spec, read_description(spec, robot_description), nonideal=nonideal)

    @classmethod
    def from_data(
        cls,
        data: Mapping[str, Any],
        *,
        robot_description: str | None = None,
        name: str = "mechanism",
        nonideal: NonidealFunction | None = None,
    ) -> "Mechanism":
        """Build a mechanism without a file.

        Args:
            data: What a mechanism file would contain, as Python's dicts and lists; ``schema`` may
                be left out.
            robot_description: URDF text, instead of ``model.urdf``.
            name: Of the mechanism.
            nonideal: As for :meth:`from_file`.

        Raises:
            InputError: As for a file, with the place.
        """
        spec = replace(MechanismSpec.from_data(data), name=name)
        return cls.from_spec(spec, robot_description=robot_description, nonideal=nonideal)

    def assembly(
        self,
        guess: Values | None = None,
        *,
        hold: Iterable[str] = (),
        tolerance: float | None = None,
        t: float = 0.0,
    ) -> Assembly:
        """Close the loops and report how; see :meth:`assemble`, which raises instead."""
        return assemble(self, self.configuration(guess), tuple(hold), t, tolerance)

    def assemble(
        self,
        guess: Values | None = None,
        *,
        hold: Iterable[str] | None = None,
        tolerance: float | None = None,
        t: float = 0.0,
        **coordinates: float,
    ) -> Array:
        """Find a configuration that closes all loops.

        Args:
            guess: Where to start: positions by joint name, or (nq,); None is the initial guess.
            hold: Joints that must not move from the guess; by default those given by keyword.
            tolerance: Largest admissible residual, in m or rad; None is that of the file.
            t: Time for which constraints that change in time hold, in s.
            **coordinates: Positions of single joints, held, in m or rad.

        Returns:
            The assembled configuration, (nq,).

        Raises:
            AssemblyError: Some loop does not close; names it and its loop-closure error.
            InputError: Unknown joints, non-finite values, or a joint held outside its limits.
        """
        begin = self.model.to_positions(coordinates, default=self.configuration(guess))
        held = tuple(coordinates) if hold is None else tuple(hold)
        return closed_configuration(self, assemble(self, begin, held, t, tolerance))

    def start(
        self,
        positions: Mapping[str, float] | None = None,
        velocities: Mapping[str, float] | None = None,
        t: float = 0.0,
        *,
        tasks: Tasks | None = None,
        **coordinates: float,
    ) -> State:
        """The state a motion starts from: loops closed, velocities in agreement with them.

        With tasks it is where their references are at t, with their rates: inverse kinematics
        through the loops. What tasks leave open stays near the initial guess.

        Args:
            positions: Joints held at a position, in m or rad; the others start at the initial
                guess.
            velocities: Joints with a velocity, in m/s or rad/s, besides those of the file's
                ``initial_velocity``; the others follow from the constraints.
            t: Time, in s.
            tasks: On whose references it starts.
            **coordinates: Further positions, by keyword, in m or rad.

        Raises:
            AssemblyError: Some loop does not close, or a reference is out of reach.
            InputError: Unknown joints, non-finite values, positions outside joint limits, or
                velocities that contradict the constraints or the references.
        """
        return start(self, dict(positions or {}) | coordinates, velocities, t, tasks=tasks)

    def __repr__(self) -> str:
        parts = (
            (len(self.joint_names), "joint"),
            (len(self.constraints), "constraint row"),
            (len(self.actuators), "motor"),
        )
        counted = ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in parts)
        return f"<{type(self).__name__} {self.name}: {counted}>"

    def dynamics(self, backend: Backend = "auto") -> Dynamics:
        """An evaluator of this mechanism, with memory of its own; one per thread.

        Args:
            backend: ``auto`` answers at once and evaluates in C as soon as a library is there;
                ``compiled`` waits for it, which takes seconds where the mechanism was never
                compiled; ``cached`` takes one that is there; ``interpreted`` none; ``gpu`` is for
                batches on a GPU. The table is in ``docs/compiled.md``.

        Raises:
            InputError: The backend does not exist, or cannot evaluate this mechanism.
        """
        from uk_dynamics.compilation import select_backend

        return select_backend(self, backend)

    def terms(self, state: State, inputs: Inputs | None = None) -> DynamicsTerms:
        """M, F, A and b at a state, as fresh arrays."""
        terms = InterpretedDynamics(self).terms(state, inputs)
        return DynamicsTerms(np.array(terms.M), terms.F, terms.A.copy(), terms.b)

    def report(
        self, q: Values | None = None, tasks: Tasks | None = None, *, samples: int = 0
    ) -> MechanismReport:
        """Mobility, rank, redundant rows and actuation at a configuration.

        Args:
            q: An assembled configuration; None assembles the initial guess.
            tasks: Tasks to examine with it.
            samples: States at which constraints are tested for being holonomic; 0: not at all.

        Raises:
            AssemblyError: The loops do not close.
        """
        configuration = self.assemble() if q is None else self.configuration(q)
        return report(self, configuration, tasks, samples=samples)

    def switch(
        self, state: State, changes: Mapping[str, bool], inputs: Inputs | None = None
    ) -> Switched:
        """Switch constraints on or off at one instant: a gripper closes, a foot lands.

        Those switched on are closed on the present pose, or projected onto their own if they are
        within a thousandth of the machine's size, as the file says; velocities jump to the nearest
        that all constraints allow, in the metric of M.

        Args:
            state: Where the mechanism is.
            changes: On or off, by name of the switchable constraint.
            inputs: With the constraints that are on before; None: those of the mechanism file.

        Returns:
            The state after it, what to put into ``Inputs.active``, and the energy lost.

        Raises:
            UnknownNameError: A name is of no switchable constraint.
            ActivationError: A constraint with ``on_activation: require`` is too far from its pose.
            SimulationError: The loops cannot be closed with it.
        """
        return switch(self, InterpretedDynamics(self), state, changes, inputs or Inputs())

    def derivatives(self, state: State, inputs: Inputs | None = None) -> Derivatives:
        """How acceleration, multipliers and constraint force change with q, v, forces and t.

        The equations are traced at each call; :class:`uk_dynamics.MotionDerivatives` keeps them for
        many states.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            InputError: It has forces that depend on the constraint forces, or the state gives
                numbers that are not finite.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        from uk_dynamics.derivatives import MotionDerivatives

        return MotionDerivatives(self).at(state, inputs)

    def linearize(
        self,
        state: State,
        inputs: Inputs | None = None,
        *,
        coordinates: Sequence[str] | None = None,
    ) -> LinearSystem:
        """ẋ = A x + B u around a state, in independent coordinates.

        See :func:`uk_dynamics.linearize` for arguments and errors.
        """
        from uk_dynamics.derivatives import linearize

        return linearize(self, state, inputs, coordinates=coordinates)

    def equilibrium(
        self,
        guess: Values | None = None,
        *,
        hold: Iterable[str] = (),
        efforts: Values | None = None,
        stable: bool = False,
        t: float = 0.0,
    ) -> Equilibrium:
        """Where it rests near a configuration, and what that takes.

        See :func:`uk_dynamics.equilibrium` for arguments and errors.
        """
        from uk_dynamics.derivatives import equilibrium

        return equilibrium(self, guess, hold=hold, efforts=efforts, stable=stable, t=t)

    def beginning(self, state: State, inputs: Inputs | None = None) -> Inputs:
        """The inputs with the contacts, stops and ropes that act in the motion that begins here.

        With them an evaluator knows what is closed, sticks and slides. Errors are as of
        :meth:`contacts`.
        """
        require_finite(self.model, state)
        inputs = inputs or Inputs()
        return ContactDynamics(self).beginning(state, inputs) if self.one_sided else inputs

    def contacts(self, state: State, inputs: Inputs | None = None) -> dict[str, Contact]:
        """What contacts, stops, ropes and other one-sided constraints do at a state, by name.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it. Their ``active`` says what is closed; where it is None, that
                follows from :meth:`beginning`.

        Raises:
            StateError: Wrong sizes, or numbers that are not finite.
            InputError: A contact is inside its surface, strikes it, or jams by friction (Painlevé).
        """
        require_finite(self.model, state)
        if not self.one_sided:
            return {}
        dynamics, contacts = InterpretedDynamics(self), ContactDynamics(self)
        inputs = inputs or Inputs()
        if inputs.active is None:
            inputs = self.beginning(state, inputs)
        solution = dynamics.evaluate(state, inputs)
        return {one.name: one for one in contacts.contacts(state, inputs, solution)}

    def energy(self, state: State) -> Energy:
        """Kinetic and potential energy at a state, in J, springs included."""
        return InterpretedDynamics(self).energy(state)
