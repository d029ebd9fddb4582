# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a view shows moves as the simulation does, or as it was recorded."""

from __future__ import annotations

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.playback import Playback

FOUR_BAR = ukd.Mechanism.from_file("four_bar")
START = FOUR_BAR.start()


def _falling(**options):
    return LiveSimulation(FOUR_BAR, START, motors="off", **options)


def _until(source, t):
    for _ in range(10_000):
        snapshot = source.frame(0.01)
        if snapshot.state.t >= t - 1e-9:
            return snapshot
    raise AssertionError("it does not get on")


def test_it_moves_as_simulate_says():
    source = _falling()
    assert source.frame(0.1).state.t == 0.0  # not before play
    source.control("play")
    state = _until(source, 0.4).state
    expected = ukd.simulate(FOUR_BAR, START, state.t, method="rk4", step=0.002)
    # the same integrator with the same step
    assert abs(state.q - expected.q[-1]).max() < 1e-12


def test_pause_step_and_reset():
    source = _falling(playing=True)
    moved = _until(source, 0.1).state
    source.control("pause")
    assert source.frame(1.0).state.t == moved.t
    source.control("step")
    assert abs(source.frame(1.0).state.t - moved.t - 0.002) < 1e-12
    source.control("reset")
    assert np.array_equal(source.frame(0.0).state.q, START.q)


def test_a_motion_that_starts_on_its_tasks_is_not_at_rest():
    mechanism = ukd.Mechanism.from_file("five_bar")
    reference = "{type: sinusoid, offset: 0.9, amplitude: 0.3, frequency: 0.5}"
    text = f"schema: 1\ntasks: {{swing: {{type: joint, joint: crank, reference: {reference}}}}}"
    tasks = ukd.Tasks(TasksSpec.from_text(text), mechanism)
    source = LiveSimulation(
        mechanism,
        mechanism.start(tasks=tasks),
        tasks=tasks,
    )
    assert source.frame(0.0).mode == "about to move"
    assert _falling().frame(0.0).mode == "motors off: it falls when played"
    source.control("play")
    state = _until(source, 0.2).state
    crank = mechanism.joint_names.index("crank")
    # efforts held for 2 ms against a swing that reaches its edge after 0.5 s
    assert abs(state.q[crank] - 0.9 - 0.3 * np.sin(np.pi * state.t)) < 1e-4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--start-on-tasks"], "--start-on-tasks needs --tasks"),
        (
            ["--recording", "run.npz", "--start-on-tasks", "--tasks", "five_bar_sweep"],
            "omit --control, --set and --start-on-tasks",
        ),
    ],
)
def test_the_command_says_when_there_is_nothing_to_start_on(words, problem, capsys):
    pytest.importorskip("viser")
    assert main(["view", "five_bar", *words]) == 2
    assert problem in capsys.readouterr().err


def test_posing_pauses_and_the_motion_starts_from_the_pose():
    source = _falling(playing=True)
    _until(source, 0.1)
    source.lead_joint("crank", 1.5)
    snapshot = source.frame(1.0)
    assert abs(snapshot.state.q[FOUR_BAR.model.position_index("crank")] - 1.5) < 1e-9
    assert not snapshot.state.v.any()
    assert snapshot.state.t == 0.0
    source.control("play")
    assert _until(source, 0.05).state.v.any()


def test_under_servo_control_it_moves_as_simulate_says():
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)

    def controller():
        return ukd.ServoController(mechanism, tasks, control_period=0.002)

    start = mechanism.start()
    source = LiveSimulation(mechanism, start, tasks=tasks, playing=True)
    snapshot = _until(source, 0.3)
    expected = ukd.simulate(
        mechanism,
        start,
        snapshot.state.t,
        controller=controller(),
        control_period=0.002,
        step=0.002,
    )
    assert abs(snapshot.state.q - expected.q[-1]).max() < 1e-12  # the same steps
    assert snapshot.efforts.any()


def test_a_recording_plays_in_a_loop_and_can_be_searched():
    recording = ukd.simulate(FOUR_BAR, START, 1.0)
    source = Playback(FOUR_BAR, recording)
    state = source.frame(0.5).state
    assert np.array_equal(state.q, recording.q[50])
    source.seek(0.25)
    assert np.array_equal(source.frame(0.3).state.q, recording.q[25])  # paused
    source.control("step")
    assert np.array_equal(source.frame(0.3).state.q, recording.q[26])
    source.control("play")
    assert source.frame(0.9).state.t == 0.0  # behind the end it starts again


def test_a_recording_of_another_mechanism_is_refused():
    recording = ukd.simulate(FOUR_BAR, START, 0.02)
    with pytest.raises(InputError, match="four_bar"):
        Playback(ukd.Mechanism.from_file("five_bar"), recording)
