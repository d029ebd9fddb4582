# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The memory of a mechanism: inputs, answers, and what evaluations and derivatives need."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from uk_dynamics.compilation.emit.layout.block import Block
from uk_dynamics.core.equation import results
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

#: Inputs of a state with their sizes: a number, one for each coordinate, velocity or row.
_INPUTS = (
    ("t", "1", "time, s"),
    ("stabilize", "1", "1: b contains the stabilisation, 0: it does not"),
    ("q", "NQ", "positions"),
    ("v", "NV", "velocities"),
    ("tau", "NV", "forces of motors and the outside world"),
    ("active", "M", "1 for rows that act, 0 for those switched off"),
)
_ANSWERS = (
    *((x.memory, str(x.size), x.comment) for x in results()),
    ("offends", "M", "1: nearly dependent and does not hold, 2: contradicts other rows"),
)

#: Types of what is no number of each lane.
_OF_ALL_LANES = {"stabilize": "double", "forces": "int", "singular": "uk_mask", "ordered": "int"}


class Layout(Block):
    """The memory: inputs, answers, and what the evaluation needs on the way."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__()
        nq, nv, rows = mechanism.model.nq, mechanism.model.nv, len(mechanism.constraints)
        self.rows = rows  # constraint rows, m
        self.followed = mechanism.follows_references  # whether rows may follow references
        m = max(rows, 1)  # C knows no empty arrays
        sizes: dict[str, int | tuple[()]] = {"1": (), "NQ": nq, "NV": nv, "M": m}
        self._add(*((name, sizes[size], comment) for name, size, comment in _INPUTS))
        if self.followed:
            self._add(("followed", 3 * m, "references of the rows: values, rates, accelerations"))
        self.parameters = np.zeros(0) if mechanism.varied is None else mechanism.varied.values
        if len(self.parameters):
            self._add(("p", len(self.parameters), "parameters"))
        self._add(*((name, sizes[size], comment) for name, size, comment in _ANSWERS))
        self.answered = self.size  # doubles of inputs and answers together, which come first
        self._add(
            ("residual", m, "of the rows"),
            ("rate", m, "their rate"),
            ("bias", m, "second derivative without joint acceleration"),
            ("failed", (), "0, or why there is no answer"),
            ("singular", (), "1 where M is"),
            ("forces", (), "1: forces are wanted, 0: accelerations alone"),
        )
        self.clusters = mechanism.local is not None  # whether tables have the rest
        if self.clusters:
            self._add(("tree", (), "address of the tables"))
            return
        self._add(
            ("b", m, "A qdd = b"),
            ("force", nv, "F of M qdd = F + A^T lambda"),
            ("A", m * nv, "row by row"),
            ("H", nv * nv, "first M, then its factor, lower triangle"),
            ("inverse_pivot", nv, ""),
            ("W", (m, nv), "rows being eliminated"),
            ("kernel", (min(m, nv), m), ""),
            ("scale", m, "of rows, in the order of elimination, as the following"),
            ("square", m, ""),
            ("reference", m, ""),
            ("row", m, "which rows they are, independent ones first"),
            ("beta", m, ""),
            ("inverse_R", m, ""),
            ("z", m, ""),
            ("right", m, ""),
            ("scratch", max(m, nv), ""),
            ("ordered", (), "1 where no row has left its place"),
        )

    def _add_derivatives(self, mechanism: ResolvedMechanism) -> None:
        """What derivatives of the equations of motion need, row by row."""
        nv, m = mechanism.model.nv, max(self.rows, 1)
        self.directions = len(self.parameters) or 2 * nv + 1
        self.stride = -(-self.directions // 8) * 8  # of rows: whole vectors
        self.row_length = self.stride + nv
        by = "p" if len(self.parameters) else "q, v, t"
        self._add(
            ("qdd_derivatives", nv * self.row_length, f"by {by}, gap, tau"),
            ("motion_derivatives", nv * self.stride, f"-d(M qdd - F - A^T lambda) by {by}"),
            ("row_derivatives", m * self.stride, "-d(A qdd - b)"),
            ("rate_derivatives", m * self.stride, "of the rates of the rows"),
            ("free_motions", nv * nv, ""),
            ("corrections", m * nv, ""),
            ("rest", nv * self.stride, ""),
            ("turned", m * self.stride, ""),
        )

    def memory(self) -> Array:
        """Fresh memory: all rows act and are stabilised, parameters are those of the mechanism."""
        memory = super().memory()
        memory[self["stabilize"]] = memory[self["active"]] = 1.0
        if len(self.parameters):
            memory[self["p"]] = self.parameters
        return memory

    def lanes_struct(self) -> str:
        """The memory of several states, one in each lane, as a C structure."""
        fields = [name for name in self.fields if name != "offends"]
        return self.c_struct("uk_lanes_memory", "uk_lanes", fields, _OF_ALL_LANES)


class DerivativeLayout(Layout):
    """Fields of the mechanism first; derivatives row by row.

    They are by the parameters that the mechanism varies, or by q, v and t where it varies none.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__(mechanism)
        self._add_derivatives(mechanism)


@cache
def answer_lists() -> dict[str, str]:
    """Headers with lists of inputs and answers: of arrays of many states, and of tables."""

    def listed(name: str, fields: Iterable[tuple[str, str]], **sizes: str) -> str:
        entries = (f"F(double, {field}, {sizes.get(size, size)})" for field, size in fields)
        return f"#define {name}(F) \\\n  " + " \\\n  ".join(entries) + "\n"

    always, forces = (
        [(x.memory, x.size) for x in results(always=which)] for which in (True, False)
    )
    of_many = {"NV": "UK_NV", "M": "UK_M"}
    all_fields = [(name, size) for name, size, _ in _INPUTS + _ANSWERS]
    return {
        "uk_batch_fields.h": listed("UK_BATCH_ANSWERS", [*always, ("failed", "1")], **of_many)
        + listed("UK_BATCH_FORCES", forces, **of_many),
        "uk_tree_fields.h": listed("UK_ANSWERED_FIELDS", all_fields, NQ="nq", NV="n", M="m"),
    }


def integrates(mechanism: ResolvedMechanism) -> bool:
    """Whether motions are compiled as well: all rows are affine in v."""
    return mechanism.constraints.linear_in_rates


def rolls(mechanism: ResolvedMechanism) -> bool:
    """Whether trajectories of many states at once are as well: q is a vector, but in clusters."""
    vector = mechanism.model.is_euclidean or mechanism.local is not None
    return integrates(mechanism) and vector and not mechanism.one_sided
