# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints switched on and off: motion as if built so, impact by least change, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.kind_samples import sample
from support.mechanism_builder import joint, link, shipped
from support.mechanism_builder import mechanism as mechanism_of

from uk_dynamics.constraints.kinds.frames.relative_frame import RelativeFrame
from uk_dynamics.constraints.kinds.kind import SampleRobot
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.control.estimation.state_completion import EstimationStatus, StateCompletion
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import ActivationError, InputError, MechanismFileError, UnknownNameError
from uk_dynamics.mechanism.dynamics.constraint_activation import present_values
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics.simulation.trajectory import Trajectory

_TWO_ARMS = "".join(
    (
        link("base"),
        *(link(name, mass=1.0, inertia=0.05, com="0.2 0 0") for name in ("a1", "a2", "b1", "b2")),
        joint("ja1", "base", "a1"),
        joint("ja2", "a1", "a2", xyz="0.4 0 0"),
        joint("jb1", "base", "b1", xyz="1 0 0"),
        joint("jb2", "b1", "b2", xyz="0.4 0 0"),
    )
)
_GRIPS = """
constraints:
  floor: {type: frame, axes: [z], parent: {link: base}, child: {link: a1, xyz: [0.4, 0, 0]}}
  grip: {type: frame, axes: [x, z, ry], parent: {link: a2, xyz: [0.4, 0, 0]},
         child: {link: b2, xyz: [0.4, 0, 0]}, switchable: true, active: false}
  weld: {type: weld, parent: {link: a2}, child: {link: b2}, switchable: true, active: false}
  hold: {type: joint, joint: jb1, switchable: true}
  pin: {type: joint_coupling, joints: {ja2: 1.0, jb2: 1.0}, switchable: true, active: false,
        on_activation: require}
"""


def _arms(more: str = ""):
    return mechanism_of(_TWO_ARMS, _GRIPS + more)


def _some_state(mechanism, rng) -> State:
    q = rng.uniform(-1.0, 1.0, 4)
    q[mechanism.joint_names.index("ja1")] = 0.0
    v = rng.uniform(-1.0, 1.0, 4)
    v[mechanism.joint_names.index("ja1")] = 0.0
    return State(0.0, q, v)


def test_what_is_off_is_as_if_it_were_not_there():
    mechanism = _arms()
    names = dict.fromkeys(("grip", "weld", "hold", "pin"), False)
    state = _some_state(mechanism, np.random.default_rng(0))
    active = mechanism.switch(state, names).active
    assert active.names == frozenset()
    solution = mechanism.dynamics().evaluate(state, Inputs(active=active))
    bare = mechanism_of(_TWO_ARMS, _GRIPS.partition("  grip")[0])
    alone = bare.dynamics().evaluate(state)
    assert solution.rank == alone.rank == 1
    # Same arithmetic but for rows of zeros: rounding.
    np.testing.assert_allclose(solution.qdd, alone.qdd, rtol=0.0, atol=1e-11)
    assert not solution.multipliers[1:].any()
    assert not mechanism.dynamics().residual(state, Inputs(active=active)).position[1:].any()


def test_capture_closes_on_the_present_pose_whatever_it_is():
    mechanism = _arms()
    rng = np.random.default_rng(1)
    for _ in range(5):
        state = _some_state(mechanism, rng)
        switched = mechanism.switch(state, {"grip": True, "weld": True, "hold": False})
        inputs = Inputs(active=switched.active)
        # Nothing moves, also where the relative rotation is large: rotations are captured as such.
        assert np.abs(switched.state.q - state.q).max() < 1e-12
        residual = mechanism.dynamics().residual(switched.state, inputs)
        assert np.abs(residual.position).max() < 1e-12
        assert np.abs(residual.velocity).max() < 1e-12
    assert set(switched.active.captured) == {"grip", "weld"}


def test_the_jump_is_the_least_change_and_takes_the_energy_of_carnot():
    mechanism = _arms()
    rng = np.random.default_rng(2)
    for _ in range(5):
        state = _some_state(mechanism, rng)
        before = mechanism.switch(state, {"hold": False}).active
        switched = mechanism.switch(state, {"grip": True}, Inputs(active=before))
        terms = mechanism.terms(state, Inputs(active=switched.active))
        jump = state.v - switched.state.v
        # Independent: the saddle-point system of least ½ Δvᵀ M Δv with A v = 0.
        m = len(terms.A)
        saddle = np.block([[terms.M, terms.A.T], [terms.A, np.zeros((m, m))]])
        exact = np.linalg.lstsq(saddle, np.concatenate((terms.M @ state.v, np.zeros(m))))[0][:4]
        np.testing.assert_allclose(switched.state.v, exact, rtol=0.0, atol=1e-10)
        # Carnot: the loss is the energy of the lost velocities.
        assert switched.energy_lost == pytest.approx(0.5 * jump @ terms.M @ jump, abs=1e-10)
        assert switched.energy_lost > 0.0


def test_require_refuses_away_from_its_pose_and_closes_on_it():
    mechanism = _arms()
    q = mechanism.assemble({"ja1": 0.0, "ja2": 0.3, "jb2": -0.2, "jb1": 0.0})
    state = mechanism.state(q)
    with pytest.raises(ActivationError, match=r'"pin" is 0\.1 m or rad away'):
        mechanism.switch(state, {"pin": True})
    near = mechanism.state({"ja1": 0.0, "ja2": 0.3, "jb2": -0.2999, "jb1": 0.0})
    closed = mechanism.switch(near, {"pin": True}).state
    indices = [mechanism.joint_names.index(name) for name in ("ja2", "jb2")]
    assert closed.q[indices].sum() == pytest.approx(0.0, abs=1e-12)


def test_names_of_no_switchable_constraint_are_refused():
    mechanism = _arms()
    state = mechanism.state()
    with pytest.raises(UnknownNameError, match='did you mean "grip"'):
        mechanism.switch(state, {"gripp": True})
    with pytest.raises(UnknownNameError, match="switchable constraint"):
        mechanism.switch(state, {"floor": False})
    with pytest.raises(UnknownNameError, match="switchable constraint"):
        mechanism.terms(state, Inputs(active=ActiveConstraints(frozenset({"floor"}))))


@pytest.mark.slow
def test_switched_at_random_accelerations_are_as_of_a_machine_built_so():
    """The levels of the recursion against all rows at once, along a thousand switchings."""
    levels = mechanism_of(_TWO_ARMS, _GRIPS + "solver: {method: hierarchical}")
    at_once = _arms()
    rng = np.random.default_rng(3)
    names = sorted(levels.hierarchy.switchable)
    active = levels.hierarchy.initial
    recursive, other = levels.dynamics(), at_once.dynamics()
    state = _some_state(levels, rng)
    worst = 0.0
    for event in range(1000):
        name = names[rng.integers(4)]
        on = frozenset(active.names ^ {name})
        captured = dict(active.captured)
        moved = event % 50 == 0
        if moved:
            state = _some_state(levels, rng)
        for switched_on in on if moved else on - active.names:
            captured[switched_on] = present_values(levels, state, switched_on)
        active = ActiveConstraints(on, captured)
        inputs = Inputs(tau=rng.standard_normal(4), active=active)
        solution, fresh = recursive.evaluate(state, inputs), other.evaluate(state, inputs)
        assert solution.rank == fresh.rank
        difference = np.abs(solution.qdd - fresh.qdd).max() / (1.0 + np.abs(fresh.qdd).max())
        worst = max(worst, float(difference))
    assert worst < 1e-9  # conditions up to 1e4, the rank tolerance, times rounding: 1e-12


def test_a_landing_leg_falls_hits_the_ground_and_stands():
    mechanism = shipped("landing_leg")
    start = mechanism.start()
    trajectory = simulate(mechanism, start, 0.6, events=[(0.3, {"foot": True})])
    (landing,) = trajectory.switchings
    assert landing.t == 0.3
    assert landing.changes == {"foot": True}
    # Until then free fall, to the tolerance of the integrator.
    fall = trajectory.position("height")[:30] - trajectory.position("height")[0]
    np.testing.assert_allclose(fall, -0.5 * 9.81 * trajectory.t[:30] ** 2, rtol=0.0, atol=1e-9)
    # All of it falls at 9.81 · 0.3 m/s; the foot stops, the rest goes on: some of ½ m v² is lost.
    assert 0.1 < landing.energy_lost < 0.5 * 4.9 * 2.943**2
    ahead, behind = trajectory.energy[29], trajectory.energy[30]
    # Springs give no damping in the air, so the energy drops by what is reported, and nothing else.
    assert ahead - behind == pytest.approx(landing.energy_lost, abs=1e-7)
    assert set(trajectory.rank[:30]) == {0}
    assert set(trajectory.rank[30:]) == {2}
    foot = trajectory.residual[30:]
    assert np.abs(foot).max() < 1e-12


def test_a_foot_can_leave_and_land_again_within_one_simulation(tmp_path):
    mechanism = shipped("landing_leg")
    events = [(0.3, {"foot": True}), (0.4005, {"foot": False}), (0.45, {"foot": True})]
    trajectory = simulate(mechanism, mechanism.start(), 0.5, events=events[::-1])
    assert [s.t for s in trajectory.switchings] == [0.3, 0.4005, 0.45]
    assert trajectory.switchings[1].energy_lost == 0.0
    assert list(trajectory.rank[[29, 30, 40, 41, 44, 45]]) == [0, 2, 2, 0, 0, 2]
    trajectory.save(tmp_path / "leg.npz")
    assert Trajectory.load(tmp_path / "leg.npz").switchings == trajectory.switchings


@pytest.mark.parametrize(
    ("event", "problem"),
    [((0.7, {"foot": True}), "between 0 and 0.5"), ((0.1, {"feet": True}), "foot")],
)
def test_events_that_cannot_be_are_refused_before_anything_moves(event, problem):
    mechanism = shipped("landing_leg")
    with pytest.raises(InputError, match=problem):
        simulate(mechanism, mechanism.start(), 0.5, events=[event])


@pytest.mark.slow
def test_a_servo_controller_hears_of_the_constraints():
    mechanism = shipped("landing_leg")
    controller = ServoController(mechanism, Tasks.from_file("landing_leg_knee", mechanism))
    trajectory = simulate(
        mechanism, mechanism.start(), 0.5, controller=controller, events=[(0.3, {"foot": True})]
    )
    assert controller.active is not None
    assert controller.active.names == {"foot"}
    # With the ground under the foot the motor must carry the body; it does so within its limit
    # as long as the knee is where it shall be, to the accuracy of the integrator.
    landed = trajectory.t >= 0.3
    accelerations = trajectory.qdd[landed, mechanism.joint_names.index("knee")]
    wanted = -(
        2.0 * 2.0 * np.pi * 5.0 * trajectory.v[landed, mechanism.joint_names.index("knee")]
        + (2.0 * np.pi * 5.0) ** 2 * trajectory.tracking_error[landed, 0]
    )
    within = np.abs(trajectory.efforts[landed, 0]) < 40.0
    assert within.any()
    np.testing.assert_allclose(accelerations[within], wanted[within], rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("active: false", "constraints.grip.active"),
        ("on_activation: capture", "constraints.grip.on_activation"),
        ("switchable: maybe", "constraints.grip.switchable"),
        ("switchable: true, on_activation: jump", "constraints.grip.on_activation"),
        (
            "switchable: true, reference: {type: constant, value: 1.0}",
            "constraints.grip.on_activation",
        ),
        ("compliance: -1.0", "constraints.grip.compliance"),
        ("compliance: 1e-3, stabilization: {frequency: 0}", "constraints.grip.compliance"),
    ],
)
def test_mistakes_in_the_file_are_named_with_their_place(text, place):
    yaml = f"schema: 1\nconstraints: {{grip: {{type: joint, joint: j, {text}}}}}"
    with pytest.raises(MechanismFileError) as caught:
        MechanismSpec.from_text(yaml, file="arm.yaml")
    assert str(caught.value).startswith(f"arm.yaml: {place}: ")


@pytest.mark.parametrize("key", ["switchable: true", "active: true", "compliance: 1.0"])
def test_tasks_cannot_be_switched_by_keys_of_the_structure(key):
    with pytest.raises(MechanismFileError, match="motors enforce tasks"):
        TasksSpec.from_text(f"schema: 1\ntasks: {{a: {{type: joint, joint: j, {key}}}}}")


def test_held_efforts_do_not_change_when_a_constraint_does():
    """The controller decides at its own times; the constraint is switched between two of them."""
    mechanism = shipped("landing_leg")
    controller = ServoController(mechanism, Tasks.from_file("landing_leg_knee", mechanism))
    trajectory = simulate(
        mechanism,
        mechanism.start(),
        0.33,
        controller=controller,
        control_period=0.02,
        sample_period=0.005,
        events=[(0.31, {"foot": True})],
    )
    at = {round(t, 4): effort for t, effort in zip(trajectory.t, trajectory.efforts, strict=True)}
    assert at[0.305] == at[0.31] == at[0.315]
    assert at[0.315] != at[0.32]
    assert [int(rank) for rank in trajectory.rank[-5:]] == [2] * 5
    assert trajectory.rank[61] == 0


_ARM = "".join(
    (
        link("base"),
        *(link(name, mass=1.0, inertia=0.05, com="0.1 0 0.1") for name in ("a", "b", "c", "d")),
        joint("j1", "base", "a", axis="0 0 1"),
        joint("j2", "a", "b", axis="0 1 0", xyz="0.3 0 0.1"),
        joint("j3", "b", "c", axis="1 0 0", xyz="0.3 0 0"),
        joint("j4", "c", "d", axis="0 1 0", xyz="0.2 0.1 0"),
    )
)


_ENDS = {
    "parent": {"link": "base", "xyz": [0.2, 0.1, 0]},
    "child": {"link": "d", "xyz": [0.1, 0.2, 0.3]},
}


def _positions():
    """Random constraints of all kinds that hold positions alone, between links that may stand."""
    robot = SampleRobot(("j1", "j2", "j3", "j4"), ("a", "b", "c", "d"))
    for name, kind in kinds().items():
        if kind.order == "position" and not issubclass(kind, RelativeFrame):
            yield sample(name, robot) | {role: _ENDS[role] for role in kind.frames}
    yield {"type": "frame", "axes": ["y", "ry"], **_ENDS}
    yield {"type": "expression", "expression": "j1 * j2 - sin(j4)"}


@pytest.mark.parametrize("kind", _positions(), ids=lambda data: data["type"])
def test_every_kind_can_be_captured_anywhere(kind):
    machine = mechanism_of(
        _ARM,
        "model: {length: 0.5}\n"
        f"constraints: {{grip: {json.dumps(kind | {'switchable': True, 'active': False})}}}",
    )
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = State(0.0, rng.uniform(-1.2, 1.2, 4), rng.uniform(-1.0, 1.0, 4))
        switched = machine.switch(state, {"grip": True})
        # Nothing is pulled anywhere, and what was closed stands still: rounding.
        assert np.abs(switched.state.q - state.q).max() < 1e-11
        inputs = Inputs(active=switched.active)
        residual = machine.dynamics().residual(switched.state, inputs)
        assert np.abs(residual.position).max() < 1e-11
        assert np.abs(residual.velocity).max() < 1e-11
        assert switched.energy_lost >= -1e-12


def test_a_compliant_constraint_is_switched_on_without_a_jump():
    soft = _GRIPS.replace("switchable: true, active: false}", "switchable: true, compliance: 1e-4}")
    machine = mechanism_of(_TWO_ARMS, soft)
    state = _some_state(machine, np.random.default_rng(4))
    off = dict.fromkeys(("grip", "weld", "hold", "pin"), False)
    before = Inputs(active=machine.switch(state, off).active)
    switched = machine.switch(state, {"grip": True}, before)
    np.testing.assert_array_equal(switched.state.v, state.v)
    assert switched.energy_lost == 0.0
    # It pulls against the motion from then on, and not at all while it is off.
    rows = machine.constraints.slices["grip"]
    dynamics = machine.dynamics()
    after = dynamics.evaluate(state, Inputs(active=switched.active))
    assert np.abs(after.multipliers[rows]).max() > 1.0
    assert not dynamics.evaluate(state, before).multipliers[rows].any()


def test_a_completion_follows_what_is_on():
    mechanism = shipped("landing_leg")
    start = mechanism.start()
    off = mechanism.hierarchy.initial
    standing = mechanism.switch(start, {"foot": True}).active
    completion = StateCompletion(mechanism, ["knee"], active=standing)
    found = completion.complete({"knee": -1.8})
    assert found.status is EstimationStatus.COMPLETE
    # The foot stays below the hip: the thigh turns by half of what the knee bends more.
    assert found.q == pytest.approx([0.44145 + 0.6 * np.cos(0.9), -np.pi / 2 + 0.9, -1.8], abs=1e-9)
    with pytest.raises(InputError, match="do not determine height, hip"):
        completion.switch(off)
    everything = StateCompletion(mechanism, ["height", "hip", "knee"])
    measured = dict(zip(("height", "hip", "knee"), found.q, strict=True))
    assert everything.complete(measured).status is EstimationStatus.COMPLETE
    everything.switch(standing)
    assert everything.redundant == 2
    assert everything.complete(measured, t=0.1).status is EstimationStatus.COMPLETE
    contradicting = everything.complete(measured | {"height": measured["height"] + 0.1}, t=0.2)
    assert contradicting.status is EstimationStatus.CONTRADICTING
