# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The memory of a servo law: settings, answers, what a control period leaves for the next."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.compilation.emit.layout.block import Declared
from uk_dynamics.compilation.emit.layout.mechanism_layout import Layout
from uk_dynamics.core.servo import LIMITS, PAST, POWERS, STOOD
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import column_count, effort_columns
from uk_dynamics.mechanism.resolution import Array

_ROBUST_SETTINGS = (
    ("robust", (), "1: the robust term acts, 0: it does not"),
    ("robust_gain", (), "within the boundary layer, in 1/s"),
    ("robust_turn", (), "by which uncertain inertia turns motions"),
    ("robust_cubic", (), "1: the cubic function of a sliding surface, 0: the saturated line"),
    ("robust_learning", (), "with which s drives estimates"),
    ("robust_least", (), "size that the term may always have, in √kg m/s²"),
    ("robust_size_learning", (), "of the scale, by rho and |s| of the file"),
    ("robust_scale", (), "by which rho is larger than the file says"),
)
_CORRECTION_SETTINGS = (
    ("adapts", (), "1: estimates of parameters are used, 0: they are not"),
    ("observes", (), "1: what acts besides the model is compensated, 0: it is not"),
    ("loop_delay", (), "of the loop, besides half a period, in s"),
    ("leakage", (), "of the scale of a robust term, in 1/s"),
)
#: Fields of what is known of the uncertainty, in the order of :class:`Known`.
ROBUST_KNOWN = tuple(name for name, *_ in _ROBUST_SETTINGS[1:])


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
        watches = bool(tasks.watched.any())
        settings = self._add(
            ("weights", motors, "diagonal of W"),
            ("preload", motors, "efforts to come close to"),
            ("desired", rows, "b_t is this less what the rows have without joint acceleration"),
            ("feedback", rows, "part of it that feedback asks for"),
            ("lower", own, "smallest efforts"),
            ("upper", own, "largest efforts"),
            *([("surface", rows, "s of the robust term")] if uncertain else []),
            *([("friction_v", nv, "smoothed velocities, for friction")] if watches else []),
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
            ("motor_rank", (), "of A_t N S"),
            ("task_rank", (), "of A_t in the admissible motions"),
            ("controllable", rows, "1 where motors serve whatever is asked"),
            ("reachable", rows, "1 where they serve what is asked now"),
            ("size", rows, "what is large for a row"),
            ("map", rows * motors, "A_t N S, row by row"),
            ("wanted", rows, "b_t - A_t a_s"),
            ("response", nv * motors, "N S, row by row"),
            *([("robust_term", 5, "-r/s, rho, authority, growth, |s|")] if uncertain else []),
        )
        self.allocation = self._add(  # answers of ``uk_allocate``
            ("limited", motors, "efforts within the limits"),
            ("finished", (), "1 where there are no better ones"),
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
        corrected, p = tasks.corrected, tasks.adaptive
        if corrected:
            self._add(
                ("free_drift", rows, "second derivatives of the errors without efforts"),
                ("added", rows, "what corrections add to what tasks ask for"),
                *([("lacking", rows, "what errors lack besides")] if p else ()),
            )
        settings = self._add(  # settings of a control period
            ("period", (), "for which efforts are held, in s; 0: they change continuously"),
            ("blend_time", (), "in which the first error decays, in s; 0: at once"),
            ("friction", (), "1: friction and damping are fed forward, 0: left to the feedback"),
            ("task_damping", rows, "2 zeta omega"),
            ("task_stiffness", rows, "omega^2"),
            ("limits", len(LIMITS) * own, f"{', '.join(LIMITS)}; of derivatives: per period"),
            ("internal", (), "1: motors cause internal forces too, 0: they do not"),
            *(_ROBUST_SETTINGS if uncertain else ()),
            *(_CORRECTION_SETTINGS if corrected else ()),
            *([("observer_rate", rows, "bandwidth in rad/s")] if corrected else ()),
            *([("watch_rate", rows, "of the velocity observer, likewise")] if watches else ()),
        )
        self._add(
            ("internal_row", max(self.rows, 1), "1 for rows of constraints with such a force"),
            ("internal_force", max(self.rows, 1), "to add to their multipliers"),
            ("internal_unit", motors, "natural efforts"),
            ("pushed", 2 * own + 5 * contacts // 3, "priority for which limits were, from 1, or 0"),
        )
        #: What one period leaves for the next.
        self.past = self._add(
            ("past_known", (), "whether there are a last time and velocity"),
            ("past_t", (), ""),
            ("past_v", nv, ""),
            ("acceleration_known", (), ""),
            ("measured_qdd", nv, "from the last two velocities"),
            ("regular_rank", (), "of the structure, in the last period without a hold"),
            ("periods_held", (), "since, through a singular configuration"),
            ("begun", (), "whether there is a first error"),
            ("begin", (), "when it was"),
            ("approach_time", (), "in which it decays"),
            ("approach", POWERS * rows, "polynomials along which it does"),
            ("known_commands", (), "whether there are any"),
            ("commands", PAST * own, "last efforts, their last change"),
            *(_stood(tasks) if tasks.spec.contacts else ()),
            *(_corrections(motors, rows, p) if corrected else ()),
            *(_watched(nv, rows) if watches else ()),
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
            *(("lacking",) if p else ()),
            *(("friction_v",) if watches else ()),
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
            ("allowed", (), "how many there are"),
        )


def _contacts(tasks: Tasks) -> Iterator[Declared]:
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
    yield "contact_cost", (), "of the square of a force"
    yield "contact_ramped", (), "largest normal force, per share of it, in a ramp"
    yield "contact_entry", k, "of the tasks file"
    yield "contact_ramp", e, "in s"
    yield "contact_detected", e, "1: stands while it is closed, 0: by a plan"
    yield "contact_plan", 3 * sum(len(one.intervals) for one in entries), "entry, from, to"


def _stood(tasks: Tasks) -> Iterator[Declared]:
    """What the plan of contacts leaves for the next period."""
    yield "contact_told", (), "whether something has told of closed contacts"
    yield "plan_begun", (), "whether there was a state"
    yield "stood", STOOD * len(tasks.spec.contacts), "as contact_share_rule.py has it"


def _watched(nv: int, rows: int) -> Iterator[Declared]:
    """What the velocity observer leaves for the next period."""
    yield "smoothed", 3 * nv, "what joints are ahead of their smoothed motion, its v and qdd"
    yield "watched", 3 * rows, "errors, their rates, and what the model lacks of the second ones"
    yield "past_followed", 3 * rows, "references of the tasks"


def _corrections(motors: int, rows: int, p: int) -> Iterator[Declared]:
    """What corrections leave for the next period; p: parameters that are estimated."""
    yield "past_rate", rows, "rates of the errors"
    yield "drift", rows, "second derivatives of the errors without efforts, by the model"
    yield "late_share", (), "by which efforts that act follow those that are sent"
    yield "late_efforts", motors, "those that act"
    yield "driven", rows, "what they add to second derivatives of the errors"
    yield "observed", 2 * rows, "what is measured beside drift, and driven, filtered"
    yield "scale_growth", (), "by which s drives the scale of a robust term"
    if p:
        yield "estimate", p, "deviations of parameters, within their intervals"
        yield "fitted", p, "the same by the data alone"
        yield "information", p * p, "on them"
        yield "filtered_regressor", 2 * rows * p, "once and twice"
        yield "filtered", 4 * rows, "as observed, likewise"
        yield "variance", rows, "of what estimates leave"
        yield "settled", 1, "part that filters have of a constant"
        yield "regressor", rows * p, "effects of the deviations on the errors, as asked for"
        yield "explaining", rows * p, "the same as the machine accelerates"
        yield "reached", rows, "what efforts without the robust term add to the errors"
        yield "push", p, "by which s drives estimates"
