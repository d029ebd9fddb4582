# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion against Pinocchio's, which has formulas of its own for them."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import cases, joint, link, near, shipped

from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer


# Differences of passive forces are exact to 1e-9. The rows of the five-bar are redundant beyond
# those out of its plane, and Pinocchio regularises them with 1e-8, over and over.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "relative"),
    [
        *(("four_bar", 1e-8), ("rrr3", 1e-8), ("stewart_platform", 1e-8), ("dual_panda", 1e-8)),
        ("five_bar", 1e-5),
    ],
)
def test_derivatives_by_positions_velocities_and_forces(name: str, relative: float) -> None:
    """Along all motions that the loops allow; planar loops have a redundant row there."""
    mechanism = _with_a_slide(shipped(name))
    assert mechanism.model.velocity_names[0] == "slide"
    derivatives, peer = MotionDerivatives(mechanism, "interpreted"), PinocchioPeer(mechanism)
    for state, inputs, _ in cases(mechanism, 5):
        tau = inputs.tau
        found = derivatives.at(state, Inputs(tau, stabilize=False))
        by_q, by_v, by_tau = peer.slopes(state, tau)
        own = np.hstack([found.acceleration.q, found.acceleration.v]) @ found.motions
        size = np.abs(found.acceleration.q).max()
        near(np.hstack([by_q, by_v]) @ found.motions, own, size, relative)
        near(by_tau, found.acceleration.tau, relative=relative)


def _with_a_slide(mechanism: Mechanism) -> Mechanism:
    """The same with a mass of its own on the first joint, whose column is right in Pinocchio.

    It is wrong where that joint turns, and the rows are points (PinocchioPeer.slopes).
    """
    description = mechanism.model.description
    slide = joint("slide", description.root, "weight", kind="prismatic", limits=(-1.0, 1.0))
    first = description.text.index("<link ")
    text = description.text[:first] + link("weight") + slide + description.text[first:]
    return Mechanism.from_spec(mechanism.spec, robot_description=text)
