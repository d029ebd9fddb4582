# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions of machines that float come back from MCAP as they were written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mcap_ros2")

from support.all_joints import URDF
from support.floating_five_bar import floating_five_bar, random_state

from uk_dynamics import Mechanism, State, Trajectory, simulate
from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.recording import mcap_trajectory
from uk_dynamics.simulation.recording.bags import BagReader
from uk_dynamics.simulation.recording.machine_data import MachineData


def test_a_floating_machine_in_mcap(tmp_path: Path) -> None:
    mechanism = Mechanism.from_file(floating_five_bar(tmp_path))
    begin = random_state(mechanism, np.random.default_rng(6))
    motion = simulate(mechanism, begin, 0.2, sample_period=0.02)
    motion.save(tmp_path / "motion.mcap")
    found = Trajectory.load(tmp_path / "motion.mcap")
    assert found.names.positions == mechanism.model.position_names
    assert found.names.velocities == mechanism.model.velocity_names
    for part in ("t", "q", "v", "qdd", "multipliers", "kinetic"):
        # as numbers of 64 bits; stamps in ns
        np.testing.assert_allclose(getattr(found, part), getattr(motion, part), atol=1e-9, rtol=0)
    assert np.isfinite(found.qdd).all()


def test_a_growing_recording_has_the_base_too(tmp_path: Path) -> None:
    mechanism = Mechanism.from_file(floating_five_bar(tmp_path))
    path = tmp_path / "motion.mcap"
    motion = simulate(mechanism, mechanism.start(), 0.1, sample_period=0.02, recording=path)
    found = Trajectory.load(path)
    np.testing.assert_array_equal(found.q, motion.q)


def test_planar_joints_and_floating_ones_with_an_origin(tmp_path: Path) -> None:
    """A moving tree with every type of joint; topics have poses of links, not coordinates."""
    (tmp_path / "all.urdf").write_text(URDF)
    (tmp_path / "all.yaml").write_text("schema: 1\nmodel: {urdf: all.urdf}\n")
    mechanism = Mechanism.from_file(tmp_path / "all.yaml")
    model, rng = mechanism.model, np.random.default_rng(4)
    q = model.integrate(model.neutral(), rng.normal(size=model.nv))
    begin = State(0.0, q, rng.normal(size=model.nv))
    motion = simulate(mechanism, begin, 0.05, sample_period=0.01)
    motion.save(tmp_path / "motion.mcap")
    found = Trajectory.load(tmp_path / "motion.mcap")
    assert found.names.positions == model.position_names
    assert found.names.velocities == model.velocity_names
    for part in ("q", "v", "qdd"):
        # rounding of rotations, of numbers up to 1e3
        np.testing.assert_allclose(getattr(found, part), getattr(motion, part), atol=1e-11, rtol=0)
    messages = list(BagReader(tmp_path / "motion.mcap").messages())
    base = next(m.content for m in messages if m.topic.endswith("/j5/odom"))
    assert (base.header.frame_id, base.child_frame_id) == ("b", "d")
    link = mechanism.pose("d", q, relative_to="b")[0]
    place = base.pose.pose.position
    np.testing.assert_allclose([place.x, place.y, place.z], link, atol=1e-12, rtol=0)  # m


def test_a_recording_of_an_earlier_release_has_links_alone(tmp_path: Path) -> None:
    mechanism = Mechanism.from_file(floating_five_bar(tmp_path))
    machine = MachineData.of(mechanism)
    earlier = replace(machine, floats={name: x["link"] for name, x in machine.floats.items()})
    (found,) = MachineData.from_text(earlier.text()).bases
    (expected,) = mechanism.model.bases
    assert (found.link, found.position, found.velocity) == (
        expected.link,
        expected.position,
        expected.velocity,
    )


def test_coordinates_of_bases_that_nothing_describes_are_refused(tmp_path: Path) -> None:
    mechanism = Mechanism.from_file(floating_five_bar(tmp_path))
    motion = simulate(mechanism, mechanism.start(), 0.01)
    unknown = replace(motion, machine=MachineData())
    with pytest.raises(InputError, match=r"nothing says what floating .*use \.npz"):
        mcap_trajectory.save(unknown, tmp_path / "motion.mcap")
