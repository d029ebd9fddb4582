# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines of the examples that touch, hold and hang: forces balance, and change when they must."""

from __future__ import annotations

import numpy as np
import pytest
from support.repository import ROOT

from uk_dynamics import Mechanism, ServoController, Tasks, Trajectory, simulate
from uk_dynamics.constraints.rows import MassPoints
from uk_dynamics.mechanism.resolution.state import State

G = 9.81
# Steps of 1 ms: forces that change over time are means over a step, half a step early
STEP = 1e-3


def machine(name: str) -> Mechanism:
    return Mechanism.from_file(ROOT / "examples" / name / f"{name}.yaml")


def at(motion: Trajectory, t: float) -> int:
    return int(np.searchsorted(motion.t, t - 1e-9))


@pytest.mark.slow
def test_a_block_is_held_by_friction_and_falls_when_the_grip_is_too_weak():
    mechanism = machine("block_grip")
    motion = simulate(mechanism, mechanism.start(), 1.8, method="moreau")
    pads = [motion.contact(name) for name in motion.contacts if "pad" in name]
    mass = next(x.mass for x in mechanism.model.description.links if x.name == "block")
    held = at(motion, 1.15)
    # held at rest, after the drive has settled within 1e-4 N
    carried = sum(np.hypot(*pad.friction[held]) for pad in pads)
    assert carried == pytest.approx(mass * G, abs=1e-3)
    assert motion.position("block_z")[held] - 0.023 == pytest.approx(0.08, abs=5e-4)
    # it slips when the friction of all pads is its weight, and not before
    slips = [e.t for e in motion.switchings if e.changes.get("left_pad.top.sticking") is False]
    assert len(slips) == 1
    sampled = at(motion, slips[0] - 0.03), at(motion, slips[0])
    possible = [0.6 * sum(pad.normal[k] for pad in pads) for k in sampled]
    assert possible[0] > mass * G > possible[1] - 0.1  # N, of a sample of 10 ms
    t = motion.t
    weak = 0.6 * sum(pad.normal for pad in pads)
    before = (t > 1.25) & (t < slips[0] - 0.01)
    line = np.polyfit(t[before], weak[before], 1)  # the air leaves at a constant rate
    assert (mass * G - line[1]) / line[0] == pytest.approx(slips[0], abs=3 * STEP)
    # then it falls, braked by the little that the fingers' weight presses, and lies on the table
    assert motion.position("block_z")[-1] == pytest.approx(0.023, abs=1e-9)
    assert min(motion.contact(name).gap.min() for name in motion.contacts) > -1e-9
    free = (t > 1.62) & (t < 1.67)
    fall = np.polyfit(t[free], motion.position("block_z")[free], 2)[0] * 2.0
    pressed = 0.6 * sum(pad.normal for pad in pads)[free].mean() / mass
    assert fall == pytest.approx(pressed - G, abs=1e-2)  # m/s²; of differences over 10 ms


@pytest.mark.slow
def test_a_platform_falls_into_its_stops():
    """All legs strike at once: a mechanism of one freedom, with Newton's law for its energy."""
    mechanism = machine("stewart_drop")
    motion = simulate(mechanism, mechanism.start(), 0.6)
    names = [f"leg_{k}_slide.lower_stop" for k in range(1, 7)]
    bounces = [e for e in motion.switchings if not any(e.changes.values())]
    assert len(bounces) >= 6
    lost = np.array([event.energy_lost for event in bounces])
    # restitution 0.2 keeps a 25th of the energy; damping takes its part of high flights only
    np.testing.assert_allclose(lost[4:7] / lost[3:6], 0.04, rtol=0, atol=1e-4)
    assert np.abs(motion.residual).max() < 1e-12
    # virtual work at rest: six equal forces for the change of potential energy with the stroke
    forces = [motion.contact(name).normal[-1] for name in names]

    def potential(stroke: float) -> float:
        guess = {f"leg_{k}_slide": stroke for k in range(1, 7)} | {"platform_z": 0.46}
        q = mechanism.assemble(guess, hold=[f"leg_{k}_slide" for k in range(1, 7)])
        return mechanism.energy(State(0.0, q, np.zeros(mechanism.model.nv))).potential

    near, far = ((potential(x) - potential(0.0)) / x for x in (2e-4, 4e-4))
    work = 2.0 * near - far  # to second order in the stroke
    np.testing.assert_allclose(forces, work / 6.0, rtol=0, atol=1e-2)  # N, of differences


@pytest.mark.slow
@pytest.mark.parametrize(("name", "closed"), [("stewart_drop", 6), ("block_grip", 4)])
def test_what_rests_neither_sinks_nor_creeps_nor_gains_energy_for_a_minute(name, closed):
    """Stops that redundant loops load, and a block that friction holds with redundant contacts."""
    mechanism = machine(name)
    motion = simulate(
        mechanism, mechanism.start(), 62.0, method="moreau", sample_period=0.1, backend="compiled"
    )
    rests = motion.t > 2.0
    assert np.diff(motion.energy[rests]).max() < 1e-12 * abs(motion.energy[0])
    assert np.abs(motion.v[rests]).max() < 1e-10
    touching = [motion.contact(name) for name in motion.contacts]
    touching = [one for one in touching if one.closed[rests].any()]
    assert len(touching) >= closed
    for one in touching:
        assert one.closed[rests].all()
        assert np.abs(one.gap[rests]).max() < 1e-12
        assert np.abs(one.slip[rests]).max(initial=0.0) < 1e-12


@pytest.mark.slow
def test_a_rope_goes_slack_when_the_load_stands_and_lifts_it_again():
    mechanism = machine("rope_crane")
    tasks = Tasks.from_file(ROOT / "examples" / "rope_crane" / "lift.yaml", mechanism)
    controller = ServoController(mechanism, tasks, control_period=0.01)
    motion = simulate(
        mechanism,
        mechanism.start(),
        4.0,
        controller=controller,
        control_period=0.01,
        method="moreau",
        step=2e-3,
    )
    rope, ground = motion.contact("rope"), motion.contact("ground")
    assert min(rope.gap.min(), ground.gap.min()) > -1e-9
    stands = (motion.t > 0.7) & (motion.t < 3.3)
    np.testing.assert_allclose(ground.normal[stands], 100.0 * G, rtol=0, atol=1e-6)
    assert not rope.normal[stands].any()
    assert np.ptp(motion.position("load_x")[stands]) < 1e-12
    # the rope is slack while the tip is less than rope and load above the ground
    slack = 2.5 + 3.0 * np.sin(motion.position("boom")) < 3.5
    clear = np.abs(2.5 + 3.0 * np.sin(motion.position("boom")) - 3.5) > 5e-3  # m, of 20 ms
    assert ((rope.normal == 0.0) == slack)[clear & (motion.t > 0.05)].all()
    # Newton's second law of the load, hanging and standing
    hangs = (motion.t > 0.1) & (motion.t < 0.5)
    tip = motion.position("boom")
    across = motion.position("load_x") - 3.0 * np.cos(tip)
    upwards = rope.normal * np.sqrt(1.0 - (across / 3.0) ** 2)
    index = mechanism.model.velocity_names.index("load_z")
    np.testing.assert_allclose(
        (upwards + ground.normal)[hangs], 100.0 * (G + motion.qdd[hangs, index]), rtol=0, atol=1e-3
    )


@pytest.mark.slow
def test_an_excavator_lifts_itself_and_its_weight_is_on_teeth_and_rear_edge():
    mechanism = machine("excavator_lift")
    motion = simulate(mechanism, mechanism.start(), 4.0, method="moreau")
    found = {name.split(".")[-1]: motion.contact(name) for name in motion.contacts}
    assert np.abs(motion.residual).max() < 1e-12
    last = {name: contact.normal[-1] for name, contact in found.items()}
    assert found["front_left"].gap[-1] > 0.3
    assert last["front_left"] == last["front_right"] == 0.0
    weight = mechanism.model.total_mass * G
    # N of 80,000: springs and cylinders have come to rest to 1e-4
    assert sum(last.values()) == pytest.approx(weight, abs=20.0)
    # moments about the rear edge
    q = motion.q[-1]
    workspace = mechanism.model.workspace()
    workspace.update_positions(q)
    names = mechanism.model.link_names
    centre = MassPoints.of(names, mechanism.model).position(workspace)
    tracks, turned = mechanism.pose("tracks", q)
    edge = tracks + turned @ np.array([-1.05, 0.0, 0.0])
    teeth, _ = mechanism.pose("teeth", q)
    lever = (centre - edge)[0] / (teeth - edge)[0]
    assert last["teeth"] == pytest.approx(weight * lever, abs=20.0)
    assert last["rear_left"] == pytest.approx(last["rear_right"], abs=1.0)
