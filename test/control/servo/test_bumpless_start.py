# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless start: no step of efforts whatever the error, the path asked for, then tracking."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

BLEND = 0.5
ERROR = 0.05  # of the size of the motion


def servo(machine_name: str, tasks_name: str, **options) -> ServoController:
    machine = shipped(machine_name)
    return ServoController(machine, Tasks.from_file(tasks_name, machine), **options)


def off_track(controller: ServoController) -> State:
    """At rest and closed, about 5 % of a radian or metre from the initial guess."""
    machine = controller.mechanism
    q = machine.assemble()
    return machine.state(machine.assemble(q + ERROR * np.cos(2.0 * np.arange(len(q)))))


def asked_beside_the_reference(controller: ServoController, state: State) -> np.ndarray:
    """A q̈ + bias of the task rows under the efforts commanded: ψ̈, that of the error."""
    command = controller.command(state)
    workspace = controller.tasks.model.workspace()
    workspace.update(state.q, state.v)
    rows = controller.tasks.evaluate(workspace, state.q, state.v, state.t)
    return rows.A @ command.qdd + rows.bias


@pytest.mark.parametrize(
    ("machine", "tasks"),
    [
        ("five_bar", "five_bar_sweep"),
        ("rrr3", "rrr3_track"),
        ("parallel_2dof", "parallel_2dof_line"),
    ],
)
def test_the_first_efforts_do_not_depend_on_feedback(machine: str, tasks: str) -> None:
    smooth = servo(machine, tasks, blend_time=BLEND)
    state = off_track(smooth)
    assert np.abs(smooth.tracking_error(state)).max() > 0.005
    # rounding of accelerations of up to 1e3
    assert np.abs(asked_beside_the_reference(smooth, state)).max() < 1e-8
    stepping = servo(machine, tasks)
    assert np.abs(asked_beside_the_reference(stepping, state)).max() > 1.0


@pytest.mark.slow
def test_the_error_follows_the_quintic_and_tracking_goes_on() -> None:
    controller = servo("five_bar", "five_bar_sweep", blend_time=BLEND)
    state = off_track(controller)
    error, rate = controller.tracking_error(state), controller.command(state).tracking_rate
    controller.reset()
    motion = simulate(
        controller.mechanism, state, 1.0, controller=controller, sample_period=0.05, rtol=1e-10
    )
    for t, q, v in zip(motion.t, motion.q, motion.v, strict=True):
        s = min(t / BLEND, 1.0)
        expected = error * (1 - 10 * s**3 + 15 * s**4 - 6 * s**5)
        expected = expected + rate * BLEND * (s - 6 * s**3 + 8 * s**4 - 3 * s**5)
        # what the integrator leaves
        assert np.abs(controller.tracking_error(State(t, q, v)) - expected).max() < 1e-7


def test_rows_on_velocities_begin_without_a_step_too() -> None:
    machine = shipped("differential_drive")
    tasks = Tasks(
        TasksSpec.from_text(
            "schema: 1\ntasks:\n  roll:\n    type: expression\n"
            '    expression: "d(left_wheel) - 3"\n    order: velocity\n'
        ),
        machine,
    )
    controller = ServoController(machine, tasks, blend_time=BLEND)
    state = machine.start({})
    assert abs(asked_beside_the_reference(controller, state)[0]) < 1e-9
    halfway = State(0.5 * BLEND, state.q, state.v)
    # the cubic of the rate has come half the way from -3 to 0, as fast as 1.5 · 3/BLEND
    omega = controller.tasks.constraints.damping[0]
    expected = 1.5 * 3.0 / BLEND - omega * (-3.0 + 1.5)
    assert abs(asked_beside_the_reference(controller, halfway)[0] - expected) < 1e-8


def test_with_a_control_period_efforts_change_little_from_one_to_the_next() -> None:
    largest = {}
    for blend_time in (0.0, BLEND):
        controller = servo(
            "five_bar", "five_bar_sweep", blend_time=blend_time, control_period=0.002
        )
        state = off_track(controller)
        on_track = controller.mechanism.start({"crank": 0.6})
        calm = controller.command(on_track).efforts
        controller.reset()
        largest[blend_time] = np.abs(controller.command(state).efforts - calm).max()
    assert largest[BLEND] < 0.1 * largest[0.0]


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_blend_time_is_a_time(wrong: float) -> None:
    with pytest.raises(InputError, match="blend_time"):
        servo("five_bar", "five_bar_sweep", blend_time=wrong)
