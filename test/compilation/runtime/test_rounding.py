# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Near a rank change efforts are as right as positions in doubles let them be, in C and NumPy."""

import numpy as np
import pytest
from support.exact_terms import ExactServo
from support.mechanism_builder import shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.mechanism.dynamics.servo_evaluation import Demand
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks

REACH = 2.0  # m, from the first pin of the five-bar to the last
ALONG = np.array([1.0, -1.0, 1.0, 1.0])  # how its joints move with the crank
# A position is the sum of two legs, rounded once or twice on the way to a residual.
ROUNDINGS = 4.0

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def rounding_of_effort(mechanism, outcome, speed):
    """What the effort changes by when the positions that b is made from are rounded.

    Stabilisation multiplies residuals with ω² and their rates with 2ζω; b = −(ψ̈ + 2ζω ψ̇ + ω² ψ)
    is known to so much of the reach, and rows that nearly depend on others divide by what is left
    of them.
    """
    constraints, reactions = mechanism.constraints, outcome.free.reactions
    corrections = np.array([reactions.correction(row) for row in np.eye(len(constraints))])
    crank = mechanism.model.joint_names.index("crank")
    known = np.finfo(float).eps * REACH
    b = known * (constraints.stiffness + constraints.damping * speed + 2.0 * speed**2)
    return float(np.abs(corrections[:, crank]) @ b / abs(outcome.servo.map[0, 0]))


@pytest.mark.slow
def test_near_the_flat_configuration_both_are_off_by_the_rounding_of_positions():
    mechanism = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", mechanism)
    interpreted = InterpretedServo(tasks)
    compiled, exact = CompiledServo(tasks, interpreted), ExactServo(tasks)
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(1)
    parts = []
    for number in range(150):
        angle, speed = rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-4.5, -0.3), rng.normal(0, 2)
        state = State(0.0, angle * ALONG, speed * ALONG)
        if number % 2:
            state = dynamics.project(state)
        pull = rng.normal(0.0, 10.0, 1)
        asked = Demand(pull, None, np.ones(1), None, Inputs())
        outcome = interpreted.evaluate(state, asked)
        expected = exact.effort(state, float(pull[0]), outcome.free.reactions.basis.independent)
        (found,) = compiled.evaluate(state, asked).servo.efforts
        known = rounding_of_effort(mechanism, outcome, abs(speed))
        errors = np.abs([found - expected, outcome.servo.efforts[0] - expected])
        assert (errors <= ROUNDINGS * known).all(), (angle, speed)
        parts.append(errors / known)
    # Neither is the better one, and neither could promise less.
    assert (np.max(parts, axis=0) > 0.1).all()
