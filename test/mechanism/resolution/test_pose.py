# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where links are, in the world and seen from each other."""

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism

from uk_dynamics.exceptions import StateError, UnknownNameError


def test_an_arm_is_where_trigonometry_says():
    built = mechanism(arm([1.0, 1.0]), "initial_guess: {j1: 0.2}\n")
    place, rotation = built.pose("l2", {"j1": 0.3, "j2": 0.4})
    # about y, which turns x towards -z; the elbow is 1 m away
    assert place == pytest.approx([np.cos(0.3), 0.0, -np.sin(0.3)], abs=1e-15)
    assert rotation[:, 0] == pytest.approx([np.cos(0.7), 0.0, -np.sin(0.7)], abs=1e-15)
    place, rotation = built.pose("l2", np.array([0.3, 0.4]), relative_to="l1")
    assert place == pytest.approx([1.0, 0.0, 0.0], abs=1e-15)
    assert rotation[:, 0] == pytest.approx([np.cos(0.4), 0.0, -np.sin(0.4)], abs=1e-15)
    there, turned = built.pose("base", [0.3, 0.4], relative_to="l2")
    assert turned @ built.pose("l2", [0.3, 0.4])[0] + there == pytest.approx(np.zeros(3), abs=1e-15)
    assert built.pose("l2")[0] == pytest.approx([np.cos(0.2), 0.0, -np.sin(0.2)], abs=1e-15)


def test_what_does_not_exist_is_named():
    built = mechanism(arm([1.0, 1.0]))
    with pytest.raises(UnknownNameError, match='no link "l9"'):
        built.pose("l9")
    with pytest.raises(UnknownNameError, match='no link "bas"'):
        built.pose("l1", relative_to="bas")
    with pytest.raises(StateError):
        built.pose("l1", [0.0])
