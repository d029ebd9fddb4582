# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts are drawn where they touch, with forces that cause the motion, within their cones."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import link, mechanism

from uk_dynamics import simulate
from uk_dynamics.colours import CONTACT_OPEN, CONTACT_SLIPS, CONTACT_STICKS
from uk_dynamics.core.contact import Mode
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import Playback
from uk_dynamics.viewing.scene.contact_marks import ContactMarks
from uk_dynamics.viewing.scene.marks import Marker

G = 9.81
CART = """
model: {root: floating}
contacts:
  foot:
    parent: {link: world, rpy: [0.3, 0, 0]}
    child: {link: cart}
    points: {a: [-0.3, -0.1, 0], b: [-0.3, 0.1, 0], c: [0.3, -0.1, 0], d: [0.3, 0.1, 0]}
    friction: 0.5
  ball: {parent: {link: world, xyz: [0, 0, -2]}, child: {link: cart}, radius: 0.25}
"""
# a machine whose axes are those of the slope
TURNED = [0.0, 0.0, 0.0, np.sin(0.15), 0.0, 0.0, np.cos(0.15)]


def drawn(machine: Mechanism, state: State) -> ContactMarks:
    marker, dynamics = Marker(machine), machine.dynamics("interpreted")
    inputs = marker.contacts.acting(state, Inputs())
    solution = dynamics.evaluate(state, inputs)
    residual = dynamics.residual(state, inputs).position
    return marker.marks(state, residual, solution, inputs=inputs).contacts


def tips_in_cones(marks: ContactMarks) -> np.ndarray:
    """How far along the radius of its cone each force is."""
    rims = marks.cones(1.0)[:4, :16, 0]
    middle = rims.mean(axis=1)
    radius = np.linalg.norm(rims - middle[:, None], axis=2)
    np.testing.assert_allclose(radius, radius[:, :1] * np.ones(16), rtol=0, atol=1e-12)
    tips = marks.points[:4] + marks.forces[:4]
    return np.linalg.norm(tips - middle, axis=1) / radius[:, 0]


def test_forces_of_what_sticks_hold_its_weight():
    machine = mechanism(link("cart", 2.0, 0.05), CART)
    marks = drawn(machine, machine.state(TURNED, [0.0] * 6))
    # solved to 1e-12 of 20 N
    np.testing.assert_allclose(marks.forces.sum(axis=0), [0.0, 0.0, 2.0 * G], rtol=0, atol=1e-9)
    assert (tips_in_cones(marks) < 1.0).all()
    assert marks.colours.tolist() == [list(CONTACT_STICKS)] * 4 + [list(CONTACT_OPEN)]
    assert not marks.determined[:4].any()
    up = np.array([0.0, np.cos(0.3), np.sin(0.3)])
    feet = [[x, 0.0, 0.0] + y * up for x in (-0.3, 0.3) for y in (-0.1, 0.1)]
    np.testing.assert_allclose(marks.points[:4], feet, rtol=0, atol=1e-12)
    np.testing.assert_allclose(marks.points[4], [0.0, 0.0, -0.25], rtol=0, atol=1e-12)


def test_what_slides_has_its_force_on_the_rim_against_the_motion():
    machine = mechanism(link("cart", 2.0, 0.05), CART)
    state = machine.state(TURNED, [0.3, -0.4, 0.0, 0.0, 0.0, 0.0])
    marks = drawn(machine, state)
    np.testing.assert_allclose(tips_in_cones(marks), 1.0, rtol=0, atol=1e-9)
    assert marks.colours[:4].tolist() == [list(CONTACT_SLIPS)] * 4
    velocity = np.array([0.3, -0.4 * np.cos(0.3), -0.4 * np.sin(0.3)])
    along = marks.forces[:4] - (marks.forces[:4] @ marks.axes[0, 0])[:, None] * marks.axes[0, 0]
    cosine = along @ velocity / (0.5 * np.linalg.norm(along, axis=1))
    np.testing.assert_allclose(cosine, -1.0, rtol=0, atol=1e-9)


def test_a_recording_shows_what_its_contacts_do():
    """A cart that slides up a slope, stops, and slides down again or stays."""
    machine = mechanism(link("cart", 2.0, 0.05), CART)
    start = machine.state(TURNED, [0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    motion = simulate(machine, start, 0.2, method="moreau")
    source, marker = Playback(machine, motion), Marker(machine)
    modes = []
    for t in (0.02, 0.19):
        source.seek(t)
        snapshot = source.frame(0.0)
        inputs = marker.contacts.acting(snapshot.state, snapshot.inputs)
        solution = machine.dynamics("interpreted").evaluate(snapshot.state, inputs)
        marks = marker.contacts.marks(snapshot.state, inputs, solution)
        modes.append({one.mode for one in marks.contacts[:4]})
        normal = sum(one.force[0] for one in marks.contacts[:4])
        assert normal == pytest.approx(2.0 * G * np.cos(0.3), abs=1e-6)  # N
    assert modes == [{Mode.SLIP}, {Mode.STICK}]


def test_without_dynamics_there_are_places_and_no_forces():
    machine = mechanism(link("cart", 2.0, 0.05), CART)
    marker = Marker(machine)
    marks = marker.contacts.marks(machine.state(TURNED, [0.0] * 6), Inputs(), None)
    assert not marks.forces.any()
    assert {one.mode for one in marks.contacts} == {Mode.OPEN}
    assert not (marks.cones(1.0) - marks.points[:, None, None]).any()


def test_a_ball_touches_a_bowl_where_its_surface_does():
    bowl = "{type: sphere, radius: 1.0, hollow: true}"
    machine = mechanism(
        link("ball", 2.0, 0.05),
        "model: {root: floating}\ncontacts: {bowl: {parent: {link: world}, child: {link: ball},"
        f" radius: 0.25, surface: {bowl}}}}}",
    )
    out = np.array([0.6, 0.0, -0.8])
    state = machine.state([*(0.75 * out), 0.0, 0.0, 0.0, 1.0], [0.0] * 6)
    marks = drawn(machine, state)
    np.testing.assert_allclose(marks.points[0], out, rtol=0, atol=1e-12)
    # smooth: it carries what of its weight is along the normal
    np.testing.assert_allclose(marks.forces[0], -0.8 * 2.0 * G * out, rtol=0, atol=1e-9)
