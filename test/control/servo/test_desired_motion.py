# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The desired motion: closed, on its references, some setpoints ahead of their time."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism, shipped
from support.peers.peer_trajectory import Trajectory

from uk_dynamics.control.hold_and_gravity_compensation import Hold
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.control.servo.setpoint_generator import SetpointGenerator
from uk_dynamics.core.integration import rk4_step
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks

STEP = 0.005


def test_it_stays_on_the_loops_and_follows_the_task_from_an_error_on() -> None:
    machine = shipped("five_bar")
    controller = ServoController(
        machine, Tasks.from_file("five_bar_sweep", machine), control_period=STEP
    )
    desired = SetpointGenerator(machine, STEP)
    measured = machine.start({"crank": 0.65})
    dynamics = machine.dynamics()
    said: dict[int, np.ndarray] = {}
    for k in range(400):
        # the machine stands still, its time goes on, not quite regularly
        now = (k + 0.1 * (k % 3)) * STEP
        setpoints = desired.setpoints(
            State(now, measured.q, measured.v), 3.0 * STEP, controller.command
        )
        assert setpoints[0].after <= 1e-9 < setpoints[1].after
        assert setpoints[-1].after >= 3.0 * STEP - 1e-9
        for setpoint in setpoints:
            place = round((now + setpoint.after) / STEP)
            assert np.array_equal(said.setdefault(place, setpoint.q), setpoint.q), "never changed"
    assert np.abs(said[0] - measured.q).max() < 1e-9
    last = State(now + setpoint.after, setpoint.q, setpoint.v)
    assert np.abs(dynamics.residual(last).position).max() < 1e-10
    # acceleration that changes by 1 rad/s² within 5 ms at feedback of 31 rad/s: some 1e-6 rad
    assert np.abs(controller.tracking_error(last)).max() < 1e-5


def test_a_step_is_a_parabola_of_the_commanded_acceleration() -> None:
    """Of a machine without loops, which no projection corrects."""
    machine = mechanism(arm([0.5, 0.5]), "actuators: {m1: {joint: j1}, m2: {joint: j2}}\n")
    hold = Hold(machine)
    hold.position = np.zeros(2)
    q, v, h = np.array([0.2, -0.1]), np.array([0.3, 0.4]), 0.05
    desired = SetpointGenerator(machine, h)
    start, end = desired.setpoints(State(1.0, q, v), h, hold.command)
    command = desired.command
    assert np.abs(command.qdd).min() > 1.0, "or there is nothing to see"
    assert (start.after, end.after) == (0.0, pytest.approx(h, abs=1e-12))
    np.testing.assert_array_equal(end.efforts, command.efforts)
    np.testing.assert_allclose(end.q, q + h * v + 0.5 * h * h * command.qdd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end.v, v + h * command.qdd, rtol=0, atol=1e-12)


class Drive:
    """A crank with drives that follow trajectories, their states and efforts a period late.

    Gains of 16 rad/s on the crank's inertia, which is 0.0125 kg m².
    """

    P, D = 3.2, 0.4

    def __init__(self, late: int) -> None:
        self.machine = shipped("slider_crank")
        tasks = Tasks.from_file("slider_crank_sweep", self.machine)
        self.law = ServoController(self.machine, tasks, control_period=STEP)
        self.desired = SetpointGenerator(self.machine, STEP)
        self.dynamics = self.machine.dynamics()
        self.crank = self.machine.joint_names.index("crank")
        self.states = [self.machine.start(tasks=tasks)] * (late + 1)
        self.efforts = [0.0] * (late + 1)
        self.late = late
        self.trajectory: Trajectory | None = None

    def period(self, now: float, lead: float) -> float:
        """One update at a time, in s; the error that is measured."""
        crank, old = self.crank, self.states[-1 - self.late]
        measured = State(now, old.q, old.v)
        if self.trajectory is not None:
            wanted, ahead = (self.trajectory.sample(100.0 + t) for t in (now, now + STEP))
            errors = wanted[0] - measured.q[crank], wanted[1] - measured.v[crank]
            self.efforts.append(float((ahead[3] + self.P * errors[0] + self.D * errors[1])[0]))
            self.move(self.efforts[-1 - self.late])
        # what is sent now has come by the next update
        setpoints = self.desired.setpoints(measured, 4.0 * STEP, self.law.command, lead=lead)
        first = setpoints[0].after
        points = [[[s.q[crank]], [s.v[crank]], [s.qdd[crank]], s.efforts] for s in setpoints]
        self.trajectory = Trajectory(
            100.0 + now + first, [s.after - first for s in setpoints], points
        )
        return float(self.law.tracking_error(measured)[0])

    def move(self, effort: float) -> None:
        tau = np.zeros(self.machine.model.nv)
        tau[self.crank] = effort
        inputs = Inputs(tau=tau, stabilize=False)

        def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return self.dynamics.evaluate(State(t, q, v), inputs).qdd

        t, q, v = self.states[-1].t, self.states[-1].q, self.states[-1].v
        q, v = rk4_step(self.dynamics.model, acceleration, t, q, v, STEP)
        self.states.append(self.dynamics.project(State(t + STEP, q, v)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("late", "lead", "largest"), [(0, 0.0, 2e-5), (1, 0.0, 2e-3), (1, 2.0 * STEP, 2e-5)]
)
def test_drives_that_follow_trajectories_follow_the_task(
    late: int, lead: float, largest: float
) -> None:
    drive = Drive(late)
    errors = [drive.period(k * STEP, lead) for k in range(500)]
    assert np.sqrt(np.mean(np.square(errors[200:]))) < largest
