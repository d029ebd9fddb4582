# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pins in slots, which other formats say by a light slider: the machine moves as it did."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism

from uk_dynamics.conversion import export_mechanism
from uk_dynamics.conversion.importing import import_file

SLOT = """
model: {{length: 1.0}}
actuators: {{m: {{joint: j1, effort_limit: 3.0}}}}
initial_guess: {{j1: -0.6, j2: 1.3}}
constraints:
  slot: {{type: frame, axes: {axes}, parent: {{link: base, xyz: [0, 0, {height}],
    rpy: [0, {tilt}, 0]}}, child: {{link: l2, xyz: [0.5, 0, 0]}}}}
"""


@pytest.mark.parametrize("to", ["sdf", "mjcf", "gepetto", "urdf-constraint"])
@pytest.mark.parametrize(("axes", "height", "tilt"), [("[z]", 0.0, 0.0), ("[y, z]", 0.1, 0.3)])
def test_a_pin_in_a_slot_moves_as_it_did(to, axes, height, tilt, tmp_path):
    if to == "mjcf":
        pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
    ours = mechanism(arm([0.5, 0.8]), SLOT.format(axes=axes, height=height, tilt=tilt))
    found = export_mechanism(ours, to)
    assert not found.missing
    assert any("slot_slider" in remark.reason for remark in found.remarks)
    for name, text in found.texts.items():
        (tmp_path / name).write_text(text)
    first = tmp_path / next(iter(found.texts))
    if to == "urdf-constraint":
        assert "slot_slider" in first.read_text()
        return
    theirs = import_file(first).load()
    state = ours.state(ours.assemble())
    near = {x: q - found.zero.get(x, 0.0) for x, q in zip(ours.joint_names, state.q, strict=True)}
    there = theirs.state(theirs.assemble(near, hold=near))
    expected = ours.dynamics("interpreted").evaluate(state)
    answer = theirs.dynamics("interpreted").evaluate(there)
    qdd = [answer.qdd[theirs.model.velocity_index(joint)] for joint in ours.joint_names]
    # the slider has a millionth of the mass
    np.testing.assert_allclose(qdd, expected.qdd, rtol=0, atol=1e-4)


def test_what_slides_along_nothing_stays_missing():
    """In space a frame of one axis is no line: two translations are free."""
    ours = mechanism(
        arm([0.5, 0.8, 0.3]).replace('"0 1 0"', '"1 0 0"', 1),
        "constraints: {slot: {type: frame, axes: [z], parent: {link: base},"
        " child: {link: l3, xyz: [0.2, 0.1, 0]}}}\ninitial_guess: {j2: 0.4, j3: -1.0}\n",
    )
    assert export_mechanism(ours, "sdf").missing
