# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the law answers along the tasks' references, for the tests of a generated package."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.control.servo import ServoController
from uk_dynamics.conversion.controller_package.parts import listed
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

_PERIODS = 20
_WITHIN = 1e-9  # relative: rounding times feedback of some 1e4 per s², and conditions of up to 1e3


def law_answers(
    tasks: Tasks,
    mechanism: Mechanism,
    completion: StateCompletion,
    blend_time: float,
    period: float,
) -> dict[str, str]:
    """Words of the template: measurements of some periods, and efforts for them.

    Args:
        tasks: What the motors enforce.
        mechanism: Moves under the law from its start.
        completion: The estimation of its states.
        blend_time: Of the first errors, in s.
        period: Of control, in s.
    """
    law = ServoController(
        mechanism, tasks, control_period=period, blend_time=blend_time, backend="interpreted"
    )
    motion = simulate(
        mechanism,
        mechanism.start(tasks=tasks),
        _PERIODS * period,
        controller=law,
        control_period=period,
        sample_period=period,
        backend="interpreted",
    )
    law.reset()
    completion.reset()
    encoders = completion.encoders
    rows: list[Array] = []
    for t, q, v in zip(motion.t[:_PERIODS], motion.q, motion.v, strict=False):
        positions, velocities = q[encoders.places], v[encoders.columns]
        state = completion.complete(positions, velocities, t)
        efforts = law.command(State(t, state.q, state.v)).efforts
        rows.append(np.concatenate([[t], positions, velocities, efforts]))
    completion.reset()
    largest = float(np.abs([row[-len(mechanism.actuators) :] for row in rows]).max(initial=0.0))
    return {
        "periods": str(len(rows)),
        "answers": ",\n  ".join(f"{{{{{_numbers(row)}}}}}" for row in rows),
        "within": repr(_WITHIN * (1.0 + largest)),
        "period": repr(period),
    }


def _numbers(values: Iterable[float]) -> str:
    return listed(repr(float(x)) for x in values)
