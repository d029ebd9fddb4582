# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Singular configurations that a machine has passed, in the diagnostics of a node."""

from __future__ import annotations

import contextlib
import time

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.simulation import SingularPassages

_PERIOD = 0.02  # s between two states that are looked at, of time of the states
_SHARE = 0.02  # of the time of a processor, at most


class PassageWatch:
    """Looks at some states of a motion for singular configurations between them."""

    def __init__(self, mechanism: Mechanism, dynamics: Dynamics) -> None:
        self._mechanism, self._dynamics = mechanism, dynamics
        self.forget()

    def forget(self) -> None:
        """Begin another motion."""
        self._watch = SingularPassages(self._mechanism)
        self._last, self._again = float("-inf"), float("-inf")
        self._active: ActiveConstraints | None = None
        self._passed = ""

    def see(self, state: State, inputs: Inputs | None = None) -> None:
        """Look at a state, after what is urgent; most are left out."""
        began = time.perf_counter()
        if state.t < self._last:
            self.forget()
        if state.t < self._last + _PERIOD or began < self._again:
            return
        self._last, active = state.t, inputs.active if inputs else None
        if active != self._active:  # other rows
            self._watch, self._active = SingularPassages(self._mechanism), active
        with contextlib.suppress(UkDynamicsError):  # the node says what is wrong with the state
            found = self._dynamics.evaluate(state, inputs)
            for passage in self._watch.add(state.t, state.q, found.rank, found.condition):
                self._passed = f"t = {passage.t:.4g} s: {passage.text}"
        now = time.perf_counter()
        self._again = now + (now - began) / _SHARE

    def report(self, report: Report) -> None:
        """Add the last passage, and warn of it until another motion begins."""
        report.add("singular_passage", self._passed or "none")
        if self._passed:
            report.warn(self._passed)
