# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo-controllability: the lemmas of the servo paper for a mechanism and its tasks."""

from dataclasses import dataclass
from itertools import compress

import numpy as np

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.linalg import NEGLIGIBLE_ACCELERATION
from uk_dynamics.core.servo import servo_lemmas, solutions
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Inputs, State

Names = tuple[str, ...]


@dataclass(frozen=True)
class ServoControllability:
    """Whether the motors can realise the tasks at one state."""

    contradicting_structure: Names  # structural rows that contradict each other, (27) for A_s
    contradicting_tasks: Names  # task rows that contradict each other or the structure, (27)
    held: Names  # task rows that the structure determines by itself
    # Task rows whose desired acceleration the motors cannot cause, (33), the contradicting ones
    # included
    unserved: Names
    rank: int  # rank of A_t N S, the task motions that motors cause; (34) requires at least one
    task_rank: int  # number of independent task rows
    motion_freedom: int  # dimension of the motions left free, by c of (28) and r of (29)
    effort_freedom: int  # dimension of the efforts left free, by s of (35)

    @property
    def controllable(self) -> bool:
        """Whether the motors can cause every consistent task acceleration."""
        return self.rank == self.task_rank

    @property
    def served(self) -> bool:
        """Whether they can cause the desired one."""
        return not (self.contradicting_structure or self.unserved)

    @property
    def necessary(self) -> bool:
        """Condition (34), which is necessary but not sufficient."""
        return self.rank >= 1

    def sentences(self) -> tuple[str, ...]:
        """The results, one sentence each, with the names of the rows."""
        found = []
        if self.contradicting_structure:
            rows = ", ".join(self.contradicting_structure)
            found.append(f"the structural constraints are inconsistent (27): {rows}")
        if self.held:
            rows = ", ".join(self.held)
            found.append(f"the structure determines {rows}: no motor can move them")
        if self.contradicting_tasks:
            rows = ", ".join(self.contradicting_tasks)
            found.append(f"{rows} are inconsistent in the constrained dynamics (27)")
        unserved = [row for row in self.unserved if row not in self.contradicting_tasks]
        if unserved:
            found.append(f"no motor efforts cause the desired {', '.join(unserved)} (33)")
        ranks = f"rank {self.rank} of {self.task_rank}"
        if self.controllable:
            found.append(f"servo-controllable, {ranks}")
        else:
            found.append(f"not servo-controllable at acceleration level, {ranks}")
        if self.served:
            found.append(
                f"free: {_dimensions(self.motion_freedom)} of motion (28), (29),"
                f" {_dimensions(self.effort_freedom)} of the efforts (35)"
            )
        return tuple(found)


def servo_controllability(
    controller: ServoController,  # of a mechanism and its tasks
    state: State,  # where the mechanism is; t is the time of the references
) -> ServoControllability:
    """Apply the lemmas at a state; t is the time of the references."""
    mechanism, tasks = controller.mechanism, controller.tasks
    dynamics = InterpretedDynamics(mechanism, tasks.model)
    active, asked = controller.active, np.ones(len(tasks.row_names))
    if tasks.standing is not None:  # contacts that stand are a part of the structure here
        active, asked = tasks.standing.held(state.t, active)
    elif tasks.side is not None:  # bounds ask for nothing as long as they are not reached
        asked = (tasks.side == 0.0).astype(float)
    inputs = Inputs(active=active)
    prepared = dynamics.prepare(state, inputs)
    terms, factorization = prepared.terms, prepared.factorization
    solver = mechanism.spec.solver
    free = dynamics.solve(prepared, state, inputs)
    rows = tasks.evaluate(prepared.workspace, state.q, state.v, state.t)
    lemmas = servo_lemmas(
        factorization,
        free.qdd,
        mechanism.actuators.matrix / np.sqrt(controller.weights),
        rows.A * asked[:, None],
        rows.right_hand_side(tasks.constraints.damping, tasks.constraints.stiffness) * asked,
        rank_tolerance=solver.task_rank_tolerance,
        consistency_tolerance=solver.consistency_tolerance,
    )
    rigid = mechanism.hierarchy.rigid  # compliant rows cannot contradict others
    structure = solutions(
        terms.A * rigid[:, None],
        terms.b * rigid,
        rank_tolerance=solver.rank_tolerance,
        size=np.abs(terms.b) + np.abs(terms.A) @ np.abs(free.qdd) + NEGLIGIBLE_ACCELERATION,
        consistency_tolerance=solver.consistency_tolerance,
    )
    return ServoControllability(
        contradicting_structure=tuple(compress(mechanism.row_names, structure.contradicting)),
        contradicting_tasks=tuple(compress(tasks.row_names, lemmas.tasks.contradicting)),
        held=tuple(compress(tasks.row_names, lemmas.held & (asked > 0.0))),
        unserved=tuple(compress(tasks.row_names, lemmas.efforts.contradicting)),
        rank=lemmas.rank,
        task_rank=lemmas.task_rank,
        motion_freedom=lemmas.tasks.freedom,
        effort_freedom=lemmas.efforts.freedom,
    )


def _dimensions(count: int) -> str:
    return "1 dimension" if count == 1 else f"{count} dimensions"
