# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motion with contacts, stops and ropes in fixed steps, whatever happens within them.

Moreau's midpoint rule on velocities: events are not located, impulses of a step act together, and
many contacts cost no more than few events would. Motions agree with event-driven ones to order one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.plant import Plant


@dataclass
class TimeStepping:
    """Moves a plant whose mechanism has one-sided constraints, in fixed steps."""

    plant: Plant
    contacts: ContactStepping
    step: float  # longest step, in s
    # called with a time, and what acts before it and since then
    seen: Callable[[float, frozenset[str], frozenset[str]], object]
    moved: Callable[[float], object]
    warn: Callable[[str, float], object]  # called with a problem, and its time

    def run(self, state: State, stops: Array, count: Callable[[int], object]) -> Iterator[State]:
        """States at increasing times after the start, in s; ``count`` is told of the steps.

        Raises:
            SimulationError: The loops cannot be kept closed.
        """
        plant = self.plant
        for stop in stops.tolist():
            steps = max(1, int(np.ceil((stop - state.t) / self.step - 1e-9)))
            state, active = self.contacts.advance(
                state, stop, steps, plant.dynamics, plant.inputs, self.seen
            )
            plant.set_active(active)
            if problem := self.contacts.problem():
                self.warn(problem, stop)
            self.moved(stop)
            count(steps)
            yield state
