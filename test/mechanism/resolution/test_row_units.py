# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What people read of rows is in m, rad, N and N·m, whatever length the file declares."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.estimation.loop_continuation import LoopRows
from uk_dynamics.control.inverse_dynamics import inverse_dynamics
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import AssemblyError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

LENGTHS = pytest.mark.parametrize("length", [1.0, 0.2, 5.0])
OFF = 0.03  # rad
WELDED = "constraints:\n  seat: {type: weld, parent: {link: base}, child: {link: l1}}\n"
HINGED = "constraints:\n  seat: {type: hinge, axis: [1, 0, 0], parent: {link: base},"
HINGED += " child: {link: l1}}\n"
BENT = "constraints:\n  seat: {type: frame, axes: [rx, ry, rz], parent: {link: base},"
BENT += " child: {link: l1}}\n"
MOTOR = "actuators: {motor: {joint: j1}}\n"


def machine(length, text):
    """An arm of 1 m and 1 kg, horizontal; its mass is in the middle."""
    return mechanism(arm([1.0]), f"model: {{length: {length}}}\n{MOTOR}{text}")


def tasks_of(built, angle):
    text = "schema: 1\ntasks:\n  turn: {type: frame, axes: [ry], parent: {link: base},"
    text += f" child: {{link: l1}}, reference: {{type: constant, value: {angle}}}}}\n"
    return Tasks(TasksSpec.from_text(text), built)


@LENGTHS
def test_the_torque_in_a_weld_is_the_weight_times_its_arm(length):
    built = machine(length, WELDED)
    state = built.start()
    about_y = built.terms(state).F[0]  # of the weight, since the arm's axis is y
    assert abs(about_y) > 1.0
    rows = inverse_dynamics(built, state, {}).by_row()
    assert rows["seat.ry"] == pytest.approx(-about_y, abs=1e-9)
    run = simulate(built, state, 0.01)
    place = run.names.constraint_rows.index("seat.ry")
    # arithmetic of one small system
    assert np.abs(run.multipliers[:, place] + about_y).max() < 1e-9


@LENGTHS
@pytest.mark.parametrize(("text", "angle"), [(WELDED, OFF), (BENT, OFF), (HINGED, np.sin(OFF))])
def test_a_loop_that_is_open_by_an_angle_says_so_in_radians(length, text, angle):
    built = machine(length, text)
    state = built.state({"j1": OFF}, {"j1": 2.0})
    residual = built.dynamics().residual(state)
    assert np.abs(residual.position).max() == pytest.approx(angle, abs=1e-12)
    assert np.abs(residual.velocity).max() == pytest.approx(
        2.0 * (1.0 if text != HINGED else np.cos(OFF)), abs=1e-9
    )
    assert built.report({"j1": OFF}).largest_residual == pytest.approx(angle, abs=1e-12)
    with pytest.raises(AssemblyError) as raised:
        built.assemble(j1=OFF)
    assert raised.value.violations["seat"] == pytest.approx(angle, abs=1e-9)
    rows = LoopRows(built, None)
    assert np.abs(rows.linearize(state.q, 0.0)[1] / rows.scale).max() == pytest.approx(angle)


@LENGTHS
def test_the_error_of_a_task_is_in_radians(length):
    built = machine(length, "")
    tasks = tasks_of(built, 0.1)
    controller = ServoController(built, tasks)
    state = built.state({"j1": 0.1 + OFF}, {"j1": 0.5})
    assert controller.tracking_error(state) == pytest.approx([OFF], abs=1e-12)
    command = controller.command(state)
    assert command.tracking_error == pytest.approx([OFF], abs=1e-12)
    assert command.tracking_rate == pytest.approx([0.5], abs=1e-12)
    errors = controller.errors(state, {"turn": ReferenceSample(*np.array([[0.0], [0.2], [0.0]]))})
    assert errors.residual == pytest.approx([0.1 + OFF], abs=1e-12)
    assert errors.rate == pytest.approx([0.3], abs=1e-12)
    errors = built.report({"j1": 0.1 + OFF}, tasks).tasks.errors
    assert errors == {"turn.ry": pytest.approx(OFF, abs=1e-12)}
    run = simulate(built, built.state({"j1": 0.1 + OFF}), 0.001, controller=controller)
    assert run.tracking_error[0] == pytest.approx([OFF], abs=1e-12)
