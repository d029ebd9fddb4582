# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Programs in C around exported functions: the servo law with an example, and checks.

Checks hold states and the answers there: exported C is verified where it is to run.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from uk_dynamics.compilation import select_backend
from uk_dynamics.compilation.build import (
    counted,
    derivative_export,
    effort_export,
    servo_export,
)
from uk_dynamics.compilation.runtime import ForeignReferenceError, reference_table
from uk_dynamics.compilation.verification import Trial, allowed, answered, trials
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.servo import ServoController, known_of
from uk_dynamics.conversion.output_files import filled
from uk_dynamics.derivatives import (
    MotionDerivatives,
    ParameterDerivatives,
    ServoDerivatives,
    by_parameters,
    differentiable,
    has_effort_derivatives,
)
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State
from uk_dynamics.mechanism_class import Mechanism

_TEMPLATES = Path(__file__).with_name("c_examples")
_PERIOD = 1e-3  # s
_CONTACT_STATES, _CONTACT_STEPS = 8, 50  # states on the way from the start, steps between them
_SAME = 1e-8  # m, rad and their rates: rounding of a step, times conditions of up to 1e4
_DIFFERENTIATED = 3  # states on the constraints: large mechanisms have thousands of derivatives

_Answers = Mapping[str, Array]


def c_programs(
    mechanism: Mechanism,
    tasks: Tasks | None = None,  # made for this mechanism; None: without a servo law
    *,
    derivatives: bool = False,  # whether by state, time and efforts; with tasks, of their efforts
    parameters: Sequence[str] = (),  # of the mechanism, by which to differentiate as well
) -> dict[str, str]:
    """Texts by name of what is exported beside a mechanism's motion: law, derivatives, checks.

    Raises:
        InputError: Some part cannot be written as C.
    """
    texts = _state_check(mechanism)
    if tasks is not None:
        texts |= _servo(mechanism, tasks)
        if derivatives and has_effort_derivatives(tasks):
            texts |= _effort_derivatives(mechanism, tasks)
    if derivatives:
        texts |= derivative_export(differentiable(mechanism)) | _derivative_check(mechanism)
    if parameters:
        texts |= derivative_export(by_parameters(mechanism, parameters))
        texts |= _derivative_check(mechanism, parameters)
    return texts


def _servo(mechanism: Mechanism, tasks: Tasks) -> dict[str, str]:
    """The law with an example, and a program that verifies two control periods of it."""
    if tasks.allocation.internal_forces:
        raise InputError(
            "internal forces cannot be written as C; use allocation.preload",
            file=tasks.spec.file,
            place="allocation.internal_forces",
        )

    def answer(trial: Trial) -> _Answers:
        law = ServoController(mechanism, tasks, control_period=_PERIOD, backend="interpreted")
        t, q, v = trial.state.t, trial.state.q, trial.state.v
        first, second = (law.command(State(when, q, v)) for when in (t, t + _PERIOD))
        found = {"efforts": first.efforts, "next": second.efforts}
        if contacts:
            pressed = [first.contact_forces.get(name, np.zeros(3)) for name in contacts]
            found["forces"] = np.array(pressed)
        return found

    contacts = () if tasks.standing is None else tasks.standing.names
    name, words = f"{c_identifier(mechanism.name)}_servo", _tables(tasks)
    words["contacts"] = ", ".join(map(c_string, (*contacts, "")))  # C knows no empty arrays
    files = servo_export(tasks, name, known=known_of(tasks))
    texts = _with_example("servo", name, mechanism, files, words)
    words = {"period": repr(_PERIOD), **words}
    return texts | _program("servo", mechanism, name, answer, words)


def _effort_derivatives(mechanism: Mechanism, tasks: Tasks) -> dict[str, str]:
    """The derivatives of efforts with an example, and a program that verifies them."""
    derivatives, rows = ServoDerivatives(tasks, "interpreted"), len(tasks.constraints)

    def answer(trial: Trial) -> _Answers | None:
        found = derivatives.at(trial.state)
        if not found.exist:
            return None
        efforts = found.quantities["efforts"]
        return {"efforts": efforts.value, "derivatives": efforts.whole}

    def followed(state: State) -> Array:
        return _sampled(tasks.sample(state.t), rows)

    kind, fixed = "servo_derivatives", Tasks(tasks.spec, differentiable(mechanism))
    name = f"{c_identifier(mechanism.name)}_{kind}"
    words = {"followed": _numbers(_sampled(fixed.sample(0.0), rows))}
    texts = _with_example(kind, name, fixed.mechanism, effort_export(fixed, name), words)
    return texts | _program(kind, mechanism, name, answer, given={"task_followed": followed})


def _tables(tasks: Tasks) -> dict[str, str]:
    """What tasks and structure follow over time, as numbers of C."""
    words = {}
    for name, of in (("tasks", counted(tasks)), ("structure", tasks.mechanism)):
        try:
            table = reference_table(of.references)
        except ForeignReferenceError as error:
            problem = f"{error}, which cannot be written as C"
            raise InputError(problem, file=tasks.spec.file) from None
        words[name] = _numbers(np.zeros(1) if table is None else table)
    return words


def _with_example(
    template: str,
    name: str,
    mechanism: ResolvedMechanism,
    files: tuple[str, str],
    words: Mapping[str, str],
) -> dict[str, str]:
    """Header and source, with a program that calls their functions at the start."""
    begin = start(mechanism)
    known = {
        "id": name,
        "ID": name.upper(),
        "name": c_comment(mechanism.name),
        "q": _numbers(begin.q),
        "v": _numbers(begin.v),
        "motors": ", ".join(map(c_string, mechanism.actuators.names)),
    }
    example = filled(_TEMPLATES / f"{template}.c.in", {**known, **words})
    return {f"{name}.h": files[0], f"{name}.c": files[1], f"{name}_example.c": example}


def _state_check(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Text of ``NAME_check.c``, which verifies ``NAME.c`` and ``NAME_batch.c``, by name."""
    reference = InterpretedDynamics(mechanism)

    def answer(trial: Trial) -> _Answers:
        found = reference.evaluate(trial.state, Inputs(tau=trial.tau))
        return {"qdd": found.qdd, "force": found.ideal_force}

    identifier = c_identifier(mechanism.name)
    words = {"acts": "", "act": "1.0", "contacts": ""}
    if mechanism.one_sided:
        acts = _numbers(mechanism.hierarchy.acting().astype(float))
        words = {"acts": f"  const double acts[] = {{{acts}}};\n", "act": "acts[i]"}
        words["contacts"] = _contact_steps(mechanism, identifier)
    return _program("state", mechanism, identifier, answer, words, batch=True)


def _contact_steps(mechanism: ResolvedMechanism, identifier: str) -> str:
    """Some steps over contacts on the way from the start, with what Python found after each."""
    dynamics, reference = select_backend(mechanism, "cached"), InterpretedDynamics(mechanism)
    stepping, state = ContactStepping(mechanism), start(mechanism)
    rows: dict[str, list[Array]] = {}
    inputs = Inputs(active=mechanism.hierarchy.initial, stabilize=False)
    for k in range(_CONTACT_STATES):
        end = state.t + _CONTACT_STEPS * _PERIOD
        steps = _CONTACT_STEPS if k else 1
        state, active = stepping.advance(state, end, steps, dynamics, inputs)
        inputs = replace(inputs, active=active)
        assert inputs.active is not None
        impulse = stepping.tables.impulse.copy()
        found, _ = stepping.step(state, _PERIOD, reference, inputs)
        stepping.tables.impulse[:] = impulse
        mode = stepping.over(inputs.active)[1].astype(float)
        one = {"t": np.array(state.t), "q": state.q, "v": state.v}
        named = {f"step_{name}": x for name, x in one.items()}
        named |= {"step_impulse": impulse, "step_mode": mode, "end_q": found.q, "end_v": found.v}
        for name, x in named.items():
            rows.setdefault(name, []).append(x)
    words = {
        "id": identifier,
        "ID": identifier.upper(),
        "states": str(_CONTACT_STATES),
        "step": repr(_PERIOD),
        "within": repr(_SAME),
        "data": "\n".join(_table(name, x, _CONTACT_STATES) for name, x in rows.items()),
    }
    return filled(_TEMPLATES / "check_contacts.c.in", words)


def _derivative_check(mechanism: Mechanism, parameters: Sequence[str] = ()) -> dict[str, str]:
    """Text of ``NAME_derivatives_check.c``; of ``NAME_parameters_check.c`` with parameters."""
    varied = tuple(sorted(set(parameters)))
    words = {"varies": str(int(bool(varied))), "p": ""}
    derivatives: MotionDerivatives | ParameterDerivatives
    if varied:
        derivatives = ParameterDerivatives(mechanism, varied, "interpreted")
        values = derivatives.mechanism.varied
        assert values is not None
        words["p"] = _numbers(values.values)
    else:
        derivatives = MotionDerivatives(differentiable(mechanism), "interpreted")

    def answer(trial: Trial) -> _Answers | None:
        found = derivatives.at(trial.state, Inputs(tau=trial.tau))
        if not np.all(found.exist):
            return None
        return {name: found.quantities[name].whole for name in ("acceleration", "force")}

    suffix = "parameters" if varied else "derivatives"
    identifier = f"{c_identifier(mechanism.name)}_{suffix}"
    return _program("derivatives", mechanism, identifier, answer, words, batch=True)


def _program(
    kind: str,  # of the template
    mechanism: ResolvedMechanism,  # what was exported
    identifier: str,  # prefix of the exported files
    answer: Callable[[Trial], _Answers | None],  # of the reference
    words: Mapping[str, str] | None = None,  # more of the template
    given: Mapping[str, Callable[[State], Array]] | None = None,  # with the state, by name
    *,
    batch: bool = False,  # whether there is a file for many states
) -> dict[str, str]:
    """A program by its name; empty where the reference has no answer."""
    rows: dict[str, list[Array]] = {}
    reference = InterpretedDynamics(mechanism)
    m = len(mechanism.constraints)
    functions = {
        "t": lambda state: np.array(state.t),
        "q": lambda state: state.q,
        "v": lambda state: state.v,
        **(given or {}),
    }
    if batch or mechanism.follows_references:
        functions["followed"] = lambda state: _sampled(mechanism.references.sample(state.t), m)
    differentiated = kind.endswith("derivatives")
    for trial in trials(mechanism, reference)[: _DIFFERENTIATED if differentiated else None]:
        found, near = answered(answer, trial), answered(answer, trial.nearby(mechanism))
        if found is None or near is None:
            continue
        of_state = {name: function(trial.state) for name, function in functions.items()}
        within = {f"{x}_within": np.array(allowed(found[x], near[x])) for x in found}
        for name, x in {**of_state, "tau": trial.tau, **found, **within}.items():
            rows.setdefault(name, []).append(x)
    if not rows:
        return {}
    used = (_TEMPLATES / f"check_{kind}.c.in").read_text(encoding="utf-8")

    def needed(name: str) -> bool:
        return f"{name}[k]" in used or f", {name.removesuffix('_within')});" in used

    sources = [f"{identifier}.c", *([f"{identifier}_batch.c"] if batch else [])]
    known = {
        "id": identifier,
        "ID": identifier.upper(),
        "name": c_comment(mechanism.name),
        "string": c_string(mechanism.name),
        "header": f"{identifier}_batch" if batch else identifier,
        "sources": " ".join(sources),
        "states": str(len(rows["t"])),
        "follows": str(int(mechanism.follows_references)),
        "data": "\n".join(_table(name, x) for name, x in rows.items() if needed(name)),
        **(words or {}),
    }
    known["calls"] = filled(_TEMPLATES / f"check_{kind}.c.in", known)
    return {f"{identifier}_check.c": filled(_TEMPLATES / "check.c.in", known)}


def _sampled(sample: ReferenceSample | None, rows: int) -> Array:
    """Values, rates and accelerations that rows follow, one after the other; at least three."""
    return np.zeros(3 * max(rows, 1)) if sample is None else np.concatenate(sample)


def _table(name: str, rows: Sequence[Array], count: int | str = "STATES") -> str:
    """An array of C with an entry, or a row, for each state."""
    if not rows[0].ndim:
        return f"static const double {name}[{count}] = {{{_numbers(map(float, rows))}}};"
    text = ",\n    ".join(f"{{{_numbers(row.ravel())}}}" for row in rows)
    return f"static const double {name}[{count}][{rows[0].size}] = {{\n    {text}}};"


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(x)) for x in values)
