# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions of machines that float come back from MCAP as they were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mcap_ros2")

from support.all_joints import URDF
from support.floating_five_bar import floating_five_bar, random_state

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.exceptions import InputError


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


def test_what_messages_have_no_place_for_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all.urdf").write_text(URDF)
    (tmp_path / "all.yaml").write_text("schema: 1\nmodel: {urdf: all.urdf}\n")
    mechanism = Mechanism.from_file(tmp_path / "all.yaml")
    motion = simulate(mechanism, mechanism.start(), 0.01)
    with pytest.raises(InputError, match=r"no place for planar joints.*use \.npz"):
        motion.save(tmp_path / "motion.mcap")
