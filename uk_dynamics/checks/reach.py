# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References out of reach, or through a singular configuration of the loops."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.references import horizon
from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.mechanism.assembly import assemble_on_tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.simulation import SingularPassages

_TIMES = 21


def reach(subject: Subject) -> Iterator[Finding]:
    """The first instant at which the tasks cannot be met; singular configurations on their way."""
    tasks = None if subject.tasks is None else subject.tasks.served
    if tasks is None or not subject.closed or not tasks.constraints.position_rows.any():
        return
    facts = subject.mechanism.report(subject.assembly.q, tasks).tasks
    if facts is None or facts.independent_rows < facts.rows:
        return  # reported by the check of actuation
    q = subject.assembly.q
    mechanism = subject.mechanism
    dynamics, watch = InterpretedDynamics(mechanism), SingularPassages(mechanism)
    still = np.zeros(mechanism.model.nv)
    followed = [task.reference for task in tasks.spec.tasks if task.reference is not None]
    for t in np.linspace(0.0, horizon(followed), _TIMES).tolist():
        found = assemble_on_tasks(subject.mechanism, tasks, q, (), t)
        if not found.closed:
            missed = {
                name: error
                for name, error in found.violations.items()
                if error > subject.mechanism.closure_tolerance
            }
            if set(missed) <= set(tasks.names):
                errors = ", ".join(f"{name} {error:.3g}" for name, error in missed.items())
                yield Finding(
                    "task",
                    "error",
                    tuple(missed),
                    f"out of reach at t = {t:.4g} s by {errors} (m or rad)",
                    f"{found.reason}: move the reference, or start on another assembly branch",
                )
            return
        q = found.q
        solution = dynamics.evaluate(State(t, q, still))
        for passage in watch.add(t, q, solution.rank, solution.condition):
            yield Finding(
                "singular_passage",
                "warning",
                tasks.names,
                f"near t = {passage.t:.4g} s {passage.text}",
                "lead the references around it, or release the tasks near it and let speed carry"
                " the machine through",
            )
