# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Passive joints from measured ones: known poses, the branch, noise, singularities, mistakes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
import yaml
from support.mechanism_builder import arm, mechanism, shipped

from uk_dynamics.control.estimation.state_completion import EstimationStatus, StateCompletion
from uk_dynamics.exceptions import InputError, MechanismFileError, StateError, UnknownNameError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import share_directory

MOTIONS = 1000
EXACT = 1e-10  # rad or m, as promised
COMPLETE = EstimationStatus.COMPLETE

# Poses of a platform, in m and rad around the pose of the start.
WORKSPACES = {
    "stewart_platform": {
        "platform_x": 0.08,
        "platform_y": 0.08,
        "platform_z": 0.05,
        "platform_yaw": 0.15,
        "platform_pitch": 0.15,
        "platform_roll": 0.15,
    },
    "rrr3": {"platform_x": 0.4, "platform_z": 0.4, "platform_angle": 0.4},
}
ENCODERS = {
    "stewart_platform": tuple(f"leg_{i}_slide" for i in range(1, 7)),
    "rrr3": ("shoulder_a", "shoulder_b", "shoulder_c"),
}


def variant(name: str, more: str) -> Mechanism:
    """A shipped mechanism with further lines in its file."""
    file = share_directory() / "config" / f"{name}.yaml"
    spec = MechanismSpec.from_text(file.read_text() + more, file="variant.yaml")
    return Mechanism.from_spec(spec)


def follow(completion: StateCompletion, truth: Iterable[np.ndarray]) -> None:
    """Meet every configuration of a motion by its encoders alone."""
    completion.reset()
    for q in truth:
        found = completion.complete(measured(completion, q))
        assert found.status is COMPLETE
        assert not found.branch_doubtful
        np.testing.assert_allclose(found.q, q, atol=EXACT, rtol=0)


def measured(completion: StateCompletion, q: np.ndarray) -> np.ndarray:
    model = completion.mechanism.model
    return q[[model.position_index(name) for name in completion.encoders.names]]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKSPACES)
def test_pose_of_a_platform_from_the_encoders_of_its_motors(name: str) -> None:
    mechanism = shipped(name)
    completion = StateCompletion(mechanism)
    assert completion.encoders.names == ENCODERS[name]
    model, home = mechanism.model, mechanism.assemble()
    reach = WORKSPACES[name]
    center = {joint: home[model.position_index(joint)] for joint in reach}
    rng = np.random.default_rng(7)
    for _ in range(MOTIONS):
        way = {joint: r * rng.uniform(-1.0, 1.0) for joint, r in reach.items()}
        poses = [{j: center[j] + part * way[j] for j in reach} for part in (0.5, 1.0)]
        follow(completion, [home, *(mechanism.assemble(p, hold=tuple(p)) for p in poses)])


@pytest.mark.slow
def test_five_bar_from_the_encoder_of_its_crank() -> None:
    mechanism = shipped("five_bar")
    completion = StateCompletion(mechanism)
    assert completion.encoders.names == ("crank",)
    rng = np.random.default_rng(8)
    for _ in range(MOTIONS):
        angle = rng.uniform(0.3, 2.8)  # flat at 0 and π, where another branch begins
        # legs of a parallelogram are parallel, and its coupler stays level
        way = np.linspace(0.6, angle, 9)
        follow(completion, np.stack([way, -way, way, way], axis=1))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_a_crank_turns_around_and_its_encoder_may_count_within_one_turn(name: str) -> None:
    mechanism = shipped(name)
    completion = StateCompletion(mechanism)
    home = mechanism.assemble()
    for angle in np.linspace(home[0], home[0] + 4.0 * np.pi, 700):
        wrapped = (angle + np.pi) % (2.0 * np.pi) - np.pi
        found = completion.complete({"crank": wrapped})
        assert found.status is COMPLETE
        assert found.q[0] == pytest.approx(angle, abs=1e-12)
        assert found.residual < EXACT
    np.testing.assert_allclose(found.q[-1], home[-1], atol=EXACT, rtol=0)


@pytest.mark.parametrize("name", ["four_bar", "five_bar_maximal", "stewart_platform"])
def test_velocities_are_those_of_the_positions_and_keep_the_loops(name: str) -> None:
    mechanism = shipped(name)
    completion = StateCompletion(mechanism)
    encoders = measured(completion, mechanism.assemble())
    rates = np.random.default_rng(9).uniform(-1.0, 1.0, len(encoders))
    found = completion.complete(encoders, rates)
    h = 1e-5
    after = completion.complete(encoders + h * rates).q
    before = completion.complete(encoders - h * rates).q
    # the third derivative over 6, times h²
    np.testing.assert_allclose(found.v, (after - before) / (2.0 * h), atol=1e-8, rtol=0)
    residual = mechanism.dynamics().residual(mechanism.state(found.q, found.v))
    np.testing.assert_allclose(residual.velocity, 0.0, atol=1e-12, rtol=0)
    np.testing.assert_allclose(residual.position, 0.0, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", ["five_bar", *WORKSPACES])
def test_noise_of_encoders_propagates_as_the_jacobian_predicts(name: str) -> None:
    completion = StateCompletion(shipped(name))
    encoders = measured(completion, completion.mechanism.assemble())
    completion.complete(encoders)
    J = completion.sensitivity()
    d = len(encoders)
    h = 1e-5
    for column, direction in enumerate(np.eye(d)):
        after = completion.complete(encoders + h * direction).q
        before = completion.complete(encoders - h * direction).q
        np.testing.assert_allclose(J[:, column], (after - before) / (2 * h), atol=1e-7, rtol=0)

    rng = np.random.default_rng(10)
    factor = 1e-5 * (np.eye(d) + 0.3 * rng.standard_normal((d, d)))  # encoders that err together
    count = 1000
    errors = rng.standard_normal((count, d)) @ factor.T
    found = np.array([completion.complete(encoders + error).q for error in errors])
    predicted = J @ factor @ factor.T @ J.T
    spread = np.cov(found.T)
    # an estimate from n samples is off by about √(2/n) of itself: 4 % here
    assert np.linalg.norm(spread - predicted) < 0.2 * np.linalg.norm(predicted)


def test_more_encoders_than_freedoms_share_their_errors() -> None:
    mechanism = shipped("parallel_2dof")
    completion = StateCompletion(mechanism)
    assert completion.redundant == 1
    truth = mechanism.assemble()
    exact = measured(completion, truth)
    rng = np.random.default_rng(11)
    errors = 1e-3 * rng.standard_normal((50, 3))
    for error in errors:
        found = completion.complete(exact + error, error)
        assert found.status is COMPLETE
        state = mechanism.state(found.q, found.v)
        residual = mechanism.dynamics().residual(state)
        np.testing.assert_allclose(residual.position, 0.0, atol=1e-11, rtol=0)
        np.testing.assert_allclose(residual.velocity, 0.0, atol=1e-12, rtol=0)
        # nearest: what is left of the errors is orthogonal to every motion the loops admit,
        # up to the curvature of the loops over a millirad
        motions = measured(completion, completion.sensitivity())
        np.testing.assert_allclose(motions.T @ found.misfit, 0.0, atol=1e-9, rtol=0)
        assert np.linalg.norm(found.misfit) < np.linalg.norm(error)


def test_a_machine_without_loops_or_with_all_joints_measured() -> None:
    chain = mechanism(arm((1.0, 1.0)), "actuators: {a: {joint: j1}, b: {joint: j2}}")
    found = StateCompletion(chain).complete([0.1, 0.2], [1.0, 2.0])
    assert list(found.q) == [0.1, 0.2]
    assert list(found.v) == [1.0, 2.0]
    machine = shipped("four_bar")
    completion = StateCompletion(machine, machine.joint_names)
    assert completion.redundant == 2
    found = completion.complete(machine.assemble() + np.array([1e-3, 0.0, 0.0]))
    assert found.residual < EXACT
    # one freedom: what is measured is projected on one motion
    J = completion.sensitivity()
    np.testing.assert_allclose(J @ J, J, atol=1e-12, rtol=0)
    assert np.trace(J) == pytest.approx(1.0, abs=1e-12)


def test_redundant_encoders_see_through_a_singularity() -> None:
    machine = shipped("five_bar")
    completion = StateCompletion(machine, machine.joint_names)
    rng = np.random.default_rng(12)
    for angle in np.linspace(0.3, -0.3, 121):
        truth = np.array([angle, -angle, angle, angle])
        found = completion.complete(truth + 1e-5 * rng.standard_normal(4), [-1.0, 1.0, -1.0, -1.0])
        assert found.status is COMPLETE
        np.testing.assert_allclose(found.q, truth, atol=1e-4, rtol=0)
        np.testing.assert_allclose(found.v, [-1.0, 1.0, -1.0, -1.0], atol=1e-2, rtol=0)


def test_exact_encoders_count_more_than_coarse_ones() -> None:
    mechanism = variant("parallel_2dof", "measured: {a1: 1.0e-6, a2: 1.0e-6, a3: 1.0e-2}\n")
    completion = StateCompletion(mechanism)
    exact = measured(completion, mechanism.assemble())
    found = completion.complete(exact + np.array([0.0, 0.0, 5e-3]))
    np.testing.assert_allclose(found.misfit, [0.0, 0.0, 5e-3], atol=1e-9, rtol=0)
    np.testing.assert_allclose(found.q, mechanism.assemble(), atol=1e-9, rtol=0)


def test_the_sensitivity_knows_which_encoders_are_coarse() -> None:
    mechanism = variant("parallel_2dof", "measured: {a1: 1.0e-3, a2: 2.0e-3, a3: 1.0e-2}\n")
    completion = StateCompletion(mechanism)
    encoders = measured(completion, mechanism.assemble())
    completion.complete(encoders)
    J, h = completion.sensitivity(), 1e-5
    for column, direction in enumerate(np.eye(3)):
        after = completion.complete(encoders + h * direction).q
        before = completion.complete(encoders - h * direction).q
        # curvature times h² is below 1e-9, rounding over h about 1e-10
        np.testing.assert_allclose(J[:, column], (after - before) / (2 * h), atol=1e-7, rtol=0)


def test_encoders_that_contradict_each_other_are_named() -> None:
    completion = StateCompletion(shipped("parallel_2dof"))
    exact = measured(completion, completion.mechanism.assemble())
    completion.complete(exact)
    found = completion.complete(exact + np.array([0.0, 0.0, 0.1]))
    assert found.status is EstimationStatus.CONTRADICTING
    assert len(found.joints) == 1
    assert completion.complete(exact).status is COMPLETE


@pytest.mark.parametrize("name", ["landing_leg", "differential_drive", "loop_ladder"])
def test_the_error_says_which_encoders_would_do_and_no_more(name: str) -> None:
    mechanism = shipped(name)
    with pytest.raises(InputError, match=r"write measured: \[") as caught:
        StateCompletion(mechanism)
    written = yaml.safe_load(str(caught.value).rpartition("write measured: ")[2])
    assert StateCompletion(mechanism, written).redundant == 0
    with pytest.raises(InputError, match=written[-1]):
        StateCompletion(mechanism, written[:-1])


def test_joints_that_stay_open_are_named() -> None:
    mechanism = shipped("stewart_platform")
    with pytest.raises(InputError, match=r"platform_x.*6 degrees of freedom") as caught:
        StateCompletion(mechanism, [f"leg_{i}_slide" for i in range(1, 6)])
    assert caught.value.place == "measured"
    with pytest.raises(UnknownNameError, match='"leg_1_slide"'):
        StateCompletion(mechanism, ["leg_1_slid"])
    with pytest.raises(InputError, match="twice"):
        StateCompletion(mechanism, ["leg_1_slide", "leg_1_slide"])


def test_the_first_measurement_may_be_far_from_the_initial_guess() -> None:
    found = StateCompletion(shipped("five_bar")).complete([2.9])
    assert found.status is COMPLETE
    np.testing.assert_allclose(found.q, [2.9, -2.9, 2.9, 2.9], atol=EXACT, rtol=0)


def test_a_jump_is_told_and_followed_on_the_same_branch() -> None:
    completion = StateCompletion(shipped("five_bar"))
    completion.complete([0.6])
    found = completion.complete([1.9], [1.0])
    assert found.status is EstimationStatus.JUMP
    assert found.joints == ("crank",)
    np.testing.assert_allclose(found.q, [1.9, -1.9, 1.9, 1.9], atol=EXACT, rtol=0)
    assert completion.complete([1.91]).status is COMPLETE


def test_a_singular_configuration_is_told_and_the_branch_is_doubtful_behind_it() -> None:
    completion = StateCompletion(shipped("five_bar"))
    seen = []
    for angle in np.linspace(0.3, -0.3, 301):
        found = completion.complete([angle], [-1.0])
        seen.append(found.status)
        # straight through, as the machine goes by its inertia; flat, ψ grows with the square
        np.testing.assert_allclose(found.q, [angle, -angle, angle, angle], atol=1e-7, rtol=0)
        np.testing.assert_allclose(found.v, [-1.0, 1.0, -1.0, -1.0], atol=1e-6, rtol=0)
        if found.status is EstimationStatus.SINGULAR:
            assert set(found.joints) <= {"coupler", "middle", "right"}
            assert found.joints
            assert found.condition == np.inf
            assert abs(angle) < 0.02
        if abs(angle) > 0.02 and EstimationStatus.SINGULAR not in seen:
            assert not found.branch_doubtful
    assert found.branch_doubtful
    assert EstimationStatus.SINGULAR in seen
    assert seen[-1] is COMPLETE
    completion.reset()
    assert not completion.complete([0.6]).branch_doubtful


def test_a_singularity_between_two_measurements_makes_the_branch_doubtful() -> None:
    completion = StateCompletion(shipped("five_bar"))
    for angle in (0.4, 0.35, 0.3):
        assert not completion.complete([angle]).branch_doubtful
    found = completion.complete([-0.1])
    assert found.status is COMPLETE
    assert found.branch_doubtful


def test_a_dead_centre_is_followed_until_the_last_and_never_beyond() -> None:
    completion = StateCompletion(shipped("slider_crank"), ["slider"])
    crank, rod = 0.05, 0.18
    for angle in np.arange(0.6, -0.3, -0.005):
        slider = crank * np.cos(angle) + np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2)
        found = completion.complete([slider])
        assert found.usable
        assert found.residual < 1e-4
        # from the slider alone nobody knows on which side the crank comes back
        tight = found.status is COMPLETE
        assert found.q[0] == pytest.approx(abs(angle), abs=1e-9 if tight else 5e-3)
        assert found.branch_doubtful or angle > 0.0
    assert found.branch_doubtful
    for beyond in (1e-3, 5e-3, 1e-2):
        assert completion.complete([crank + rod + beyond]).status is EstimationStatus.LOST


def test_measurements_that_no_position_of_the_loops_has_are_lost_until_they_return() -> None:
    mechanism = shipped("slider_crank")
    completion = StateCompletion(mechanism, ["slider"])
    home = mechanism.assemble()
    before = completion.complete([home[2]])
    found = completion.complete([home[2] + 0.3])  # longer than crank and rod together
    assert found.status is EstimationStatus.LOST
    assert found.joints == ("slider",)
    assert not found.usable
    np.testing.assert_array_equal(found.q, before.q)
    after = completion.complete([home[2] + 0.001])
    assert after.status is COMPLETE
    assert after.residual < EXACT
    assert after.branch_doubtful, "it may come from behind the dead centre"


@pytest.mark.slow
def test_a_machine_that_fell_through_a_dead_centre_is_found_where_it_comes_to_rest() -> None:
    """Out of the last state, in the dead centre, no continuation leads; the initial guess does."""
    machine = shipped("five_bar")
    completion = StateCompletion(machine)
    rng, doubtful = np.random.default_rng(3), 0
    for _ in range(40):
        completion.reset()
        angle, rate = 0.6, rng.uniform(4.0, 8.0) * rng.choice([-1.0, 1.0])
        for _ in range(200):  # 5 ms each: half a turn and more
            angle += 0.005 * rate
            completion.complete([angle], [rate])
        for _ in range(2):  # lost once at most
            found = completion.complete([0.6], [0.0])
        assert found.usable
        residual = machine.dynamics().residual(State(0.0, found.q, found.v))
        assert np.abs(residual.position).max() < 1e-9  # m; Newton's last step is below 1e-11
        doubtful += found.branch_doubtful
    assert doubtful > 10, "it was lost, and says so"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([np.nan], "crank: expected a finite position, found nan"),
        ([np.inf], "crank: expected a finite position, found inf"),
        ([1.0, 2.0], r"expected 1 position values \(crank\)"),
        (["a"], "expected 1 numbers, found"),
        ({}, "crank is missing"),
    ],
)
def test_unusable_measurements_are_refused_and_change_nothing(values, reason) -> None:
    completion = StateCompletion(shipped("five_bar"))
    before = completion.complete([0.6]).q
    with pytest.raises(StateError, match=reason):
        completion.complete(values)
    with pytest.raises(StateError, match=reason.replace("position", "velocity")):
        completion.complete([0.6], values)
    with pytest.raises(UnknownNameError, match="crank"):
        completion.complete({"crnk": 0.0})
    np.testing.assert_array_equal(completion.complete([0.6]).q, before)


def test_loops_that_move_in_time_carry_their_joints_along() -> None:
    # the slider is led by a reference, so nothing has to be measured
    more = (
        "  lead: {type: joint, joint: slider,"
        " reference: {type: sinusoid, offset: 0.19, amplitude: 0.02, frequency: 1.0}}\n"
    )
    mechanism = variant("slider_crank", more)
    completion = StateCompletion(mechanism, [])
    h = 1e-5
    completion.complete([])
    for t in np.linspace(0.0, 1.0, 101):
        found = completion.complete([], [], t)
        assert found.q[2] == pytest.approx(0.19 + 0.02 * np.sin(2.0 * np.pi * t), abs=1e-12)
        after = completion.complete([], [], t + h).q
        before = completion.complete([], [], t - h).q
        np.testing.assert_allclose(found.v, (after - before) / (2 * h), atol=1e-6, rtol=0)


def test_measured_joints_are_those_of_the_file_or_of_the_motors() -> None:
    assert shipped("parallel_2dof").measured.names == ("a1", "a2", "a3")
    listed = variant("five_bar", "measured: [right]\n")
    assert listed.measured.names == ("right",)
    found = StateCompletion(listed).complete([0.7])
    np.testing.assert_allclose(found.q, [0.7, -0.7, 0.7, 0.7], atol=EXACT, rtol=0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[crnk]", 'measured: no joint "crnk"; did you mean "crank"'),
        ("[]", "these are no measured joints; write a list"),
        ("[crank, crank]", "these are no measured joints; write a list"),
        ("{crank: 0}", "above 0"),
        ("{crank: fine}", "above 0"),
        ("crank", "these are no measured joints; write a list"),
    ],
)
def test_mistakes_in_the_list_of_measured_joints(text: str, reason: str) -> None:
    with pytest.raises((MechanismFileError, UnknownNameError)) as caught:
        variant("five_bar", f"measured: {text}\n")
    assert reason in str(caught.value)


def test_an_unreachable_first_measurement_is_lost() -> None:
    estimate = StateCompletion(shipped("stewart_platform")).complete([1e6] * 6)
    assert estimate.status is EstimationStatus.LOST
    assert estimate.branch_doubtful
    assert not estimate.v.any()


def test_long_levers_away_from_dead_centres_raise_no_doubt() -> None:
    # lifting by 0.3 m in steps of 20 mm stays on a regular branch: condition 32 to 45
    mechanism = Mechanism.from_file("excavator")
    motors = ("swing", "boom_cylinder", "stick_cylinder", "bucket_cylinder")
    completion = StateCompletion(mechanism, motors)
    at = dict(zip(mechanism.joint_names, mechanism.assemble(), strict=True))
    for lifted in np.arange(0.0, 0.3, 0.02):
        found = completion.complete({m: at[m] + lifted * (m == "boom_cylinder") for m in motors})
        assert found.usable
        assert not found.branch_doubtful
