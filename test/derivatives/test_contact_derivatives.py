# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives within a mode: what is closed and sticks counts as rows, by differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.repository import ROOT

import uk_dynamics as ukd
from uk_dynamics import Mechanism
from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.resolution import Inputs, State

STEP = 1e-6  # rad and m; central differences then lose 1e-10 of values of some thousands


def test_a_machine_on_its_feet():
    """The walking machine stands on two feet; its loops are redundant, and so are the feet."""
    machine = Mechanism.from_file(ROOT / "examples" / "plantigrade" / "plantigrade.yaml")
    state, nv = machine.start(), machine.model.nv
    tau = machine.actuators.matrix @ [0.3]
    inputs = ContactDynamics(machine).beginning(state, Inputs(tau=tau, stabilize=False))
    assert inputs.active is not None
    stands = {"foot_left.front", "foot_left.rear"}
    assert inputs.active.names == stands | {f"{name}.sticking" for name in stands}
    dynamics = machine.dynamics("interpreted")
    found = machine.derivatives(state, inputs).acceleration

    def moved(dq: np.ndarray, dv: np.ndarray, dtau: np.ndarray) -> np.ndarray:
        q = machine.model.integrate(state.q, dq)
        given = Inputs(tau=tau + dtau, stabilize=False, active=inputs.active)
        return dynamics.evaluate(State(state.t, q, state.v + dv), given).qdd

    rng = np.random.default_rng(2)
    free = np.linalg.svd(machine.terms(state, inputs).A)[2][-1]  # the one motion that is left
    still = np.zeros(nv)
    for along, columns in (
        ((free, still, still), found.q),
        ((still, free, still), found.v),
        ((still, still, rng.standard_normal(nv)), found.tau),
    ):
        ahead, behind = (moved(*(sign * STEP * x for x in along)) for sign in (1.0, -1.0))
        expected = (ahead - behind) / (2.0 * STEP)
        step = next(x for x in along if x.any())
        np.testing.assert_allclose(
            columns @ step, expected, rtol=0, atol=1e-6 * (1.0 + np.abs(expected).max())
        )


def differences(
    machine: Mechanism, state: State, inputs: Inputs, name: str, along: np.ndarray
) -> np.ndarray:
    """Central differences of the acceleration in the mode of the inputs."""
    assert inputs.tau is not None
    dynamics = machine.dynamics("interpreted")

    def moved(step: float) -> np.ndarray:
        q = machine.model.integrate(state.q, step * along) if name == "q" else state.q
        v = state.v + step * along if name == "v" else state.v
        tau = inputs.tau + step * along if name == "tau" else inputs.tau
        return dynamics.evaluate(State(state.t, q, v), replace(inputs, tau=tau)).qdd

    return (moved(STEP) - moved(-STEP)) / (2.0 * STEP)


def block(friction: float = 0.4) -> Mechanism:
    """A block of 2 kg on three points of different distance from its centre."""
    foot = {
        "parent": {"link": "world"},
        "child": {"link": "block", "xyz": [0.0, 0.0, -0.3]},
        "points": {"a": [-0.2, -0.1, 0], "b": [-0.1, 0.2, 0], "c": [0.3, 0.05, 0]},
        "friction": friction,
    }
    return Mechanism.from_data(
        {"model": {"root": "floating"}, "contacts": {"foot": foot}},
        robot_description="""<robot name="block"><link name="block"><inertial><mass value="2"/>
        <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>
        </inertial></link></robot>""",
    )


def sliding(machine: Mechanism, state: State, names: set[str], inputs: Inputs) -> Inputs:
    """What slides at a state, of what is closed."""
    contacts = ContactDynamics(machine)
    slip = dict(zip(contacts.names, contacts.places(state).slip, strict=True))
    directions = {name: slip[name] / np.hypot(*slip[name]) for name in names}
    active = machine.hierarchy.initial
    on = replace(active, names=active.names | names, sliding=directions)
    return replace(inputs, active=on)


def test_a_block_that_slides_and_turns():
    """Its points slide in different directions, each with a friction that depends on its load."""
    machine = block()
    state = machine.state([0, 0, 0.3, 0, 0, 0, 1], [0.7, -0.2, 0.0, 0.0, 0.0, 2.5])
    points = {"foot.a", "foot.b", "foot.c"}
    tau = np.array([1.0, -2.0, 0.5, 0.1, 0.2, 0.3])
    inputs = sliding(machine, state, points, Inputs(tau=tau, stabilize=False))
    assert machine.dynamics("interpreted").evaluate(state, inputs).status is Status.OK
    found = machine.derivatives(state, inputs).acceleration
    rng = np.random.default_rng(4)
    # along the plane: only there is the mode a motion
    in_plane = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    for name, allowed in (("q", in_plane), ("v", in_plane), ("tau", np.ones(6))):
        along = allowed * rng.standard_normal(6)
        expected = differences(machine, state, inputs, name, along)
        np.testing.assert_allclose(
            getattr(found, name) @ along,
            expected,
            rtol=0,
            atol=1e-6 * (1.0 + np.abs(expected).max()),
        )


def test_friction_and_mass_of_a_block_that_slides():
    """Friction of the contacts is a parameter of their forces."""
    machine = block()
    state = machine.state([0, 0, 0.3, 0, 0, 0, 1], [0.7, -0.2, 0.0, 0.0, 0.0, 2.5])
    inputs = sliding(machine, state, {"foot.a", "foot.b", "foot.c"}, Inputs(stabilize=False))
    names = ["contacts.foot.friction", "links.block.mass"]
    found = ukd.ParameterDerivatives(machine, names, backend="interpreted").at(state, inputs)
    for k, name in enumerate(names):
        value = machine.parameters[name].value
        ends = [
            machine.with_parameters({name: value + step}).dynamics("interpreted")
            for step in (STEP, -STEP)
        ]
        ahead, behind = (end.evaluate(state, inputs).qdd for end in ends)
        expected = (ahead - behind) / (2.0 * STEP)
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(found.acceleration.parameters[:, k], expected, rtol=0, atol=1e-7)


def test_a_machine_with_loops_that_slides():
    """One foot of the walking machine slides; two of its 15 rows of loops are redundant."""
    machine = Mechanism.from_file(ROOT / "examples" / "plantigrade" / "plantigrade.yaml")
    tau = machine.actuators.matrix @ [3.0]
    on = machine.hierarchy.initial
    dynamics = machine.dynamics("interpreted")
    standing = dynamics.project(machine.start(), Inputs(active=on))
    free = np.linalg.svd(machine.terms(standing, Inputs(active=on)).A)[2][13:]
    foot = {"foot_left.rear"}
    v = free.T @ np.random.default_rng(3).standard_normal(len(free))
    contacts = ContactDynamics(machine)
    moving = State(0.0, standing.q, v)
    inputs = sliding(machine, moving, foot, Inputs(tau=tau, stabilize=False))
    state = dynamics.project(moving, inputs)
    assert abs(contacts.places(state).rate[contacts.names.index("foot_left.rear")]) < 1e-9
    inputs = sliding(machine, state, foot, inputs)
    found = machine.derivatives(state, inputs)
    motions = found.motions
    nv = machine.model.nv
    for along in motions.T[:2]:
        step = State(0.0, *moved(machine, state, along[:nv], along[nv : 2 * nv]))
        back = State(0.0, *moved(machine, state, -along[:nv], -along[nv : 2 * nv]))
        ahead, behind = (dynamics.evaluate(x, inputs) for x in (step, back))
        for name, values in (
            ("acceleration", (ahead.qdd, behind.qdd)),
            ("multipliers", (ahead.joint_multipliers, behind.joint_multipliers)),
            (
                "force",
                (carried(machine, step, inputs, ahead), carried(machine, back, inputs, behind)),
            ),
        ):
            expected = (values[0] - values[1]) / (2.0 * STEP)
            whole = getattr(found, name).whole
            np.testing.assert_allclose(
                whole[:, : 2 * nv] @ along[: 2 * nv],
                expected,
                rtol=0,
                atol=1e-6 * (1.0 + np.abs(expected).max()),
            )


def carried(machine: Mechanism, state: State, inputs: Inputs, solution: Solution) -> np.ndarray:
    """Aᵀλ with what the rows resist friction by, (nv,)."""
    found: np.ndarray = machine.terms(state, inputs).A.T @ solution.joint_multipliers
    return found


def moved(
    machine: Mechanism, state: State, dq: np.ndarray, dv: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A state a step along."""
    return machine.model.integrate(state.q, STEP * dq), state.v + STEP * dv


def test_what_has_just_begun_to_slide_has_no_derivative():
    """The direction of its friction jumps there."""
    machine = block()
    state = machine.state([0, 0, 0.3, 0, 0, 0, 1], [0.0] * 6)
    active = replace(
        machine.hierarchy.initial,
        names=frozenset({"foot.a"}),
        sliding={"foot.a": np.array([1.0, 0.0])},
    )
    with pytest.raises(InputError, match=r"foot\.a: has just begun to slide"):
        machine.derivatives(state, Inputs(active=active))
