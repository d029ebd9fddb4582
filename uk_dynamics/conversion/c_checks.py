# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Programs in C that hold states and answers: exported C is verified where it is to run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from uk_dynamics.compilation import select_backend
from uk_dynamics.compilation.verification import Trial, allowed, answered, trials
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.conversion.output_files import filled
from uk_dynamics.derivatives import MotionDerivatives, ParameterDerivatives, differentiable
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State
from uk_dynamics.mechanism_class import Mechanism

TEMPLATES = Path(__file__).with_name("c_examples")
PERIOD = 1e-3  # s
_CONTACT_STATES, _CONTACT_STEPS = 8, 50  # states on the way from the start, steps between them
_SAME = 1e-8  # m, rad and their rates: rounding of a step, times conditions of up to 1e4
_DIFFERENTIATED = 3  # states on the constraints: large mechanisms have thousands of derivatives

Answers = Mapping[str, Array]


def state_check(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Text of ``NAME_check.c``, which verifies ``NAME.c`` and ``NAME_batch.c``, by name."""
    reference = InterpretedDynamics(mechanism)

    def answer(trial: Trial) -> Answers:
        found = reference.evaluate(trial.state, Inputs(tau=trial.tau))
        return {"qdd": found.qdd, "force": found.ideal_force}

    identifier = c_identifier(mechanism.name)
    words = acting_words(mechanism)
    words["contacts"] = _contact_steps(mechanism, identifier) if mechanism.one_sided else ""
    return checking_program("state", mechanism, identifier, answer, words, batch=True)


def _contact_steps(mechanism: ResolvedMechanism, identifier: str) -> str:
    """Some steps over contacts on the way from the start, with what Python found after each."""
    dynamics, reference = select_backend(mechanism, "cached"), InterpretedDynamics(mechanism)
    stepping, state = ContactStepping(mechanism), start(mechanism)
    rows: dict[str, list[Array]] = {}
    inputs = Inputs(active=mechanism.hierarchy.initial, stabilize=False)
    for k in range(_CONTACT_STATES):
        end = state.t + _CONTACT_STEPS * PERIOD
        state, active = stepping.advance(state, end, _CONTACT_STEPS if k else 1, dynamics, inputs)
        inputs = replace(inputs, active=active)
        assert inputs.active is not None
        impulse = stepping.tables.impulse.copy()
        found, _ = stepping.step(state, PERIOD, reference, inputs)
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
        "step": repr(PERIOD),
        "within": repr(_SAME),
        "data": "\n".join(_table(name, x, _CONTACT_STATES) for name, x in rows.items()),
    }
    return filled(TEMPLATES / "check_contacts.c.in", words)


def derivative_check(mechanism: Mechanism, parameters: Sequence[str] = ()) -> dict[str, str]:
    """Text of ``NAME_derivatives_check.c``; of ``NAME_parameters_check.c`` with parameters."""
    varied = tuple(sorted(set(parameters)))
    words = {"varies": str(int(bool(varied))), "p": ""}
    derivatives: MotionDerivatives | ParameterDerivatives
    if varied:
        derivatives = ParameterDerivatives(mechanism, varied, "interpreted")
        values = derivatives.mechanism.varied
        assert values is not None
        words["p"] = numbers(values.values)
    else:
        derivatives = MotionDerivatives(differentiable(mechanism), "interpreted")

    def answer(trial: Trial) -> Answers | None:
        found = derivatives.at(trial.state, Inputs(tau=trial.tau))
        if not np.all(found.exist):
            return None
        return {name: found.quantities[name].whole for name in ("acceleration", "force")}

    suffix = "parameters" if varied else "derivatives"
    identifier = f"{c_identifier(mechanism.name)}_{suffix}"
    return checking_program("derivatives", mechanism, identifier, answer, words, batch=True)


def checking_program(
    kind: str,  # of the template
    mechanism: ResolvedMechanism,  # what was exported
    identifier: str,  # prefix of the exported files
    answer: Callable[[Trial], Answers | None],  # of the reference
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
        functions["followed"] = lambda state: sampled(mechanism.references.sample(state.t), m)
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
    used = (TEMPLATES / f"check_{kind}.c.in").read_text(encoding="utf-8")

    def needed(name: str) -> bool:
        return f"{name}[k]" in used or f", {name.removesuffix('_within')});" in used

    known = {
        "id": identifier,
        "ID": identifier.upper(),
        "name": c_comment(mechanism.name),
        "string": c_string(mechanism.name),
        "header": f"{identifier}_batch" if batch else identifier,
        "sources": " ".join([f"{identifier}.c", *([f"{identifier}_batch.c"] if batch else [])]),
        "states": str(len(rows["t"])),
        "follows": str(int(mechanism.follows_references)),
        "data": "\n".join(_table(name, x) for name, x in rows.items() if needed(name)),
        **(words or {}),
    }
    known["calls"] = filled(TEMPLATES / f"check_{kind}.c.in", known)
    return {f"{identifier}_check.c": filled(TEMPLATES / "check.c.in", known)}


def _table(name: str, rows: Sequence[Array], count: int | str = "STATES") -> str:
    """An array of C with an entry, or a row, for each state."""
    if not rows[0].ndim:
        return f"static const double {name}[{count}] = {{{numbers(map(float, rows))}}};"
    text = ",\n    ".join(f"{{{numbers(row.ravel())}}}" for row in rows)
    return f"static const double {name}[{count}][{rows[0].size}] = {{\n    {text}}};"


def acting_words(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Words for rows that act: those of contacts do not by themselves."""
    if not mechanism.one_sided:
        return {"acts": "", "act": "1.0"}
    acts = numbers(mechanism.hierarchy.acting().astype(float))
    return {"acts": f"  const double acts[] = {{{acts}}};\n", "act": "acts[i]"}


def sampled(sample: ReferenceSample | None, rows: int) -> Array:
    """Values, rates and accelerations that rows follow, one after the other; at least three."""
    return np.zeros(3 * max(rows, 1)) if sample is None else np.concatenate(sample)


def numbers(values: Iterable[float]) -> str:
    """Elements of an array of C."""
    return ", ".join(repr(float(x)) for x in values)
