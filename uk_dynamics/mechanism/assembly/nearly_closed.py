# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What to do about loops that close but for a little: rounded numbers, measured machines."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg import RowBasis, coordinate_scale
from uk_dynamics.mechanism.assembly.assembly_search import Assembly, Search
from uk_dynamics.mechanism.files import SolverSpec
from uk_dynamics.mechanism.resolution.natural_scale import natural_row_scale
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array

_OF_DIGITS = 1e-5  # of the machine's size: a smaller loop-closure error is a matter of digits
_MEASURED = 1e-2  # of the machine's size: what is open by more was not meant to close here
_MARGIN = 2.0  # the error differs from configuration to configuration
_WIDER = 2.0
_SHOWN_ROWS = 8


def remedy(
    mechanism: ResolvedMechanism,
    found: Assembly,
    guess: Array,
    free: NDArray[np.bool_],
    t: float,
    tolerance: float,
) -> str:
    """The ways to close loops that nearly close; empty where they are open, or rows are too few.

    found: Of the search from the guess, (nq,), with these free velocities, (nv,); tolerance:
    Largest residual of a closed loop, in m or rad.
    """
    missing = max(found.violations.values(), default=0.0)
    if not missing <= _MEASURED * mechanism.size:
        return ""
    above = f"this is above the closure tolerance of {tolerance:.3g}; "
    enough = _rounded_up(_MARGIN * missing / mechanism.size)
    widen = "a larger one ({:g} as closure_tolerance under solver, or as --tolerance)"
    needed: list[str] = []
    while enough <= _MEASURED:
        solver = mechanism.spec.solver.closing_within(enough)
        search = Search(mechanism, free, t, solver=solver)
        there = search.run(guess, enough * mechanism.size, within_limits=True)
        needed = _independent_rows(mechanism, there.q, solver)
        wider = mechanism.spec.solver.closing_within(_WIDER * enough)
        # Loops may happen to close nearby but for little. What repeats other rows but for errors of
        # measurement is found where a wider tolerance changes nothing more.
        unchanged = there.closed and _independent_rows(mechanism, there.q, wider) == needed
        enough = _rounded_up(_WIDER * enough)
        if unchanged:
            break
    if not 0 < len(needed) < len(mechanism.row_names) or enough > _WIDER * _MEASURED:
        digits = f"{above}write lengths and angles with more digits, or set {widen.format(enough)}"
        return digits if missing <= _OF_DIGITS * mechanism.size else ""
    loops = [name for name, error in there.violations.items() if error > tolerance]
    rows = [row for row in needed if row.rpartition(".")[0] in loops]
    kept = ", ".join(rows[:_SHOWN_ROWS]) + (", ..." if len(rows) > _SHOWN_ROWS else "")
    return (
        f"{above}the loop has redundant rows, which agree only if lengths and angles are exact:"
        f" write more digits, set {widen.format(enough)}, keep only the rows that are needed"
        f" ({kept}: type frame with these axes), or give {', '.join(loops)} a compliance"
    )


def _rounded_up(value: float) -> float:
    """To one digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.0e}")


def _independent_rows(mechanism: ResolvedMechanism, q: Array, solver: SolverSpec) -> list[str]:
    """Names of the rows that tolerances leave independent, in file order."""
    constraints, model = mechanism.constraints, mechanism.model
    length = mechanism.spec.model.length
    workspace = model.workspace()
    workspace.update_positions(q)
    A, _ = constraints.position(workspace, 0.0, q, mechanism.references.sample(0.0))
    scale = natural_row_scale(model, constraints, q, solver, length=length, whiten=False)
    columns = np.asfortranarray((A * coordinate_scale(workspace.mass.diagonal())).T)
    basis = RowBasis(columns, scale, solver.rank_tolerance)
    return [mechanism.row_names[row] for row in sorted(basis.independent)]
