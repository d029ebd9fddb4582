# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What generated packages share: templates, names, numbers, tables of loops, answers of the law."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import scipy.linalg

from uk_dynamics.compilation.build import LoopTables
from uk_dynamics.control.estimation import (
    JUMP,
    LARGEST_MISFIT,
    SINGULAR_TOLERANCE,
    StateCompletion,
    allowed_motions,
)
from uk_dynamics.control.servo import ServoController, promise
from uk_dynamics.conversion import output_files
from uk_dynamics.core.servo import COMMANDS_UNDER_WAY, NEGLIGIBLE_DELAY, continuation_rule
from uk_dynamics.escaping import c_string
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import from_quaternion
from uk_dynamics.simulation import simulate


def identifier(name: str) -> str:
    """A name as ROS packages, C and CMake have them: lower case, single underscores."""
    text = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return text if text[:1].isalpha() else f"mechanism_{text}".strip("_")


def c_number(value: float) -> str:
    """A double of C++."""
    value = float(value)
    if abs(value) == float("inf"):
        return f"{'-' if value < 0.0 else ''}std::numeric_limits<double>::infinity()"
    return repr(value)


def listed(values: Iterable[object]) -> str:
    """Elements of an array of C++."""
    return ", ".join(map(str, values))


BLEND_TIME = 0.5  # s
# Defaults of the packages, and numbers that their C++ shares with Python.
_NUMBERS = {
    "blend_time": BLEND_TIME,
    "ramp_time": 0.06,  # s
    "transfer_time": 0.2,  # s, as servo_controller has it
    "state_timeout": 0.01,  # s
    "speed_factor": 1.5,
    "frozen_motion": 2e-4,  # m or rad: more than encoders resolve
    "jump": JUMP,
    "position_jump": 0.1,  # m or rad beyond what velocities explain, as servo_controller has it
    "misfit": LARGEST_MISFIT,
    "singular_tolerance": SINGULAR_TOLERANCE,
    "most_sent": COMMANDS_UNDER_WAY,
    "negligible": NEGLIGIBLE_DELAY,
    "most_steps": continuation_rule.MOST_STEPS,
}

# What settings may be, by name: least, largest.
_RANGES = {
    "period": (1e-6, 1.0),  # s
    "delay": (0.0, 0.1),  # s
    "blend_time": (0.0, 60.0),  # s
    "ramp_time": (0.0, 10.0),  # s
    "transfer_time": (0.0, 60.0),  # s
    "state_timeout": (0.0, 1.0),  # s
    "singular_tolerance": (1e-12, 1.0),
    "frequency": (0.0, 1000.0),  # Hz
    "damping_ratio": (0.0, 100.0),
}

SWITCHES = {  # of a law while it works: the field of its memory, and what it does
    "robust": ("robust", "the robust term acts, which keeps errors within the promised bounds"),
    "adaptive": ("adapts", "estimates of parameters are used; they go on all the same"),
    "observer": ("observes", "what acts besides the model, as observed, is compensated"),
}


def switch_words(tasks: Tasks, period: float) -> dict[str, str]:
    """Words of what is switched while the law works, promised and estimated."""
    uncertainty, rows = tasks.uncertainty, len(tasks.constraints)
    has = uncertainty is not None, tasks.adaptive > 0, bool(tasks.observed.any())
    declared = dict(zip(SWITCHES, has, strict=True))
    bounds = [np.full(rows, np.inf)] * 2
    if uncertainty is not None:
        found = promise(tasks, period)
        bounds = [found.error, found.adapting]
    values, units = np.zeros(0), np.zeros(0)
    if uncertainty is not None and tasks.adaptive:
        units = uncertainty.units()
        values = np.array(list(uncertainty.estimated(np.zeros(tasks.adaptive)).values()))
    parameters = [
        f"  {name}:\n    type: bool\n    default_value: true\n"
        f'    description: "Whether {meaning}; acts at once"\n'
        for name, (_, meaning) in SWITCHES.items()
        if declared[name]
    ]
    fields = [f"&Memory::{SWITCHES[x][0]}" if own else "nullptr" for x, own in declared.items()]
    names = [f"estimate.{name}" for name in tasks.spec.adaptive]
    return {
        "switch_names": listed(map(c_string, SWITCHES)),
        "switch_fields": listed(fields),
        "switches": "".join([*parameters, filled("transfer_time.yaml", {}) if parameters else ""]),
        "live": " Those that act at once are not." if parameters else "",
        "bound": listed(map(c_number, bounds[0])),
        "adapting_bound": listed(map(c_number, bounds[1])),
        "bound_period": c_number(period),
        "estimated": str(len(units)),
        "estimated_names": listed(map(c_string, names)),
        "model_values": listed(map(c_number, values)),
        "estimated_units": listed(map(c_number, units)),
        "estimate_field": "memory.estimate" if len(units) else "nullptr",
    }


_HOMES, _MOST_INDEPENDENT = 32, 2
_TEMPLATES = Path(__file__).resolve().parent / "templates"


def loop_tables(completion: StateCompletion) -> LoopTables:
    """The tables of an estimation."""
    return completion.tables(_homes(completion))


def _homes(completion: StateCompletion) -> Array:
    """Closed configurations all over the workspace, where a machine may have come to rest.

    Beyond two independent joints there are too many; the initial one alone is known then.
    """
    from scipy.stats.qmc import Halton  # takes long to import

    mechanism, model, found = completion.mechanism, completion.mechanism.model, [completion.home]
    basis = allowed_motions(completion.rows.linearize(completion.home, 0.0)[0], mechanism)
    measured = completion.split.measured
    if basis.shape[1] > _MOST_INDEPENDENT:
        return np.array(found)
    chosen = measured[scipy.linalg.qr(basis[measured].T, pivoting=True)[2][: basis.shape[1]]]
    independent = StateCompletion(mechanism, [model.velocity_names[i] for i in chosen])
    home = completion.home[independent.encoders.places]
    lowest, highest = (x[independent.encoders.places] for x in (model.lower, model.upper))
    lowest = np.where(np.isfinite(lowest), lowest, home - np.pi)
    highest = np.where(np.isfinite(highest), highest, home + np.pi)
    for part in Halton(len(chosen), scramble=False).random(_HOMES):
        independent.reset()
        estimate = independent.complete(lowest + part * (highest - lowest))
        if estimate.usable:
            found.append(estimate.q)
    return np.array(found)


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with ``@word@`` replaced; numbers that all packages share are known."""
    known = {key: repr(value) for key, value in _NUMBERS.items()}
    for name, (least, largest) in _RANGES.items():
        known |= {f"{name}_least": _decimal(least), f"{name}_most": _decimal(largest)}
    known |= words
    return output_files.filled(_TEMPLATES / f"{template}.in", known)


def _decimal(x: float) -> str:
    """A number that is a float in C++ and in YAML 1.1, where a mantissa has a point."""
    return re.sub(r"^(\d+)e", r"\1.0e", repr(x))


_PERIODS = 20
_WITHIN = 1e-9  # relative: rounding times feedback of some 1e4 per s², and conditions of up to 1e3


def law_answers(
    tasks: Tasks,  # what the motors enforce
    mechanism: Mechanism,  # moves under the law from its start
    completion: StateCompletion,  # the estimation of its joints, on a fixed base
    blend_time: float,  # of the first errors, in s
    period: float,  # of control, in s
) -> dict[str, str]:
    """Words of a test: measurements of some periods along the references, and efforts for them."""
    moves, law = (  # a law that has learned nothing yet answers
        ServoController(
            mechanism, tasks, control_period=period, blend_time=blend_time, backend="interpreted"
        )
        for _ in range(2)
    )
    motion = simulate(
        mechanism,
        mechanism.start(tasks=tasks),
        _PERIODS * period,
        controller=moves,
        control_period=period,
        sample_period=period,
        backend="interpreted",
    )
    completion.reset()
    encoders = completion.encoders
    rows: list[Array] = []
    floats = bool(mechanism.model.bases)
    places, columns = (7, 6) if floats else (0, 0)  # of the base, in front of the joints
    for t, q, v in zip(motion.t[:_PERIODS], motion.q, motion.v, strict=False):
        measured = q[places:][encoders.places], v[columns:][encoders.columns]
        state = completion.complete(*measured, t)
        joined = np.append(q[:places], state.q), np.append(v[:columns], state.v)
        efforts = law.command(State(t, *joined)).efforts
        base = sensed(q, v) if floats else np.zeros(0)
        rows.append(np.concatenate([[t], *measured, base, efforts]))
    completion.reset()
    largest = float(np.abs([row[-len(mechanism.actuators) :] for row in rows]).max(initial=0.0))
    return {
        "periods": str(len(rows)),
        "answers": ",\n  ".join(f"{{{{{listed(map(c_number, row))}}}}}" for row in rows),
        "within": repr(_WITHIN * (1.0 + largest)),
        "period": repr(period),
    }


def sensed(q: Array, v: Array) -> Array:
    """What sensors say of the base at the front of q and v: pose, velocity in the world, turn."""
    turned = from_quaternion(q[3:7].tolist())
    return np.concatenate([q[:7], turned @ v[:3], v[3:6]])
