# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Non-ideal constraint forces: friction of loop joints, a user's own, and whether any do work."""

import functools

import numpy as np

from uk_dynamics.constraints.references import Constant
from uk_dynamics.constraints.rows import FrameKinematics
from uk_dynamics.core.equation import Factorization, LoadForces, Solution, solve_nonideal
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import (
    Array,
    DynamicsTerms,
    Inputs,
    NonidealFunction,
    State,
)


class NonidealForces:
    """Solves the fundamental equation with the c of a mechanism, servo paper (13).

    Functions written in Python are called at every evaluation. They cannot be compiled: a mechanism
    that has one is evaluated by the interpreted backend.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._friction = mechanism.friction
        self._contacts, self._constraints = mechanism.contact_friction, mechanism.constraints
        self._function = mechanism.nonideal
        self._hierarchy = mechanism.hierarchy
        # whether the mechanism has any by itself
        self.active = self._friction.active or self._function is not None
        self._tolerance = mechanism.spec.solver.consistency_tolerance

    def solve(
        self,
        factorization: Factorization,
        kinematics: FrameKinematics,
        terms: DynamicsTerms,
        state: State,
        inputs: Inputs,
    ) -> Solution:
        """Acceleration and forces."""
        given = None if callable(inputs.nonideal) else inputs.nonideal
        functions = [f for f in (self._function, inputs.nonideal) if callable(f)]
        loads = None
        if self._friction.active:
            acting = self._hierarchy.mask(inputs.active)
            viscous, per_load = self._friction.evaluate(kinematics, state.v, acting)
            given = viscous if given is None else viscous + given
            if self._friction.dry:
                loads = LoadForces(
                    per_load, self._friction.load_map, np.zeros(len(per_load.T), bool)
                )
        if inputs.active is not None and (slides := self._contacts.own(inputs.active.sliding)):
            wrenches = self._constraints.wrenches(kinematics)
            sliding = self._contacts.evaluate(kinematics, wrenches, state.v, slides)
            loads = LoadForces(*sliding) if loads is None else loads.with_others(*sliding)
        return solve_nonideal(
            factorization,
            terms.F,
            terms.b,
            given=given,
            loads=loads,
            function=functools.partial(_total, functions, state) if functions else None,
            consistency_tolerance=self._tolerance,
        )


def _total(functions: list[NonidealFunction], state: State, solution: Solution) -> Array:
    total: Array = np.zeros(len(state.v))
    for function in functions:
        try:
            force = np.asarray(function(state, solution), dtype=float)
        except (TypeError, ValueError) as error:
            raise StateError(f"the non-ideal force is no array of numbers: {error}") from None
        if force.shape != total.shape:
            problem = f"expected a non-ideal force of shape {total.shape}, found {force.shape}"
            raise StateError(problem, place=getattr(function, "__name__", "nonideal"))
        total = total + force
    return total


def workless(mechanism: ResolvedMechanism) -> bool:
    """Whether ideal forces Aᵀλ do no work: every velocity the constraints admit fulfils A v = 0.

    That is so where rows neither drive nor yield: they do not depend on t, follow no moving
    reference, have no compliance, and are met at rest. What is not certain counts as work: rows of
    order acceleration and rows that are not linear in the rates.
    """
    constraints = mechanism.constraints
    if constraints.time_dependent or not constraints.linear_in_rates:
        return False
    if not (constraints.motion_rows.all() and mechanism.hierarchy.rigid.all()):
        return False
    references = mechanism.references
    if not all(isinstance(moved, Constant) for moved in references.references.values()):
        return False
    q, rest = mechanism.initial_guess, np.zeros(mechanism.model.nv)
    workspace = mechanism.model.workspace()
    workspace.update(q, rest)
    return not constraints.evaluate(workspace, 0.0, q, rest, references.sample(0.0)).rate.any()
