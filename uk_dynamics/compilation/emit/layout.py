# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What C knows of a mechanism: the memory as one list of fields, for Python too, and tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.servo import LIMITS, PAST, POWERS, STOOD, Split
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import column_count, effort_columns
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

# Numbers by which tables of references tell C what they hold; see ``references.c``.
#: Numbers before the data of an entry.
REFERENCE_HEAD = 4
#: Kinds of entries.
REFERENCE_KINDS = {"SAMPLE": 0, "SINUSOID": 1, "POLYNOMIALS": 2, "EXPRESSIONS": 3}
#: What polynomials are outside their times: a spline holds its ends, a trajectory is at rest at the
#: very end too, a periodic one repeats, a single polynomial has no ends.
BEYOND_TIMES = {"HOLDS": 0, "RESTS": 1, "REPEATS": 2, "GOES_ON": 3}
_INFIX = {"+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "OVER", "<": "LESS", "<=": "LESS_OR_EQUAL"}
_OTHERS = (
    *("negate", "choose", "pow", "atan2", "fabs", "sqrt", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "exp", "log", "asin", "acos", "atan"),
)
#: Operation of a symbol: its name in C.
OPERATION_NAMES = _INFIX | {name: name.upper() for name in _OTHERS}
EXPRESSION_OPERATIONS = {name: code for code, name in enumerate(OPERATION_NAMES.values())}


@dataclass(frozen=True)
class Field:
    """Some doubles of the memory."""

    count: int
    start: int  # index of the first
    comment: str  # for the reader of the C header


class Block:
    """Some fields of doubles, one behind the other, on which C and Python both work."""

    def __init__(self, *fields: tuple[str, int, str]) -> None:
        self.size = 0  # all doubles so far
        self.fields: dict[str, Field] = {}
        self._add(*fields)

    def memory(self) -> Array:
        """Fresh memory."""
        return np.zeros(self.size)

    def views(self, memory: Array) -> dict[str, Array]:
        """All fields of a memory, by name."""
        return {name: memory[self[name]] for name in self.fields}

    def _add(self, *fields: tuple[str, int, str]) -> slice:
        """Add fields; where they are together."""
        first = self.size
        for name, count, comment in fields:
            self.fields[name] = Field(count, self.size, comment)
            self.size += count
        return slice(first, self.size)

    def __getitem__(self, name: str) -> slice:
        """Where a field is."""
        field = self.fields[name]
        return slice(field.start, field.start + field.count)

    def c_struct(
        self,
        name: str = "uk_memory",
        kind: str = "double",
        fields: Iterable[str] | None = None,
        kinds: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """The same, or some fields of it, as a C structure of numbers of a type.

        Args:
            name: Of the structure.
            kind: The type.
            fields: Some of them; None: all.
            kinds: Types of fields that have others.
        """
        lines, structure = [], name
        for name in self.fields if fields is None else fields:
            field = self.fields[name]
            array = f"[{field.count}]" if name not in ("t", *_SCALARS) else ""
            if name in ("W", "kernel"):
                columns = self.fields["force" if name == "W" else "row"].count
                array = f"[{field.count // columns}][{columns}]"
            comment = f" /* {field.comment} */" if field.comment else ""
            lines.append(f"  {kinds.get(name, kind)} {name}{array};{comment}")
        return "typedef struct {\n" + "\n".join(lines) + f"\n}} {structure};\n"


class Layout(Block):
    """The memory: inputs, answers, and what the evaluation needs on the way."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__()
        nq, nv, rows = mechanism.model.nq, mechanism.model.nv, len(mechanism.constraints)
        self.rows = rows  # constraint rows, m
        self.followed = mechanism.follows_references  # whether rows may follow references
        m = max(rows, 1)  # C knows no empty arrays
        self._add(
            ("t", 1, "time, s"),
            ("stabilize", 1, "1: b contains the stabilisation, 0: it does not"),
            ("q", nq, "positions"),
            ("v", nv, "velocities"),
            ("tau", nv, "forces of motors and the outside world"),
            ("active", m, "1 for rows that act, 0 for those switched off"),
        )
        if self.followed:
            self._add(("followed", 3 * m, "references of the rows: values, rates, accelerations"))
        self.parameters = np.zeros(0) if mechanism.varied is None else mechanism.varied.values
        if len(self.parameters):
            self._add(("p", len(self.parameters), "parameters"))
        self._add(
            ("status", 1, "UK_OK, UK_NEAR_SINGULAR or UK_INCONSISTENT"),
            ("rank", 1, "number of independent rows"),
            ("qdd", nv, "accelerations"),
            ("violation", m, "A qdd - b"),
            ("offends", m, "1: nearly dependent and does not hold, 2: contradicts other rows"),
            ("ideal_force", nv, "A^T multipliers"),
            ("multipliers", m, "of least norm"),
            ("determined", m, "1 where the multiplier is unique"),
        )
        self.answered = self.size  # doubles of inputs and answers together, which come first
        self._add(
            ("residual", m, "of the rows"),
            ("rate", m, "their rate"),
            ("bias", m, "second derivative without joint acceleration"),
            ("failed", 1, "0, or why there is no answer"),
            ("singular", 1, "1 where M is"),
            ("forces", 1, "1: forces are wanted, 0: accelerations alone"),
        )
        self.clusters = mechanism.local is not None  # whether tables have the rest
        if self.clusters:
            self._add(("tree", 1, "address of the tables"))
            return
        self._add(
            ("b", m, "A qdd = b"),
            ("force", nv, "F of M qdd = F + A^T lambda"),
            ("A", m * nv, "row by row"),
            ("H", nv * nv, "first M, then its factor, lower triangle"),
            ("inverse_pivot", nv, ""),
            ("W", m * nv, "rows being eliminated"),
            ("kernel", m * min(m, nv), ""),
            ("scale", m, "of rows, in the order of elimination, as the following"),
            ("square", m, ""),
            ("reference", m, ""),
            ("row", m, "which rows they are, independent ones first"),
            ("beta", m, ""),
            ("inverse_R", m, ""),
            ("z", m, ""),
            ("right", m, ""),
            ("scratch", max(m, nv), ""),
            ("ordered", 1, "1 where no row has left its place"),
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


class LimitsLayout(Block):
    """What limits of the motors are set to and remember, and more of a law that has them."""

    def __init__(self, motors: int, *more: tuple[str, int, str]) -> None:
        super().__init__(
            ("limits", len(LIMITS) * motors, ", ".join(LIMITS)),
            ("commands", PAST * motors, "last efforts, their last change"),
            ("known_commands", 1, "whether there are any"),
            ("lower", motors, "smallest efforts"),
            ("upper", motors, "largest efforts"),
            *more,
        )


class TransferLayout(LimitsLayout):
    """What a transfer between laws remembers."""

    def __init__(self, motors: int) -> None:
        super().__init__(
            motors,
            ("under_way", 1, "whether an offset fades"),
            ("begun", 1, "whether it is known"),
            ("begin", 1, "s"),
            ("duration", 1, "s"),
            ("origin", motors, "efforts to begin at"),
            ("offset", motors, "what fades"),
            ("known_sent", 1, "whether there were last efforts"),
            ("sent", motors, "last efforts"),
        )


class JointSpaceLayout(LimitsLayout):
    """What gravity compensation and hold are set to and remember."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        motors, m = len(mechanism.actuators), len(mechanism.constraints)
        super().__init__(
            motors,
            ("holds", 1, "1: hold, 0: gravity compensation"),
            ("stiffness", 1, "of hold"),
            ("damping", 1, ""),
            ("holding", 1, "whether there is a position"),
            ("position", mechanism.model.nq, "which is held"),
            ("active", max(m, 1), "1 for rows that act, 0 for those switched off"),
            ("weights", motors, "diagonal of W"),
            ("preload", motors, "efforts to come close to"),
            ("internal", 1, "1: motors cause internal forces too, 0: they do not"),
            ("internal_row", max(m, 1), "1 for rows of constraints with such a force"),
            ("internal_force", max(m, 1), "to add to their multipliers"),
            ("internal_unit", motors, "natural efforts"),
        )


class DerivativeLayout(Layout):
    """Fields of the mechanism first; derivatives row by row.

    They are by the parameters that the mechanism varies, or by q, v and t where it varies none.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__(mechanism)
        self._add_derivatives(mechanism)


class ServoLayout(Layout):
    """Fields of the mechanism first; the two answers of the law are contiguous."""

    def __init__(self, tasks: Tasks) -> None:
        mechanism = tasks.mechanism
        super().__init__(mechanism)
        nv, motors, rows = mechanism.model.nv, len(mechanism.actuators), len(tasks.constraints)
        self.motors, self.task_rows = motors, rows
        contacts = tasks.spec.contact_rows
        own = motors - contacts  # the others are forces of contacts
        self.uncertain = uncertain = 0 if tasks.uncertainty is None else tasks.uncertainty.row_count
        settings = self._add(
            ("weights", motors, "diagonal of W"),
            ("preload", motors, "efforts to come close to"),
            ("desired", rows, "b_t is this less what the rows have without joint acceleration"),
            ("feedback", rows, "part of it that feedback asks for"),
            ("lower", own, "smallest efforts"),
            ("upper", own, "largest efforts"),
            *([("surface", rows, "s of the robust term")] if uncertain else []),
            *(_contacts(tasks) if contacts else ()),
            ("task_followed", 3 * rows, "references of the tasks: values, rates, accelerations"),
        )
        self.errors = self._add(  # answers of ``uk_errors``
            ("tracking_error", rows, "residuals of the tasks"),
            ("tracking_rate", rows, "their rates"),
        )
        self.decision = self._add(  # answers of ``uk_servo``, behind those of the mechanism
            ("efforts", motors, "u"),
            ("shortfall", rows, "b_t - A_t qdd with these efforts"),
            ("motor_rank", 1, "of A_t N S"),
            ("task_rank", 1, "of A_t in the admissible motions"),
            ("controllable", rows, "1 where motors serve whatever is asked"),
            ("reachable", rows, "1 where they serve what is asked now"),
            ("size", rows, "what is large for a row"),
            ("map", rows * motors, "A_t N S, row by row"),
            ("wanted", rows, "b_t - A_t a_s"),
            ("response", nv * motors, "N S, row by row"),
            *([("robust_term", 4, "-r/s, rho, authority, |s|")] if uncertain else []),
        )
        self.allocation = self._add(  # answers of ``uk_allocate``
            ("limited", motors, "efforts within the limits"),
            ("finished", 1, "1 where there are no better ones"),
        )
        #: Inputs and answers of the law, one behind the other.
        self.law = slice(settings.start, self.allocation.stop)
        self._add(
            ("A_t", rows * nv, ""),
            ("bias_t", rows, ""),
            ("task_part", rows * nv, "task rows in the admissible motions"),
            ("motor_part", motors * nv, "motors, likewise"),
            ("task_size", rows, "of task rows, with what the structure holds"),
            ("root", motors, "of the weights"),
            ("inverse_root", motors, ""),
        )
        robust = ("surface", "robust_term", "uncertain", "uncertain_part") if uncertain else ()
        if uncertain:
            self._add(
                ("uncertain", uncertain * nv, "rows of what is uncertain"),
                ("uncertain_part", uncertain * nv, "likewise"),
            )
        corrected, p, watches = tasks.corrected, tasks.adaptive, bool(tasks.watched.any())
        if corrected:
            self._add(
                ("free_drift", rows, "second derivatives of the errors without efforts"),
                ("added", rows, "what corrections add to what tasks ask for"),
            )
        settings = self._add(  # settings of a control period
            ("period", 1, "for which efforts are held, in s; 0: they change continuously"),
            ("blend_time", 1, "in which the first error decays, in s; 0: at once"),
            ("friction", 1, "1: friction and damping are fed forward, 0: left to the feedback"),
            ("task_damping", rows, "2 zeta omega"),
            ("task_stiffness", rows, "omega^2"),
            ("limits", len(LIMITS) * own, f"{', '.join(LIMITS)}; of derivatives: per period"),
            ("internal", 1, "1: motors cause internal forces too, 0: they do not"),
            *(_ROBUST_SETTINGS if uncertain else ()),
            *(_CORRECTION_SETTINGS if corrected else ()),
            *([("observer_rate", rows, "bandwidth in rad/s")] if corrected else ()),
            *([("watch_rate", rows, "of the velocity observer, likewise")] if watches else ()),
        )
        self._add(
            ("internal_row", max(self.rows, 1), "1 for rows of constraints with such a force"),
            ("internal_force", max(self.rows, 1), "to add to their multipliers"),
            ("internal_unit", motors, "natural efforts"),
        )
        #: What one period leaves for the next.
        self.past = self._add(
            ("past_known", 1, "whether there are a last time and velocity"),
            ("past_t", 1, ""),
            ("past_v", nv, ""),
            ("acceleration_known", 1, ""),
            ("measured_qdd", nv, "from the last two velocities"),
            ("regular_rank", 1, "of the structure, in the last period without a hold"),
            ("periods_held", 1, "since, through a singular configuration"),
            ("begun", 1, "whether there is a first error"),
            ("begin", 1, "when it was"),
            ("approach_time", 1, "in which it decays"),
            ("approach", POWERS * rows, "polynomials along which it does"),
            ("known_commands", 1, "whether there are any"),
            ("commands", PAST * own, "last efforts, their last change"),
            *(_stood(tasks) if tasks.spec.contacts else ()),
            *(_corrections(rows, p) if corrected else ()),
            *(_watched(rows) if watches else ()),
        )
        #: Estimates, what data alone say, and the information on them.
        learned = [self[x] for x in ("estimate", "information") if x in self.fields]
        self.learned = slice(learned[0].start, learned[1].stop) if learned else slice(0, 0)
        #: What lanes take over from the memories of all laws: settings, and what periods leave.
        self.settings = ("weights", "preload", *self.names(settings))
        self.remembered = self.names(self.past)
        #: What periods compute in lanes.
        self.computed = (
            *("desired", "feedback", "lower", "upper", "task_followed", "tracking_error"),
            *("tracking_rate", "efforts", "shortfall", "size", "map", "wanted", "A_t", "bias_t"),
            *("task_part", "motor_part", "task_size", "root", "inverse_root"),
            *robust,
            *(("free_drift", "added") if corrected else ()),
        )
        self.corrected, self.adaptive = corrected, p

    def memory(self) -> Array:
        """As of the mechanism; all that is known of estimates is their intervals."""
        memory = super().memory()
        if self.adaptive:
            memory[self["information"]] = np.eye(self.adaptive).ravel()
        return memory

    def names(self, part: slice) -> tuple[str, ...]:
        """The fields in a part of the memory."""
        fields = self.fields.items()
        return tuple(name for name, one in fields if part.start <= one.start < part.stop)


class EffortLayout(ServoLayout):
    """Fields of the law, and derivatives of its efforts."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__(tasks)
        nv = tasks.mechanism.model.nv
        self._add_derivatives(tasks.mechanism)
        self.groups = effort_columns(nv, self.task_rows, self.motors)
        self.columns = column_count(self.groups)
        self.effort_stride = -(-self.columns // 8) * 8
        self._add(
            ("effort_derivatives", self.motors * self.columns, f"by {', '.join(self.groups)}"),
            ("held", self.motors, "1 for motors at a limit"),
            ("motions", 4 * nv * nv, "rows: changes of q, v that keep the loops closed"),
            ("allowed", 1, "how many there are"),
        )


@dataclass(frozen=True)
class LoopTables:
    """What the estimation knows of a mechanism, apart from its rows.

    Attributes:
        split: Measured and other velocity coordinates.
        held: Places of the constraint rows that determine positions, (h,).
        scale: Residual of each of these per m or rad, (h,).
        turning: Which measured joints are continuous, (d,).
        homes: Configurations with closed loops, from the nearest of which a start begins, (k, nq).
        moving: Whether rows depend on time.
    """

    split: Split
    held: NDArray[np.intp]
    scale: Array
    turning: NDArray[np.bool_]
    homes: Array
    moving: bool


def integrates(mechanism: ResolvedMechanism) -> bool:
    """Whether motions are compiled as well: all rows are affine in v."""
    return mechanism.constraints.linear_in_rates


def rolls(mechanism: ResolvedMechanism) -> bool:
    """Whether trajectories of many states at once are as well: q is a vector, but in clusters."""
    vector = mechanism.model.is_euclidean or mechanism.local is not None
    return integrates(mechanism) and vector and not mechanism.one_sided


#: Types of what is no number of each lane.
_OF_ALL_LANES = {"stabilize": "double", "forces": "int", "singular": "uk_mask", "ordered": "int"}
_ROBUST_SETTINGS = (
    ("robust", 1, "1: the robust term acts, 0: it does not"),
    ("robust_gain", 1, "within the boundary layer, in 1/s"),
    ("robust_turn", 1, "by which uncertain inertia turns motions"),
    ("robust_cubic", 1, "1: the cubic function of a sliding surface, 0: the saturated line"),
    ("robust_learning", 1, "with which s drives estimates"),
    ("robust_least", 1, "size that the term may always have, in √kg m/s²"),
)
_CORRECTION_SETTINGS = (
    ("adapts", 1, "1: estimates of parameters are used, 0: they are not"),
    ("observes", 1, "1: what acts besides the model is compensated, 0: it is not"),
    ("loop_delay", 1, "of the loop, besides half a period, in s"),
)


def _contacts(tasks: Tasks) -> Iterator[tuple[str, int, str]]:
    """What is known of contacts that may stand, and which of them do."""
    rows, entries = len(tasks.constraints), tasks.spec.contacts
    k, e = tasks.spec.contact_rows // 3, len(entries)
    yield "asked", rows, "1, or 0 for rows that count as none"
    yield "lifted", rows, "part of their feedback that rows have after a contact has lifted"
    yield "lifted_by", rows, "entry that such rows wait for, or -1"
    yield "contact_closed", k, "1 for those that are said to be closed"
    yield "contact_friction", k, "that their forces may use"
    yield "contact_limit", k, "largest normal forces by the file"
    yield "contact_most", k, "now"
    yield "contact_damping", 3 * k, "of their rows"
    yield "contact_cost", 1, "of the square of a force"
    yield "contact_ramped", 1, "largest normal force, per share of it, in a ramp"
    yield "contact_entry", k, "of the tasks file"
    yield "contact_ramp", e, "in s"
    yield "contact_detected", e, "1: stands while it is closed, 0: by a plan"
    yield "contact_plan", 3 * sum(len(one.intervals) for one in entries), "entry, from, to"


def _stood(tasks: Tasks) -> Iterator[tuple[str, int, str]]:
    """What the plan of contacts leaves for the next period."""
    yield "contact_told", 1, "whether something has told of closed contacts"
    yield "plan_begun", 1, "whether there was a state"
    yield "stood", STOOD * len(tasks.spec.contacts), "as standing_rule.py has it"


def _watched(rows: int) -> Iterator[tuple[str, int, str]]:
    """What the velocity observer leaves for the next period."""
    yield "watched", 3 * rows, "errors, their rates, and what the model lacks of the second ones"
    yield "watched_driven", rows, "what efforts add to them, as late as it acts"
    yield "past_followed", 3 * rows, "references of the tasks"


def _corrections(rows: int, p: int) -> Iterator[tuple[str, int, str]]:
    """What corrections leave for the next period; p: parameters that are estimated."""
    yield "past_rate", rows, "rates of the errors"
    yield "drift", rows, "second derivatives of the errors without efforts, by the model"
    yield "driven", rows, "what efforts add to them"
    yield "observed", 2 * rows, "what is measured beside drift, and driven, filtered"
    if p:
        yield "estimate", p, "deviations of parameters, within their intervals"
        yield "fitted", p, "the same by the data alone"
        yield "information", p * p, "on them"
        yield "filtered_regressor", rows * p, ""
        yield "filtered", 2 * rows, "as observed"
        yield "variance", rows, "of what estimates leave"
        yield "settled", 1, "part that filters have of a constant"
        yield "regressor", rows * p, "effects of the deviations on the errors"
        yield "push", p, "by which s drives estimates"


#: Fields of what is known of the uncertainty, in the order of :class:`Known`.
ROBUST_KNOWN = tuple(name for name, *_ in _ROBUST_SETTINGS[1:])
_SCALARS = (
    *(name for name, *_ in (*_ROBUST_SETTINGS, *_CORRECTION_SETTINGS)),
    *("stabilize", "status", "rank", "motor_rank", "task_rank", "finished", "period"),
    *("blend_time", "friction", "past_known", "past_t", "acceleration_known", "begun", "begin"),
    *("regular_rank", "periods_held", "approach_time", "known_commands", "internal", "tree"),
    *("allowed", "failed", "singular", "ordered", "forces", "under_way", "duration"),
    *("known_sent", "holds", "stiffness", "damping", "holding"),
    *("contact_cost", "contact_ramped", "contact_told", "plan_begun"),
)
