# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a simulation is asked for: defaults, and numbers that cannot be served."""

import os

import numpy as np

from uk_dynamics.core.integration import ADAPTIVE_METHODS, FIXED_METHODS, Tolerances
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.time_integration import METHODS

_STEP = 1e-3  # s, of the fixed-step methods
_BYTES_OF_NUMBER, _OTHER_COLUMNS = 32, 8  # of samples: measured, with copies; time, energies …
_BYTES_OF_INSTANT = 240  # measured
_MOST_STEPS = 1e11  # days to months in C
_COARSE = 1e3  # of a tolerance, in what positions resolve
_MANY_CONTACTS = 4  # with friction: events of more come too often to be located one by one
_LEAST_RTOL = 100.0 * float(np.finfo(float).eps)  # as SciPy has it


def checked(
    mechanism: Mechanism,
    state: State,
    duration: float,
    *,
    control_period: float | None,
    delay: float,
    method: str | None,
    step: float | None,
    rtol: float,
    atol: float | None,
    sample_period: float,
) -> tuple[str, float, Tolerances]:
    """Method, fixed step in s, and tolerances of a simulation; arguments as of ``simulate``."""
    check_delay(delay)
    if delay and control_period is None:
        raise InputError(
            "a delay needs a control period: continuous control has none", place="delay"
        )
    method = method or default_method(mechanism, held=control_period is not None)
    for_contacts = (*ADAPTIVE_METHODS, "moreau")
    if mechanism.one_sided and method not in for_contacts:
        raise InputError(
            f"with contacts, stops and ropes expected one of {', '.join(for_contacts)};"
            f' found "{method}"',
            place="method",
        )
    if not mechanism.one_sided and method == "moreau":
        raise InputError(
            f"moreau is for contacts, stops and ropes, which {mechanism.name} does not have; take"
            " rk4 for fixed steps",
            place="method",
        )
    _check(method, duration=duration, rtol=rtol, sample_period=sample_period)
    for name, value in (("atol", atol), ("control_period", control_period), ("step", step)):
        if value is not None:
            _check(method, **{name: value})
    step = fixed_step(step, control_period)
    if not duration + step > duration:
        raise InputError(f"{duration:g} s do not change by a step of {step:g} s", place="step")
    for name, period, size in (
        ("sample_period", sample_period, _bytes_of_sample(mechanism)),
        ("control_period", control_period, _BYTES_OF_INSTANT),
    ):
        if period is not None:
            _check_memory(name, duration, period, size)
    if method in FIXED_METHODS and not duration / step <= _MOST_STEPS:
        raise InputError(
            f"{duration:g} s in steps of {step:g} s are more than {_MOST_STEPS:.0e} steps, which"
            " take months; lengthen them or shorten the duration",
            place="step",
        )
    _check_tolerances(rtol, atol, mechanism.size)
    tolerances = Tolerances(rtol, 0.3 * rtol if atol is None else atol)
    if len(state.q) and method not in FIXED_METHODS:
        _check_positions(mechanism, state, tolerances.atol)
    return method, step, tolerances


def default_method(mechanism: Mechanism, *, held: bool) -> str:
    """What :func:`simulate` takes where no method is given; ``held``: with a control period."""
    many = sum(one.friction > 0.0 for one in mechanism.one_sided) > _MANY_CONTACTS
    if many or any(contact.hulls is not None for contact in mechanism.spec.contacts):
        return "moreau"
    return "rk4" if held and not mechanism.one_sided else "DOP853"


def check_delay(delay: float) -> None:
    """Refuse a delay that is negative or not finite, with an InputError."""
    if not (_is_finite(delay) and delay >= 0.0):
        raise InputError(f"expected a time in s, found {delay}", place="delay")


def fixed_step(step: float | None, control_period: float | None) -> float:
    """The fixed step, in s, where none may be given."""
    return step if step is not None else min(max(_STEP, control_period or _STEP), 2.0 * _STEP)


def _check(method: str, **numbers: float) -> None:
    expect_names("method", [method], METHODS, place="method")
    for name, value in numbers.items():
        if not (_is_finite(value) and value > 0.0):
            raise InputError(f"expected a positive number, found {value!r}", place=name)


def _bytes_of_sample(mechanism: Mechanism) -> int:
    """What a recorded state takes, with copies while arrays grow."""
    model, motors = mechanism.model, len(mechanism.actuators)
    columns = model.nq + 2 * model.nv + motors + 3 * len(mechanism.row_names) + _OTHER_COLUMNS
    return _BYTES_OF_NUMBER * columns


def _check_memory(name: str, duration: float, period: float, size: int) -> None:
    """Refuse what this computer's memory does not hold; each period, in s, leaves size bytes."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    needed = duration / period * size
    if not needed <= memory:
        raise InputError(
            f"{duration:g} s in parts of {period:g} s need {needed / 1e9:.3g} GB of memory, and"
            f" there are {memory / 1e9:.3g}; lengthen it or shorten the duration",
            place=name,
        )


def _check_positions(mechanism: Mechanism, state: State, atol: float) -> None:
    """Refuse positions so large that steps would shrink without end."""
    far = int(np.argmax(np.abs(state.q)))
    resolved = float(np.spacing(np.abs(state.q[far])))
    if resolved > _COARSE * atol:
        raise InputError(
            f"found {state.q[far]:g}, which numbers resolve to {resolved:.2g}: too coarse for the"
            f" tolerance of {atol:.2g}; begin nearer to zero, by whole turns",
            place=mechanism.model.position_names[far],
        )


def _check_tolerances(rtol: float, atol: float | None, size: float) -> None:
    """Refuse tolerances that rounding errors exceed: steps would shrink without end."""
    if not rtol >= _LEAST_RTOL:
        problem = f"expected at least {_LEAST_RTOL:.3g}, 100 times what numbers resolve"
        raise InputError(f"{problem}, found {rtol!r}", place="rtol")
    least = float(np.finfo(float).eps) * size
    if atol is not None and not atol >= least:
        problem = f"expected at least {least:.3g}, what positions of this machine resolve"
        raise InputError(f"{problem}, found {atol!r}", place="atol")


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))
