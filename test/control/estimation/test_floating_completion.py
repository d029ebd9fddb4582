# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Passive joints of machines that float, wherever they are and whatever holds them in the world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.floating_five_bar import floating_five_bar, random_state

from uk_dynamics import Mechanism
from uk_dynamics.control.estimation import StateCompletion

FOOT = "  foot: {type: point, parent: {link: world}, child: {link: ground}}\n"


@pytest.mark.parametrize("stands", [False, True])
def test_passive_joints_follow_from_loops_alone(stands: bool, tmp_path: Path) -> None:
    file = floating_five_bar(tmp_path)
    free = Mechanism.from_file(file)
    file.write_text(file.read_text() + FOOT * stands)
    mechanism = Mechanism.from_file(file)
    completion = StateCompletion(mechanism, ["crank"])
    rng = np.random.default_rng(1)
    places, base = mechanism.model.joint_places, mechanism.model.bases[0]
    for number in range(20):
        state = random_state(free, rng)
        crank = mechanism.model.position_index("crank")
        rate = state.v[mechanism.model.velocity_index("crank")]
        told = state if number % 2 else None
        found = completion.complete([state.q[crank]], [rate], bases=told)
        assert found.usable
        # rounding of angles of size one, times the condition of the loops
        np.testing.assert_allclose(found.q[places[0]], state.q[places[0]], atol=1e-10, rtol=0)
        np.testing.assert_allclose(found.v[places[1]], state.v[places[1]], atol=1e-10, rtol=0)
        expected = state.v if told else np.zeros(mechanism.model.nv)
        assert (found.v[base.velocity] == expected[base.velocity]).all()
        if told:
            # its quaternion is normalised again
            np.testing.assert_allclose(
                found.q[base.position], state.q[base.position], atol=1e-15, rtol=0
            )
        J = completion.sensitivity()
        assert not J[base.velocity].any()
