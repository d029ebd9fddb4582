"""The servo paper's lemmas for a mechanism and its tasks, in names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.core.rank_rule import NEGLIGIBLE_ACCELERATION
from uk_dynamics.core.servo_lemmas import servo_lemmas, solutions
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.state import Inputs, State

Names = tuple[str, ...]


@dataclass(frozen=True)
class ServoExamination:
    """Whether tasks can be served at one state, and by whom not.

    Attributes:
        contradicting_structure: Structural rows that contradict each other, (27) for A_s.
        contradicting_tasks: Task rows that contradict each other or the structure, (27).
        held: Task rows that the structure holds by itself.
        unserved: Task rows that the motors cannot give as they are asked now, (33); among them
            the contradicting ones.
        rank: Rank of A_t N S, what the motors move; (34) asks for at least one.
        task_rank: Number of independent task rows.
        motion_freedom: Directions in which the c of (28) and r of (29) count.
        effort_freedom: Directions in which the s of (35) counts.
    """

    contradicting_structure: Names
    contradicting_tasks: Names
    held: Names
    unserved: Names
    rank: int
    task_rank: int
    motion_freedom: int
    effort_freedom: int

    @property
    def necessary(self) -> bool:
        """Condition (34), necessary only."""
        return self.rank >= 1

    @property
    def controllable(self) -> bool:
        """Whether the motors serve whatever the tasks may ask consistently."""
        return self.rank == self.task_rank

    @property
    def served(self) -> bool:
        """Whether they serve what is asked now."""
        return not (self.contradicting_structure or self.unserved)

    def sentences(self) -> tuple[str, ...]:
        """What was found, with the names of the constraints, a sentence each."""
        found = []
        if self.contradicting_structure:
            rows = ", ".join(self.contradicting_structure)
            found.append(f"the structure contradicts itself (27): {rows}")
        if self.held:
            rows = ", ".join(self.held)
            found.append(f"the structure holds {rows} by itself: no motor moves that")
        if self.contradicting_tasks:
            rows = ", ".join(self.contradicting_tasks)
            found.append(f"no motion of the structure gives what is asked of {rows} together (27)")
        unserved = [row for row in self.unserved if row not in self.contradicting_tasks]
        if unserved:
            found.append(f"no motor efforts give what is asked of {', '.join(unserved)} (33)")
        ranks = f"rank {self.rank} of {self.task_rank}"
        if self.controllable:
            found.append(f"servo-controllable, {ranks}")
        else:
            found.append(f"not servo-controllable at acceleration level, {ranks}")
        if self.served:
            found.append(
                f"free: {_directions(self.motion_freedom)} of motion (28), (29),"
                f" {_directions(self.effort_freedom)} of the efforts (35)"
            )
        return tuple(found)


def examine(
    controller: ServoController,
    state: State,
    references: Mapping[str, ReferenceSample] | None = None,
) -> ServoExamination:
    """Apply the lemmas at a state.

    Args:
        controller: Of a mechanism and its tasks.
        state: Where the mechanism is; t is the time of the references.
        references: Samples that replace those of the tasks file, by task name.

    Raises:
        UnknownNameError, StateError: As :meth:`ServoController.command`.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    mechanism, tasks = controller.mechanism, controller.tasks
    dynamics = InterpretedDynamics(mechanism, tasks.model)
    inputs = Inputs(active=controller.active)
    prepared = dynamics.prepare(state, inputs)
    terms, factorization = prepared.terms, prepared.factorization
    solver = mechanism.spec.solver
    free = dynamics.solve(prepared, state, inputs)
    rows = tasks.evaluate(prepared.workspace, state.q, state.v, state.t, references)
    lemmas = servo_lemmas(
        factorization,
        free.qdd,
        mechanism.actuators.matrix / np.sqrt(controller.weights),
        rows.A,
        rows.right_hand_side(tasks.constraints.damping, tasks.constraints.stiffness),
        rank_tolerance=solver.task_rank_tolerance,
        consistency_tolerance=solver.consistency_tolerance,
    )
    rigid = mechanism.hierarchy.rigid  # compliant rows give way instead of contradicting others
    structure = solutions(
        terms.A * rigid[:, None],
        terms.b * rigid,
        rank_tolerance=solver.rank_tolerance,
        size=np.abs(terms.b) + np.abs(terms.A) @ np.abs(free.qdd) + NEGLIGIBLE_ACCELERATION,
        consistency_tolerance=solver.consistency_tolerance,
    )
    return ServoExamination(
        contradicting_structure=_named(mechanism.row_names, structure.contradicting),
        contradicting_tasks=_named(tasks.row_names, lemmas.tasks.contradicting),
        held=_named(tasks.row_names, lemmas.held),
        unserved=_named(tasks.row_names, lemmas.efforts.contradicting),
        rank=lemmas.rank,
        task_rank=lemmas.task_rank,
        motion_freedom=lemmas.tasks.freedom,
        effort_freedom=lemmas.efforts.freedom,
    )


def _directions(count: int) -> str:
    return "1 direction" if count == 1 else f"{count} directions"


def _named(names: Names, chosen: NDArray[np.bool_]) -> Names:
    return tuple(names[index] for index in np.flatnonzero(chosen))
