# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Jacobians, independent coordinates and transmissions against the motion itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.mechanism_builder import closed_states, link, shipped

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics import Mechanism, State
from uk_dynamics.exceptions import InputError, UnknownNameError

Array = NDArray[np.float64]

# with redundant rows, a hexapod, redundant motors, rolling, a floating root, spherical joints
FRAMES = {
    "five_bar": ("right_leg", (1.0, 0.0, 0.0)),
    "rrr3": "platform",
    "stewart_platform": ("platform", (0.1, 0.2, 0.0)),
    "parallel_2dof": ("passive_1", (0.3, 0.0, 0.0)),
    "differential_drive": "caster_wheel_link",
    "excavator": "teeth",
    "two_arms": "tool",
}


def floating_loop() -> Mechanism:
    """A floating body with an arm of two joints, the tip of which is tied to the body."""
    links = "".join(map(link, ("body", "left", "tool")))
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        '<limit lower="-9" upper="9" effort="5" velocity="1"/></joint>'
        for name, kind, parent, child, xyz, axis in (
            ("hip", "revolute", "body", "left", "0.3 0 0", "0 1 0"),
            ("slide", "prismatic", "left", "tool", "0 0 0.4", "0 0 1"),
        )
    )
    rope = {"type": "distance", "distance": 0.9}
    return Mechanism.from_data(
        {
            "model": {"root": "floating"},
            "actuators": {"motor": {"joint": "hip"}},
            "constraints": {
                "rope": {
                    **rope,
                    "parent": {"link": "body", "xyz": [-0.3, 0.1, 0]},
                    "child": {"link": "tool", "xyz": [0, 0.05, 0]},
                }
            },
        },
        robot_description=f'<robot name="two_arms">{links}{joints}</robot>',
        name="two_arms",
    )


def mechanism_of(name: str) -> Mechanism:
    return floating_loop() if name == "two_arms" else shipped(name)


def moving_state(mechanism: Mechanism, seed: int = 0) -> State:
    *_, state = closed_states(mechanism, np.random.default_rng(seed), 3, backend="interpreted")
    return state


def twist_between(mechanism: Mechanism, frame: object, before: Array, after: Array) -> Array:
    (p0, R0), (p1, R1) = (mechanism.pose(frame, q) for q in (before, after))  # type: ignore[arg-type]
    return np.concatenate([p1 - p0, so3.log(R1 @ R0.T)])


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("of", ["motors", "independent", "all"])
def test_the_frame_moves_and_accelerates_as_the_jacobian_says(name: str, of: str) -> None:
    """Differences of poses along a motion that keeps the constraints to second order."""
    mechanism, frame = mechanism_of(name), FRAMES[name]
    state = moving_state(mechanism)
    if of == "motors" and name == "two_arms":
        with pytest.raises(InputError, match="6 of 7 freedoms move with all motors at rest"):
            mechanism.jacobian(frame, state)
        return
    J = mechanism.jacobian(frame, state, of=of)  # type: ignore[arg-type]
    coordinates = mechanism.independent_coordinates(state.q)
    rates = {
        "all": state.v,
        "motors": mechanism.actuators.matrix.T @ state.v,
        "independent": coordinates.rates(state.v),
    }[of]
    # a motion with zero second rates of the independent coordinates
    qdd = coordinates.acceleration(state)
    second = {
        "all": qdd,
        "motors": mechanism.actuators.matrix.T @ qdd,
        "independent": np.zeros(len(coordinates.velocities)),
    }[of]
    h, integrate = 1e-4, mechanism.model.integrate

    def at(time: float) -> Array:
        return integrate(state.q, time * state.v + 0.5 * time**2 * qdd)

    ahead = twist_between(mechanism, frame, state.q, at(h))
    behind = twist_between(mechanism, frame, state.q, at(-h))
    # third derivatives are below 1e3 per s³; rounding is 1e-16 / h² = 1e-8
    assert (ahead - behind) / (2 * h) == pytest.approx(J.matrix @ rates, abs=1e-5)
    expected = J.matrix @ second + J.drift
    assert (ahead + behind) / h**2 == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("axes", ["local", "world", "local_world_aligned"])
def test_axes_are_those_of_pinocchio(axes: str) -> None:
    pin = pytest.importorskip("pinocchio")
    mechanism = floating_loop()
    state = moving_state(mechanism, 3)
    model, data = mechanism.model.pinocchio, mechanism.model.pinocchio.createData()
    pin.forwardKinematics(model, data, state.q, state.v, 0 * state.v)
    pin.updateFramePlacements(model, data)
    frame, reference = model.getFrameId("tool"), getattr(pin.ReferenceFrame, axes.upper())
    J = mechanism.jacobian("tool", state, of="all", axes=axes)  # type: ignore[arg-type]
    oracle = pin.computeFrameJacobian(model, data, state.q, frame, reference)
    if axes == "local_world_aligned":
        drift = pin.getFrameClassicalAcceleration(model, data, frame, reference).vector
    else:
        drift = pin.getFrameAcceleration(model, data, frame, reference).vector
    assert J.matrix == pytest.approx(oracle, abs=1e-12)
    assert J.drift == pytest.approx(drift, abs=1e-12 * 100)  # velocities squared


def test_many_states_at_once_and_names() -> None:
    mechanism = shipped("stewart_platform")
    states = list(closed_states(mechanism, np.random.default_rng(1), 4, backend="interpreted"))
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    whole = mechanism.jacobian("platform", q, v)
    assert whole.matrix.shape == (4, 6, 6)
    assert whole.rows == ("vx", "vy", "vz", "wx", "wy", "wz")
    assert whole.columns == mechanism.actuators.names
    for k, state in enumerate(states):
        one = mechanism.jacobian("platform", state)
        assert np.array_equal(whole.matrix[k], one.matrix)
        assert np.array_equal(whole.drift[k], one.drift)
    assert np.asarray(whole).shape == (4, 6, 6)


def test_coordinates_map_there_and_back() -> None:
    """The floating root is taken as a whole, so that its coordinates have positions."""
    for mechanism in (shipped("stewart_platform"), shipped("excavator"), floating_loop()):
        state = moving_state(mechanism)
        home = mechanism.assemble()
        chosen = mechanism.independent_coordinates(home)
        values, rates = chosen.values(state.q), chosen.rates(state.v)
        q = chosen.configuration(values, near=state.q)
        assert mechanism.model.difference(state.q, q) == pytest.approx(0.0, abs=1e-9)
        back = chosen.configuration(chosen.values(home), near=chosen.configuration(values))
        assert chosen.values(back) == pytest.approx(chosen.values(home), abs=1e-9)
        assert chosen.velocity(rates, state.q) == pytest.approx(state.v, abs=1e-8)
        qdd = chosen.acceleration(state, np.ones(len(rates)))
        assert chosen.rates(qdd) == pytest.approx(1.0, abs=1e-9)


def test_rolling_leaves_more_positions_than_velocities() -> None:
    chosen = shipped("differential_drive").independent_coordinates()
    assert (len(chosen.positions), len(chosen.velocities)) == (7, 2)


def test_coordinates_that_do_not_determine_the_motion_are_refused() -> None:
    mechanism = shipped("stewart_platform")
    names = ["leg_1_swing", "leg_1_tilt", "leg_1_slide", "leg_2_swing", "leg_2_tilt", "leg_2_slide"]
    with pytest.raises(InputError, match="6 coordinates that determine"):
        mechanism.independent_coordinates(names=names)
    with pytest.raises(UnknownNameError):
        mechanism.independent_coordinates(names=["leg_7_slide"])


@pytest.mark.parametrize("name", ["slider_crank", "rrr3", "excavator", "parallel_2dof"])
def test_a_transmission_keeps_power(name: str) -> None:
    mechanism = shipped(name)
    state = moving_state(mechanism)
    joint = mechanism.joint_names[-1]
    for to in (joint, [joint, mechanism.joint_names[1]], mechanism.model.link_names[-1]):
        gear = mechanism.transmission(to, state)
        motors = mechanism.actuators.matrix.T @ state.v
        output = gear.ratio @ motors
        if to == joint:
            assert output[0] == pytest.approx(state.v[-1], abs=1e-9)
        load = np.random.default_rng(2).normal(size=len(output))
        assert gear.efforts(load) @ motors == pytest.approx(load @ output, abs=1e-9)
        efforts = gear.efforts(load)
        assert gear.efforts(gear.forces(efforts)) == pytest.approx(efforts, abs=1e-9)


def test_a_slider_crank_transmits_by_its_closed_form() -> None:
    """ẋ/θ̇ = −r sin θ − r² sin θ cos θ / √(l² − r² sin² θ), with the crank's sense of rotation."""
    mechanism = shipped("slider_crank")
    q = mechanism.assemble(crank=0.9)
    r = float(np.linalg.norm(mechanism.pose("rod_link", q)[0]))
    x, sin, cos = q[mechanism.model.position_index("slider")], np.sin(0.9), np.cos(0.9)
    root = np.sqrt(0.18**2 - (r * sin) ** 2)
    assert x == pytest.approx(r * cos + root, abs=1e-9)
    (ratio,) = mechanism.transmission("slider", q).ratio[0]
    assert ratio == pytest.approx(-r * sin - r**2 * sin * cos / root, abs=1e-9)


def test_at_a_parallel_singularity_the_motors_do_not_determine_the_motion() -> None:
    mechanism = shipped("rrr3")
    found = mechanism.nearest_singularity(kinds=["motors"])
    assert found is not None
    with pytest.raises(InputError, match="1 of 3 freedoms move"):
        mechanism.jacobian("platform", found.q)
    assert mechanism.jacobian("platform", found.q, of="independent").matrix.shape == (6, 3)
