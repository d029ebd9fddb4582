# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The excavator: forces of its cylinders by virtual work, a level cut within their limits."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.control.inverse_dynamics import inverse_dynamics
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

CYLINDERS = ("boom_cylinder", "stick_cylinder", "bucket_cylinder")
STEP = 1e-4  # m: of fourth-order differences, 1e-3 N of 1e5 N


def held(machine, lengths):
    """Positions of all joints where the house and the cylinders are as given."""
    q = machine.assemble(
        machine.model.positions_by_name(machine.assemble()) | {"swing": 0.4} | lengths,
        hold=("swing", *lengths),
    )
    return machine.model.positions_by_name(q)


def potential(machine, model, lengths):
    """Of the weights, by Pinocchio from the URDF, in J."""
    positions, q = held(machine, lengths), np.zeros(model.nq)
    for name, value in positions.items():
        joint = model.joints[model.getJointId(name)]
        turns = joint.nq == 2  # continuous: cosine and sine
        q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if turns else value
    return pin.computePotentialEnergy(model, model.createData(), q)


@pytest.mark.parametrize(
    "lengths", [(2.59, 3.1, 2.23), (2.9, 2.6, 1.8)], ids=["on the ground", "stretched out"]
)
def test_cylinders_carry_what_virtual_work_says(lengths):
    machine = shipped("excavator")
    model = pin.buildModelFromXML(machine.model.description.text)
    given = dict(zip(CYLINDERS, lengths, strict=True))
    state = machine.start({"swing": 0.4} | given)
    still = dict.fromkeys(("swing", *CYLINDERS), 0.0)
    forces = inverse_dynamics(machine, state, still).by_motor()
    for cylinder in CYLINDERS:
        slope = 0.0
        for steps, weight in ((1, 8.0), (2, -1.0)):
            for sign in (1.0, -1.0):
                moved = given | {cylinder: given[cylinder] + sign * steps * STEP}
                slope += sign * weight * potential(machine, model, moved) / (12.0 * STEP)
        valve = cylinder.replace("cylinder", "valve")
        # loops closed to 1e-10 m under 2e5 N over 1e-4 m: 0.2 N
        assert forces[valve] == pytest.approx(slope, abs=1.0)
    assert forces["swing_motor"] == pytest.approx(0.0, abs=1e-6)


def test_the_teeth_run_along_the_ground_within_the_limits_of_the_cylinders():
    machine = shipped("excavator")
    tasks = Tasks.from_file("excavator_grade", machine)
    controller = ServoController(machine, tasks, control_period=0.01)
    # from rest on the path, half a second into the cut
    run = simulate(
        machine, machine.start(tasks=tasks), 0.5, controller=controller, control_period=0.01
    )
    assert run.warnings == ()
    assert np.abs(run.tracking_error).max() < 1e-4  # efforts are held for 10 ms
    assert np.abs(run.residual).max() < 1e-9
    assert (np.abs(run.efforts) <= machine.actuators.effort_limits).all()


def test_strokes_and_heading_give_all_joints():
    machine = shipped("excavator")
    completion = StateCompletion(machine)
    assert set(completion.encoders.names) == {"swing", *CYLINDERS}
    everything = held(
        machine, {"boom_cylinder": 2.6, "stick_cylinder": 3.0, "bucket_cylinder": 2.2}
    )
    found = completion.complete({name: everything[name] for name in completion.encoders.names})
    names = machine.model.position_names
    # both close the loops to 1e-10 m, with levers of 0.3 m
    assert dict(zip(names, found.q, strict=True)) == pytest.approx(everything, abs=1e-8)
