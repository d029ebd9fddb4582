# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Growth of the time of one acceleration with the number of loops, on the ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from uk_dynamics.compilation.runtime import CompiledDynamics
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Inputs, local_structure
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.loop_ladder import loop_ladder, swinging
from uk_dynamics_studies.benchmarks.peers.mujoco import MujocoPeer
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer
from uk_dynamics_studies.benchmarks.timing import medians

CELLS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 2000)
COMPILED = "uk_dynamics compiled, by clusters"
CLUSTERS, DENSE = "uk_dynamics interpreted, by clusters", "uk_dynamics interpreted, dense"
_FIRST, _LAST = 20, 500  # of the slope
_LARGEST_PEER = 200  # cells, of engines whose memory grows with the third power
_LARGEST_MUJOCO = 500  # cells: beyond, one call takes half a minute


@dataclass(frozen=True)
class Growth:
    """Times of one engine."""

    engine: str
    seconds: dict[int, float]  # by number of cells
    errors: dict[int, float]  # relative difference from evaluation by clusters, by number of cells
    notes: dict[int, str]  # why there is no time, by number of cells

    @property
    def slope(self) -> float | None:
        """Of log(time) over log(cells) by least squares from 20 to 500; None for fewer than 3."""
        chosen = [cells for cells in self.seconds if _FIRST <= cells <= _LAST]
        if len(chosen) < 3:
            return None
        times = [self.seconds[cells] for cells in chosen]
        return float(np.polyfit(np.log(chosen), np.log(times), 1)[0])


def growth(cells: Sequence[int] = CELLS, seconds: float = 4.0) -> list[Growth]:
    """Measure ladders, each for about ``seconds``, and at least three rounds."""
    found: dict[str, Growth] = {}
    for count in cells:
        times, errors, notes = _measure(loop_ladder(count), count, seconds)
        for engine in (*times, *notes):
            row = found.setdefault(engine, Growth(engine, {}, {}, {}))
            if engine in times:
                row.seconds[count] = times[engine]
            if engine in errors:
                row.errors[count] = errors[engine]
            if engine in notes:
                row.notes[count] = notes[engine]
    return list(found.values())


def _measure(
    mechanism: Mechanism, count: int, seconds: float
) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    state = swinging(mechanism)
    tau = np.random.default_rng(1).standard_normal(mechanism.model.nv)
    inputs = Inputs(tau=tau, stabilize=False)
    functions: dict[str, Callable[[], object]] = {}
    errors: dict[str, float] = {}
    notes: dict[str, str] = {}
    dense = InterpretedDynamics(mechanism) if mechanism.local is None else None
    clusters = by_clusters(mechanism)
    expected = clusters.evaluate(state, inputs).qdd
    compiled = CompiledDynamics(mechanism, clusters)
    functions[COMPILED] = lambda: compiled.evaluate(state, inputs)
    functions[CLUSTERS] = lambda: clusters.evaluate(state, inputs)

    def off(found: np.ndarray) -> float:
        return float(np.abs(found - expected).max() / np.abs(expected).max())

    errors[COMPILED] = off(compiled.evaluate(state, inputs).qdd)
    if dense is not None:
        errors[DENSE] = off(dense.evaluate(state, inputs).qdd)
        functions[DENSE] = lambda: dense.evaluate(state, inputs)
    for engine, build in _engines(mechanism, count):
        try:
            peer = build()
        except PeerError as error:
            notes[engine] = error.problem
            continue
        errors[engine] = off(peer.acceleration(state, tau))
        if isinstance(peer, PinocchioPeer):
            functions[engine] = partial(peer.bare, state.q, state.v, tau)
        else:
            functions[engine] = peer.forward
    return medians(functions, rounds=20, seconds=seconds), errors, notes


def by_clusters(mechanism: Mechanism) -> InterpretedDynamics:
    """The evaluator that large mechanisms get, for one of any size."""
    mechanism.local = local_structure(
        mechanism.model,
        mechanism.constraints,
        mechanism.hierarchy,
        mechanism.spec.solver,
        mechanism.spec.model.length,
        least=0,
    )
    return InterpretedDynamics(mechanism)


def _engines(
    mechanism: Mechanism, count: int
) -> list[tuple[str, Callable[[], PinocchioPeer | MujocoPeer]]]:
    engines: list[tuple[str, Callable[[], PinocchioPeer | MujocoPeer]]] = []
    if count <= _LARGEST_MUJOCO:
        engines.append(("MuJoCo default, mj_forward", lambda: MujocoPeer(mechanism)))
    if count <= _LARGEST_PEER:
        engines += [
            ("Pinocchio constraintDynamics", lambda: PinocchioPeer(mechanism)),
            ("Pinocchio lcaba", lambda: PinocchioPeer(mechanism, "lcaba")),
        ]
    else:

        def refuse() -> PinocchioPeer:
            gigabytes = 4 * 8e-9 * mechanism.model.nv**3
            raise PeerError(f"its data would take {gigabytes:.0f} GB and more")

        engines += [(f"Pinocchio {a}", refuse) for a in ("constraintDynamics", "lcaba")]
    return engines
