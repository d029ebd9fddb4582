# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is exported as C, by name of the file: sources, examples, and what verifies them."""

from collections.abc import Mapping, Sequence

import numpy as np

from uk_dynamics.compilation import rolls
from uk_dynamics.compilation.build import (
    counted,
    derivative_export,
    effort_export,
    servo_export,
    state_export,
)
from uk_dynamics.compilation.runtime import ForeignReferenceError, reference_table
from uk_dynamics.compilation.verification import Trial
from uk_dynamics.control.servo import ServoController, known_of
from uk_dynamics.conversion.c_checks import (
    PERIOD,
    TEMPLATES,
    Answers,
    acting_words,
    checking_program,
    derivative_check,
    numbers,
    sampled,
    state_check,
)
from uk_dynamics.conversion.output_files import filled
from uk_dynamics.derivatives import (
    ServoDerivatives,
    by_parameters,
    differentiable,
    has_effort_derivatives,
)
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State
from uk_dynamics.mechanism_class import Mechanism


def c_programs(
    mechanism: Mechanism,
    tasks: Tasks | None = None,  # made for this mechanism; None: without a servo law
    *,
    derivatives: bool = False,  # whether by state, time and efforts; with tasks, of their efforts
    parameters: Sequence[str] = (),  # of the mechanism, by which to differentiate as well
) -> dict[str, str]:
    """Texts by name of all that is exported: motion, law, derivatives, examples, checks.

    Raises:
        CompilationError: Some part of the mechanism cannot be compiled.
        InputError: Some part of the law cannot be written as C.
    """
    texts: dict[str, str] = {}
    if tasks is not None:
        texts |= _servo(mechanism, tasks)
        if derivatives and has_effort_derivatives(tasks):
            texts |= _effort_derivatives(mechanism, tasks)
    if derivatives:
        texts |= _derivatives(differentiable(mechanism)) | derivative_check(mechanism)
    if parameters:
        texts |= _derivatives(by_parameters(mechanism, parameters))
        texts |= derivative_check(mechanism, parameters)
    return _state(mechanism) | texts


def _state(mechanism: Mechanism) -> dict[str, str]:
    """The motion of one state and of many, with an example of each, and what verifies both."""
    identifier, moves = c_identifier(mechanism.name), rolls(mechanism)
    texts, acting = state_export(mechanism), acting_words(mechanism)
    of_batches = acting | {"states": "10", "title": ", and where they move" * moves}
    return {
        **texts,
        **_example("state", identifier, mechanism, acting, contacts=bool(mechanism.one_sided)),
        **_example("batch", identifier, mechanism, of_batches, "_batch", rollout=moves),
        **state_check(mechanism),
    }


def _derivatives(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Derivatives of the motion by the state, or by the parameters that vary, with an example."""
    values = () if mechanism.varied is None else mechanism.varied.values.tolist()
    words = {"by": "parameters" if values else "state, time and forces"}
    words["set"] = "".join(f"  memory.p[{k}] = {x!r};\n" for k, x in enumerate(values))
    name = f"{c_identifier(mechanism.name)}_{'parameters' if values else 'derivatives'}"
    return derivative_export(mechanism) | _example("derivatives", name, mechanism, words)


def _servo(mechanism: Mechanism, tasks: Tasks) -> dict[str, str]:
    """The law with an example, and a program that verifies two control periods of it."""
    if tasks.allocation.internal_forces:
        raise InputError(
            "internal forces cannot be written as C; use allocation.preload",
            file=tasks.spec.file,
            place="allocation.internal_forces",
        )

    def answer(trial: Trial) -> Answers:
        law = ServoController(mechanism, tasks, control_period=PERIOD, backend="interpreted")
        t, q, v = trial.state.t, trial.state.q, trial.state.v
        first, second = (law.command(State(when, q, v)) for when in (t, t + PERIOD))
        found = {"efforts": first.efforts, "next": second.efforts}
        if contacts:
            pressed = [first.contact_forces.get(name, np.zeros(3)) for name in contacts]
            found["forces"] = np.array(pressed)
        return found

    contacts = () if tasks.standing is None else tasks.standing.names
    name, words = f"{c_identifier(mechanism.name)}_servo", _tables(tasks)
    words["contacts"] = ", ".join(map(c_string, (*contacts, "")))  # C knows no empty arrays
    files = servo_export(tasks, name, known=known_of(tasks))
    texts = dict(zip((f"{name}.h", f"{name}.c"), files, strict=True))
    texts |= _example("servo", name, mechanism, words)
    words = {"period": repr(PERIOD), **words}
    return texts | checking_program("servo", mechanism, name, answer, words)


def _effort_derivatives(mechanism: Mechanism, tasks: Tasks) -> dict[str, str]:
    """The derivatives of efforts with an example, and a program that verifies them."""
    derivatives, rows = ServoDerivatives(tasks, "interpreted"), len(tasks.constraints)

    def answer(trial: Trial) -> Answers | None:
        found = derivatives.at(trial.state)
        if not found.exist:
            return None
        efforts = found.quantities["efforts"]
        return {"efforts": efforts.value, "derivatives": efforts.whole}

    def followed(state: State) -> Array:
        return sampled(tasks.sample(state.t), rows)

    kind, fixed = "servo_derivatives", Tasks(tasks.spec, differentiable(mechanism))
    name = f"{c_identifier(mechanism.name)}_{kind}"
    words = {"followed": numbers(sampled(fixed.sample(0.0), rows))}
    texts = dict(zip((f"{name}.h", f"{name}.c"), effort_export(fixed, name), strict=True))
    texts |= _example(kind, name, fixed.mechanism, words)
    return texts | checking_program(
        kind, mechanism, name, answer, given={"task_followed": followed}
    )


def _tables(tasks: Tasks) -> dict[str, str]:
    """What tasks and structure follow over time, as numbers of C."""
    words = {}
    for name, of in (("tasks", counted(tasks)), ("structure", tasks.mechanism)):
        try:
            table = reference_table(of.references)
        except ForeignReferenceError as error:
            problem = f"{error}, which cannot be written as C"
            raise InputError(problem, file=tasks.spec.file) from None
        words[name] = numbers(np.zeros(1) if table is None else table)
    return words


def _example(
    template: str,
    name: str,
    mechanism: ResolvedMechanism,
    words: Mapping[str, str],
    suffix: str = "",
    **more: bool,
) -> dict[str, str]:
    """A program that calls exported functions at the start; more templates, and whether it does."""
    begin = start(mechanism)
    known = {
        "id": name,
        "ID": name.upper(),
        "name": c_comment(mechanism.name),
        "q": numbers(begin.q),
        "v": numbers(begin.v),
        "names": ", ".join(map(c_string, mechanism.model.velocity_names)),
        "motors": ", ".join(map(c_string, mechanism.actuators.names)),
        "steps": "100",
        **words,
    }
    for part, needed in more.items():
        known[part] = filled(TEMPLATES / f"{part}.c.in", known) if needed else ""
    return {f"{name}{suffix}_example.c": filled(TEMPLATES / f"{template}.c.in", known)}
