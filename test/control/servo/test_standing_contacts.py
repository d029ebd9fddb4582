# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo law with standing contacts: the biped of the examples moves by the forces of its soles."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from support.repository import ROOT

from uk_dynamics import Mechanism, ServoController, Tasks, simulate
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import MassPoints
from uk_dynamics.control.command import Command
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State

FOLDER = ROOT / "examples" / "biped"
PERIOD = 1e-3  # s
FRICTION = 0.7
CORNERS = ("heel_left", "heel_right", "toe_left", "toe_right")


@pytest.fixture(scope="module")
def biped() -> Mechanism:
    return Mechanism.from_file(FOLDER / "biped.yaml")


@pytest.fixture(scope="module")
def start(biped: Mechanism) -> State:
    return biped.start(tasks=Tasks.from_file(FOLDER / "stand.yaml", biped))


def data(**changes: Any) -> dict[str, Any]:
    found = copy.deepcopy(yaml.safe_load((FOLDER / "stand.yaml").read_text()))
    return {**found, **changes}


def balance(acceleration: list[float]) -> dict[str, ReferenceSample]:
    """The task asks for an acceleration of the centre of mass, in m/s²."""
    place = np.array([0.035, 0.0, 0.7])
    return {"balance": ReferenceSample(place, np.zeros(3), np.array(acceleration))}


def pyramids_hold(command: Command, friction: float = FRICTION) -> bool:
    return all(
        abs(x) + abs(y) <= friction * normal for normal, x, y in command.contact_forces.values()
    )


def total(command: Command) -> NDArray[np.float64]:
    """Force of all contacts along x, y, z, in N."""
    normal, x, y = np.sum(list(command.contact_forces.values()), axis=0)
    return np.array([x, y, normal])


def standing(mechanism: Mechanism, *soles: str) -> ActiveConstraints:
    names = [f"{sole}.{corner}" for sole in soles for corner in CORNERS]
    return ActiveConstraints(frozenset([*names, *(f"{name}.sticking" for name in names)]))


@pytest.mark.parametrize("seed", range(6))
def test_contact_forces_are_weight_and_inertia_within_their_pyramids(
    biped: Mechanism, start: State, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    asked = rng.uniform([-1.5, -1.5, -2.0], [1.5, 1.5, 2.0])  # m/s²; some need a search
    law = ServoController(biped, Tasks.from_file(FOLDER / "stand.yaml", biped))
    command = law.command(start, balance(asked.tolist()))
    assert pyramids_hold(command)
    assert not command.missing
    mass = biped.model.total_mass
    # N, of 500: the machine rests, so that its centre of mass accelerates as asked
    np.testing.assert_allclose(
        total(command), mass * (asked + np.array([0, 0, 9.81])), rtol=0, atol=1e-9 * mass * 9.81
    )
    np.testing.assert_allclose(command.residual, 0.0, rtol=0, atol=1e-9)  # m/s²
    # the same efforts with feet that stand, of which the mechanism finds the forces itself
    tau = biped.actuators.matrix @ command.efforts
    held = Inputs(tau, active=standing(biped, "left_sole", "right_sole"))
    qdd = InterpretedDynamics(biped).evaluate(start, held).qdd
    np.testing.assert_allclose(command.qdd, qdd, rtol=0, atol=1e-8)  # rad/s², of up to 20


def test_what_lies_beyond_the_cones_is_named_and_given_up_by_priority(
    biped: Mechanism, start: State
) -> None:
    changed = data()
    changed["tasks"]["balance"]["priority"] = 2
    tasks = Tasks.from_data(changed, biped)
    command = ServoController(biped, tasks).command(start, balance([6.0, 0.0, 0.0]))
    assert pyramids_hold(command)
    assert set(command.missing) == {"balance"}  # the feet stand, the trunk stays upright
    assert "lift-off" in command.limited_by.values()
    # all of its weight is on the edge of the heels, which is the limit of the way back: what is
    # missing is horizontal force and height together
    heels = [
        f"{side}_sole.heel_{corner}" for side in ("left", "right") for corner in ("left", "right")
    ]
    toes = sum(
        command.contact_forces[name][0] for name in command.contact_forces if name not in heels
    )
    assert toes < 1e-6 * total(command)[2]
    both = ServoController(biped, Tasks.from_file(FOLDER / "stand.yaml", biped))
    shared = both.command(start, balance([6.0, 0.0, 0.0]))
    assert set(shared.missing) == {"balance", "upright"}
    # the trunk may turn, and the centre of mass comes nearer to what it is asked for
    assert np.linalg.norm(shared.residual) < np.linalg.norm(command.residual)


def test_a_momentum_task_calms_what_the_trunk_leaves_free(biped: Mechanism, start: State) -> None:
    """Its rate is −ω L, the moment of the forces on the soles about the centre of mass."""
    changed = data()
    changed["tasks"]["upright"] = {"type": "momentum", "axes": ["rx", "ry", "rz"]}
    tasks = Tasks.from_data(changed, biped)
    moving = copy.deepcopy(start)
    rng = np.random.default_rng(2)
    moving.v[:] = 0.05 * rng.standard_normal(biped.model.nv)
    moving = biped.dynamics().project(moving)
    law = ServoController(biped, tasks)
    command = law.command(moving)
    assert not command.missing
    rows = [i for i, name in enumerate(law.row_names) if name.startswith("upright")]
    momentum = command.tracking_error[rows]  # kg m²/s
    assert np.abs(momentum).max() > 0.05
    workspace = biped.model.workspace()
    workspace.update(moving.q, moving.v)
    center = MassPoints.of((), biped.model).position(workspace)
    moment = np.zeros(3)
    for name, (normal, x, y) in command.contact_forces.items():
        foot, corner = name.split("_sole.")
        place, rotation = biped.pose(f"{foot}_foot", moving.q)
        end, _, side = corner.partition("_")
        inside = [-0.085 if end == "heel" else 0.165, 0.05 if side == "left" else -0.05, -0.07]
        moment += np.cross(place + rotation @ inside - center, [x, y, normal])
    expected = -2.0 * np.pi * 1.5 * momentum
    np.testing.assert_allclose(moment, expected, rtol=0, atol=1e-8)  # N m: rounding of 400 N


def test_a_slippery_ground_limits_friction(biped: Mechanism, start: State) -> None:
    contacts = {"left_sole": {"friction": 0.05}, "right_sole": {"friction": 0.05}}
    tasks = Tasks.from_data(data(contacts=contacts), biped)
    command = ServoController(biped, tasks).command(start, balance([1.0, 0.0, 0.0]))
    assert pyramids_hold(command, 0.05)
    assert "friction" in command.limited_by.values()
    force = total(command)
    assert force[0] == pytest.approx(0.05 * force[2], rel=1e-6)


def test_force_limits_hold(biped: Mechanism, start: State) -> None:
    contacts = {"left_sole": {"force_limit": 40.0}, "right_sole": {}}
    command = ServoController(biped, Tasks.from_data(data(contacts=contacts), biped)).command(start)
    left = [f[0] for name, f in command.contact_forces.items() if name.startswith("left")]
    assert max(left) <= 40.0
    assert "force" in command.limited_by.values()
    assert pyramids_hold(command)
    # the other foot has the rest: N, of 414
    assert total(command)[2] == pytest.approx(biped.model.total_mass * 9.81, abs=1e-6)


@pytest.mark.slow
def test_it_stands(biped: Mechanism, start: State) -> None:
    law = ServoController(
        biped, Tasks.from_file(FOLDER / "stand.yaml", biped), control_period=PERIOD
    )
    run = simulate(biped, start, 0.2, controller=law, control_period=PERIOD, method="moreau")
    # m: it starts at rest where it is to be, and 200 steps add rounding
    np.testing.assert_allclose(run.q[-1], start.q, rtol=0, atol=1e-12)
    assert not run.warnings


def test_a_task_that_waits_for_its_foot_to_lift_has_no_error(
    biped: Mechanism, start: State
) -> None:
    tasks = Tasks.from_file(FOLDER / "step.yaml", biped)
    law = ServoController(biped, tasks, control_period=PERIOD)
    row = tasks.row_names.index("right_swing.z")
    for t, error in ((1.2, 0.0), (2.0, -0.06)):  # the reference is 0.06 m at both times
        found = law.tracking_error(State(t, start.q, start.v))
        np.testing.assert_allclose(found[row], error, rtol=0, atol=1e-9)  # m: loops close to that


@pytest.mark.slow
def test_it_takes_a_push(biped: Mechanism, start: State) -> None:
    """80 N from the side for 0.1 s: the law knows nothing of it, and brings the machine back."""
    described = yaml.safe_load((FOLDER / "biped.yaml").read_text())
    described["model"]["urdf"] = str(FOLDER / described["model"]["urdf"])
    frame = {"link": "trunk", "xyz": [0, 0, 0.1]}
    described["forces"] = {"push": {"type": "wrench", "frame": frame, "force": [0, 80.0, 0]}}
    pushed = Mechanism.from_data(described)
    law = ServoController(biped, Tasks.from_file(FOLDER / "stand.yaml", biped), control_period=2e-3)
    options: dict[str, Any] = {"control_period": 2e-3, "method": "moreau", "controller": law}
    push = simulate(pushed, start, 0.1, **options)
    after = simulate(biped, State(0.1, push.q[-1], push.v[-1]), 0.9, **options)
    errors = np.abs(np.concatenate((push.tracking_error, after.tracking_error)))[:, :6]
    # m: 8 N s are 0.19 m/s, which feedback of 1.5 Hz with critical damping stops after v/(e ω)
    assert errors[:, 1].max() == pytest.approx(0.19 / (np.e * 9.4), rel=0.15)
    # m or rad: e^{-ωt} (1 + ωt) of that is left
    assert np.abs(after.tracking_error[-1][:6]).max() < 3e-5


class Recording:
    """A controller that keeps its commands."""

    def __init__(self, law: ServoController) -> None:
        self.law, self.row_names, self.commands = law, law.row_names, list[Command]()
        self.active: ActiveConstraints | None = None

    def command(self, state: State) -> Command:
        self.law.active = self.active
        self.commands.append(self.law.command(state))
        return self.commands[-1]

    def tracking_error(self, state: State) -> NDArray[np.float64]:
        return self.law.tracking_error(state)


@pytest.mark.parametrize("planned", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_foot_lifts_without_a_jump_of_efforts(biped: Mechanism, planned: bool) -> None:
    """Its force fades before; its own task begins gently. Stepping down, the force rises."""
    changed = data()
    changed["tasks"]["balance"]["reference"]["value"] = [0.035, 0.085, 0.7]
    begin = biped.start(tasks=Tasks.from_data(changed, biped))
    down = [[0, 0.15], [0.35, 9]] if planned else [[0, 0.15]]
    changed["contacts"]["right_sole"] = {"stands": down}
    lift = "0.02*sin(pi*(t - 0.15)/0.2)**4"
    value = ["0", "-0.09", lift, "0", "0", "0"]
    changed["tasks"]["right_place"]["reference"] = {"type": "expression", "value": value}
    law = ServoController(biped, Tasks.from_data(changed, biped), control_period=PERIOD)
    recording = Recording(law)
    simulate(biped, begin, 0.45, controller=recording, control_period=PERIOD, method="moreau")
    commands = recording.commands
    assert all(pyramids_hold(command) for command in commands)
    assert not any(command.missing for command in commands)
    efforts = np.array([command.efforts for command in commands])
    # N m a period: 40 N m within the ramp of 50 periods; a jump would be all of it
    assert np.abs(np.diff(efforts, axis=0)).max() < 3.0
    right = np.array(
        [
            sum(f[0] for name, f in command.contact_forces.items() if name.startswith("right"))
            for command in commands
        ]
    )
    assert right[80] > 5.0  # N
    assert right[149] < 0.1
    assert not right[151:350].any()
    assert (right[-1] > 5.0) == planned
    errors = np.array([command.tracking_error for command in commands])
    rows = [i for i, name in enumerate(law.row_names) if not name.startswith("left")]
    assert np.abs(errors[160:340][:, rows]).max() < 1e-3  # m or rad, of a foot that moves 0.02 m


def test_what_is_closed_stands_where_contacts_are_detected(biped: Mechanism, start: State) -> None:
    contacts = {"left_sole": {"stands": "detected"}, "right_sole": {"stands": "detected"}}
    law = ServoController(biped, Tasks.from_data(data(contacts=contacts), biped))
    assert len(law.command(start).contact_forces) == 8  # nobody tells: what touches does
    law.active = standing(biped, "left_sole")
    assert set(law.command(start).contact_forces) == {f"left_sole.{x}" for x in CORNERS}
    law.active = standing(biped, "left_sole", "right_sole")
    later = law.command(State(1.0, start.q, start.v))
    assert sum(f[0] for k, f in later.contact_forces.items() if k.startswith("right")) < 0.1  # N
    later = law.command(State(1.1, start.q, start.v))
    # N: after the ramp they carry half of the weight each
    assert total(later)[2] / 2 == pytest.approx(
        sum(f[0] for k, f in later.contact_forces.items() if k.startswith("right")), rel=1e-3
    )


def test_what_is_held_follows_what_is_closed_and_the_plan(biped: Mechanism) -> None:
    """Asked in any order, since the last answer is kept."""
    contacts = {"left_sole": {"stands": "detected"}, "right_sole": {"stands": "detected"}}
    soles = Tasks.from_data(data(contacts=contacts), biped).standing
    assert soles is not None
    both, left = standing(biped, "left_sole", "right_sole"), standing(biped, "left_sole")
    for active, expected in ((None, both), (left, left), (both, both), (left, left), (None, both)):
        assert soles.held(0.0, active)[0].names == expected.names
    planned = Tasks.from_file(FOLDER / "step.yaml", biped).standing
    assert planned is not None
    # s: on both feet, the right one in the air, and on both again
    found = [planned.held(t)[0].names for t in (0.5, 2.0, 0.5)]
    assert found == [both.names, left.names, both.names]


def test_a_foot_that_slips_opens_no_loop(biped: Mechanism, start: State) -> None:
    contacts = {"left_sole": {"stands": "detected"}, "right_sole": {"stands": "detected"}}
    law = ServoController(biped, Tasks.from_data(data(contacts=contacts), biped))
    law.active = standing(biped, "left_sole", "right_sole")
    slipping = State(0.0, start.q, start.v.copy())
    slipping.v[biped.model.bases[0].velocity.start] = 0.1  # m/s
    assert law.loop_closure_error(slipping) < 1e-9  # m: they are assembled


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contacts": {"left": {}}}, 'no contact "left".*left_sole'),
        ({"contacts": {"left_sole": {"stands": [[0.0, 1.0], [0.5, 2.0]]}}}, "one after the other"),
        (
            {"contacts": {"left_sole": {"stands": "sometimes"}}},
            'contacts.left_sole.stands: found "sometimes"; stands is always, detected',
        ),
        (
            {"contacts": {"left_sole": {"friction": 0.8}}},
            "contacts.left_sole.friction: found 0.8; give at most the 0.7 of left_sole.heel_left",
        ),
        ({"contacts": {"left_sole": {}, "left_sole.toe_left": {}}}, "stands already"),
        ({"distribution": "gauss"}, "does not know this"),
        ({"contacts": {"left_sole": {}}}, "right_place.while_lifted.*right_sole"),
    ],
)
def test_mistakes_are_named(biped: Mechanism, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tasks.from_data(data(**change), biped)


def test_contacts_of_the_tasks_file_alone_are_named() -> None:
    described = yaml.safe_load((FOLDER / "biped.yaml").read_text())
    described["model"]["urdf"] = str(FOLDER / described["model"]["urdf"])
    del described["contacts"]
    with pytest.raises(
        InputError, match=r"contacts\.left_sole: the mechanism file has no contacts"
    ):
        Tasks.from_data(data(), Mechanism.from_data(described))


def test_a_task_waits_for_a_contact_only_where_contacts_stand(biped: Mechanism) -> None:
    changed = data()
    del changed["contacts"]
    with pytest.raises(InputError, match="no contact stands"):
        Tasks.from_data(changed, biped)
