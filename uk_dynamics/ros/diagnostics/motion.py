# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A motion in the diagnostics of a node: its last solution, singular configurations it passed."""

import contextlib
import time
from collections.abc import Iterable

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.simulation import SingularPassages

_PERIOD = 0.02  # s between two states that are looked at, of time of the states
_SHARE = 0.02  # of the time of a processor, at most
_WARNINGS = {
    Status.NEAR_SINGULAR: "close to a change of rank, these rows are left out",
    Status.UNDETERMINED_LOAD: "friction depends on a load that redundant rows share",
    Status.NOT_CONVERGED: "friction left out, no load is consistent with it (jammed)",
}


class MotionReport:
    """Reports solutions, and singular configurations between some of the states."""

    def __init__(self, mechanism: Mechanism, dynamics: Dynamics, settings: Parameters) -> None:
        """Prepare; ``settings`` has ``residual_warning``, in m or rad."""
        self._mechanism, self._dynamics, self._settings = mechanism, dynamics, settings
        self.forget()

    def forget(self) -> None:
        """Begin another motion."""
        self._watch = SingularPassages(self._mechanism)
        self._last, self._again = float("-inf"), float("-inf")
        self._active: frozenset[str] = frozenset()
        self._passed = ""

    def see(self, state: State, inputs: Inputs | None = None) -> None:
        """Look at a state, after what is urgent; most are left out."""
        began = time.perf_counter()
        if state.t < self._last:
            self.forget()
        if state.t < self._last + _PERIOD or began < self._again:
            return
        active = inputs.active.names if inputs and inputs.active else frozenset()
        self._last = state.t
        if active != self._active:  # other rows
            self._watch, self._active = SingularPassages(self._mechanism), active
        with contextlib.suppress(UkDynamicsError):  # the node says what is wrong with the state
            found = self._dynamics.evaluate(state, inputs)
            for passage in self._watch.add(state.t, state.q, found.rank, found.condition):
                self._passed = f"t = {passage.t:.4g} s: {passage.text}"
        now = time.perf_counter()
        self._again = now + (now - began) / _SHARE

    def report(
        self, report: Report, state: State, solution: Solution, inputs: Inputs | None = None
    ) -> None:
        """Add evaluator, rank, residual, condition, status and energy of a solution, and a passage.

        The last passage is a warning until another motion begins.
        """
        mechanism, dynamics = self._mechanism, self._dynamics
        residual, energy = dynamics.residual(state, inputs), dynamics.energy(state)
        errors = residual.position * mechanism.hierarchy.rigid  # compliant rows are meant to yield
        position = largest(errors)
        report.add("evaluator", dynamics.backend)
        report.add("rank", solution.rank)
        report.add("rows", len(mechanism.constraints))
        report.add("residual", position)
        report.add("residual_rate", largest(residual.velocity))
        report.add("condition", float(solution.condition))
        report.add("status", solution.status.value)
        report.add("energy", energy.total)
        report.add("kinetic_energy", energy.kinetic)
        acting = mechanism.hierarchy.acting(inputs.active if inputs else None)
        free = np.flatnonzero(acting & ~solution.determined)
        report.add("undetermined_forces", self._constraints(free) or "none")
        if position > self._settings["residual_warning"]:
            worst = residual.names[int(np.argmax(np.abs(errors)))]
            report.warn(f"constraint {worst} is violated by {position:.3g}")
        for violation in mechanism.model.limit_violations(state.q):
            report.warn(f"position limit violated: {violation}")
        offending = self._constraints(solution.offending.tolist())
        if solution.status is Status.INCONSISTENT:
            report.error(f"constraints contradict each other: {offending}")
        elif solution.status in _WARNINGS:
            report.warn(f"{_WARNINGS[solution.status]}: {offending}")
        report.add("singular_passage", self._passed or "none")
        if self._passed:
            report.warn(self._passed)

    def _constraints(self, rows: Iterable[int]) -> str:
        """Constraints to which some rows belong."""
        chosen = set(rows)
        slices = self._mechanism.constraints.slices.items()
        return ", ".join(n for n, part in slices if chosen & set(range(part.start, part.stop)))
