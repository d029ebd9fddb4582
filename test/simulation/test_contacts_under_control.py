# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Control and steps over contacts in C, many periods in a call, beside Python."""

import numpy as np
import pytest
from support.repository import ROOT

import uk_dynamics as ukd
from uk_dynamics.control.servo import servo_controller
from uk_dynamics.mechanism.contact import ContactStepping

FOLDER = ROOT / "examples" / "plantigrade"
PERIOD = 1e-3


@pytest.fixture(scope="module")
def machine() -> ukd.Mechanism:
    """The walking machine: one motor, redundant loops, feet that land and lift off."""
    return ukd.Mechanism.from_file(FOLDER / "plantigrade.yaml")


def controller(machine: ukd.Mechanism, backend: str = "compiled") -> ukd.ServoController:
    tasks = ukd.Tasks.from_file(FOLDER / "walk.yaml", machine)
    return ukd.ServoController(machine, tasks, control_period=PERIOD, backend=backend)


def walk(
    machine: ukd.Mechanism, start: ukd.State, duration: float, law: ukd.ServoController
) -> ukd.Trajectory:
    return ukd.simulate(
        machine,
        start,
        duration,
        controller=law,
        control_period=PERIOD,
        method="moreau",
        backend="compiled",
        sample_period=5e-3,
    )


@pytest.mark.slow
def test_a_walk_is_in_c_but_where_feet_slide(
    machine: ukd.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python is asked at the start and where a foot slides for a step, not in each period."""
    law = controller(machine)  # whose library is tried in Python, as is that of the steps
    machine.dynamics("compiled").motion()
    asked: list[float] = []
    stepped: list[float] = []
    command, step = servo_controller.ServoController._decide, ContactStepping.step

    def decide(self, state, *given):
        asked.append(state.t)
        return command(self, state, *given)

    def one_step(self, state, *given):
        stepped.append(state.t)
        return step(self, state, *given)

    monkeypatch.setattr(servo_controller.ServoController, "_decide", decide)
    monkeypatch.setattr(ContactStepping, "step", one_step)
    walked = walk(machine, machine.start(), 0.7, law)
    assert len(asked) < 10
    assert len(stepped) < 10
    landed = [one.t for one in walked.switchings if one.changes.get("foot_right.rear")]
    assert len(landed) == 1
    # the right feet land when their crank has turned by half a turn, from rest within 0.25 s
    assert 0.6 < landed[0] < 0.7
    assert np.abs(walked.residual[:, :15]).max() < 1e-12  # of 0.1 m
    # what is closed is recorded as it was at each sample
    rear = walked.contact("foot_right.rear")
    assert not rear.closed[walked.t < landed[0] - PERIOD].any()
    assert rear.closed[walked.t > landed[0] + 5 * PERIOD].all()


@pytest.mark.slow
def test_the_law_in_python_walks_alike(machine: ukd.Mechanism) -> None:
    """From just before the other feet land: events are the same, states to rounding."""
    before = walk(machine, machine.start(), 0.61, controller(machine))
    start = ukd.State(before.t[-1], before.q[-1], before.v[-1])
    found = walk(machine, start, 0.04, controller(machine))
    expected = walk(machine, start, 0.04, controller(machine, "interpreted"))
    changes = [(one.t, one.changes) for one in expected.switchings]
    assert [(one.t, one.changes) for one in found.switchings] == changes
    assert len(changes) > 2
    # rounding of 40 steps, multiplied by impacts
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.efforts, expected.efforts, rtol=0, atol=1e-6)  # of 20 N m


@pytest.mark.slow
def test_many_walks_are_those_one_at_a_time(machine: ukd.Mechanism) -> None:
    """Each motion has a thread, and the bits of the same motion alone."""
    machines = [
        machine.with_parameters({"contacts.foot_left.friction": friction})
        for friction in (0.4, 0.6, 0.8)
    ]
    starts = [one.start() for one in machines]
    found = ukd.simulate_many(
        machines,
        starts,
        0.1,
        controllers=[controller(one) for one in machines],
        control_period=PERIOD,
        method="moreau",
        backend="compiled",
        sample_period=5e-3,
        threads=2,
    )
    for one, start, many in zip(machines, starts, found, strict=True):
        alone = walk(one, start, 0.1, controller(one))
        np.testing.assert_allclose(many.q, alone.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(many.efforts, alone.efforts, rtol=0, atol=1e-12)
