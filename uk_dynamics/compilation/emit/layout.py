"""What stands where in the memory of a compiled mechanism: one list, for C and for Python."""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism


@dataclass(frozen=True)
class Field:
    """Some doubles of the memory.

    Attributes:
        name: As in C.
        count: How many.
        start: Index of the first.
        comment: For the reader of the C header.
    """

    name: str
    count: int
    start: int
    comment: str

    @property
    def part(self) -> slice:
        """Where it is."""
        return slice(self.start, self.start + self.count)


class Layout:
    """The memory: inputs, answers, and what the evaluation needs on the way.

    Attributes:
        fields: In order.
        rows: Constraint rows, m.
        followed: Whether rows may follow references.
        answered: Doubles of inputs and answers together, which come first.
        size: All doubles.
    """

    def __init__(self, nq: int, nv: int, rows: int, *, followed: bool) -> None:
        """Lay out a mechanism with nq positions, nv velocities and constraint rows.

        Args:
            nq: Positions.
            nv: Velocities.
            rows: Constraint rows.
            followed: Whether rows may follow references.
        """
        self._start = 0
        self.rows = rows
        self.followed = followed
        self.fields: dict[str, Field] = {}
        m = max(rows, 1)  # C knows no empty arrays
        for name, count, comment in (
            ("t", 1, "time, s"),
            ("stabilize", 1, "1: b contains the stabilisation, 0: it does not"),
            ("q", nq, "positions"),
            ("v", nv, "velocities"),
            ("tau", nv, "forces of motors and the outside world"),
            ("active", m, "1 for rows that act, 0 for those switched off"),
        ):
            self._add(name, count, comment)
        if followed:
            self._add("followed", 3 * m, "references of the rows: values, rates, accelerations")
        for name, count, comment in (
            ("status", 1, "UK_OK, UK_NEAR_SINGULAR or UK_INCONSISTENT"),
            ("rank", 1, "number of independent rows"),
            ("qdd", nv, "accelerations"),
            ("violation", m, "A qdd - b"),
            ("offends", m, "1: nearly dependent and does not hold, 2: contradicts other rows"),
            ("ideal_force", nv, "A^T multipliers"),
            ("multipliers", m, "of least norm"),
            ("determined", m, "1 where the multiplier is unique"),
        ):
            self._add(name, count, comment)
        self.answered = self._start
        for name, count, comment in (
            ("residual", m, "of the rows"),
            ("rate", m, "their rate"),
            ("bias", m, "second derivative without joint acceleration"),
            ("b", m, "A qdd = b"),
            ("force", nv, "F of M qdd = F + A^T lambda"),
            ("A", m * nv, "row by row"),
            ("H", nv * nv, "first M, then its factor, lower triangle"),
            ("W", m * nv, "rows being eliminated"),
            ("kernel", m * m, ""),
            ("diagonal", nv, ""),
            ("inverse_pivot", nv, ""),
            ("inverse_scale", m, ""),
            ("square", m, ""),
            ("reference", m, ""),
            ("order", m, "independent rows, in the order of elimination"),
            ("beta", m, ""),
            ("R", m, ""),
            ("coordinates", m, ""),
            ("scratch", max(m, nv), ""),
        ):
            self._add(name, count, comment)
        self.size = self._start

    def _add(self, name: str, count: int, comment: str) -> None:
        self.fields[name] = Field(name, count, self._start, comment)
        self._start += count

    def __getitem__(self, name: str) -> slice:
        """Where a field is."""
        return self.fields[name].part

    def c_struct(self) -> str:
        """The same as a C structure of doubles."""
        lines = []
        for field in self.fields.values():
            array = f"[{field.count}]" if field.name not in ("t", *_SCALARS) else ""
            comment = f" /* {field.comment} */" if field.comment else ""
            lines.append(f"  double {field.name}{array};{comment}")
        return "typedef struct {\n" + "\n".join(lines) + "\n} uk_memory;\n"


def layout_of(mechanism: ResolvedMechanism) -> Layout:
    """Memory of a mechanism."""
    model = mechanism.model
    rows = len(mechanism.constraints)
    return Layout(model.nq, model.nv, rows, followed=mechanism.follows_references)


def integrates(mechanism: ResolvedMechanism) -> bool:
    """Whether trajectories are compiled as well: q is a vector, and all rows are affine in v."""
    model = mechanism.model
    return mechanism.constraints.linear_in_rates and model.nq == model.nv


_SCALARS = ("stabilize", "status", "rank", "motor_rank", "task_rank", "warm", "finished")
