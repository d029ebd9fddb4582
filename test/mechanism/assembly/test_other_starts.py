# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where the first search ends in a dead end: other starts, and reasons that are right."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.exceptions import AssemblyError

AXES = ("0 0 1", "0 1 0", "1 0 0", "0 1 0", "0 0 1", "1 0 0", "0 1 0")


def ring():
    """A spatial chain of seven links, whose end a hinge brings back to the base."""
    parts = link("l0")
    for number, axis in enumerate(AXES, start=1):
        parts += link(f"l{number}", com="0.2 0 0")
        parts += joint(f"j{number}", f"l{number - 1}", f"l{number}", axis=axis, xyz="0.4 0 0")
    ends = "parent: {link: l0}, child: {link: l7, xyz: [0.4, 0, 0]}"
    return mechanism(parts, f"constraints: {{pin: {{type: hinge, axis: [0, 0, 1], {ends}}}}}")


def test_hinges_close_from_random_guesses():
    """Of starts that the search leads to opposed axes, too."""
    machine, chance = ring(), np.random.default_rng(1)
    for _ in range(40):
        found = machine.assembly(chance.uniform(-np.pi, np.pi, len(AXES)))
        assert found.closed, found.reason
        assert max(found.violations.values()) < 1e-9


def test_a_loop_that_no_joint_moves_is_not_a_matter_of_the_guess():
    parts = link("base") + link("arm", com="0.5 0 0") + joint("j", "base", "arm")
    parts += link("tool") + joint("fixed", "arm", "tool", kind="fixed")
    ends = "parent: {link: arm}, child: {link: tool, xyz: [0.1, 0, 0]}"
    machine = mechanism(parts, f"constraints: {{pin: {{type: point, {ends}}}}}")
    with pytest.raises(
        AssemblyError, match="no joint that is free moves what pin connects"
    ) as said:
        machine.assemble()
    assert "initial_guess" not in str(said.value)
