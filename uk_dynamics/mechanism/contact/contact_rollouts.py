# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories of many states over contacts, stops and ropes, one after the other."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from uk_dynamics.exceptions import SimulationError, StateError
from uk_dynamics.mechanism.contact.moreau_step import ContactStepping
from uk_dynamics.mechanism.dynamics import (
    INFINITE,
    Dynamics,
    InterpretedDynamics,
    goes_over_contacts,
    roll_each,
)
from uk_dynamics.mechanism.resolution import Inputs, Plan, ResolvedMechanism, Rollout, State


class InterpretedContactDynamics(InterpretedDynamics):
    """The interpreted evaluator of a mechanism with contacts, stops or ropes."""

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """One trajectory after the other; see :meth:`Dynamics.rollout`."""
        goes_over_contacts(self._mechanism, given)
        return roll_over_contacts(
            self._mechanism, self, given, inputs, Rollout.unknown(given), range(len(given.q))
        )


def roll_over_contacts(
    mechanism: ResolvedMechanism,
    dynamics: Dynamics,  # its evaluator
    given: Plan,
    inputs: Inputs,
    into: Rollout,  # where samples go
    which: Iterable[int],  # the trajectories
) -> Rollout:
    """Trajectories by steps of :class:`ContactStepping`."""
    stepping = ContactStepping(mechanism)

    def walk(k: int) -> Iterator[State]:
        stepping.forget()
        state, active = stepping.begin(State(given.t, given.q[k], given.v[k]), dynamics, inputs)
        yield state
        for step in range(given.steps):
            acting = replace(inputs, tau=given.tau_at(k, step), active=active, stabilize=False)
            end = given.t + (step + 1) * given.dt
            try:
                state, active = stepping.advance(state, end, 1, dynamics, acting)
            except StateError:  # what is given is finite
                raise SimulationError(INFINITE, end) from None
            if problem := stepping.problem():
                into.warnings.setdefault(k, f"t = {end:.4g} s: {''.join(problem)}")
            yield state

    with np.errstate(over="ignore", invalid="ignore"):
        return roll_each(given, walk, into, which)
