# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The measured joints of a mechanism: their indices, accuracy, and measurements as arrays."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.resolution import Array, Flags, Values
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import named_numbers

_TURN = 2.0 * np.pi


class Encoders:
    """Joints with an encoder; measurements given as arrays have their order, (d,)."""

    def __init__(self, mechanism: Mechanism, names: Sequence[str] | None = None) -> None:
        self.names, self.deviations = _measured(mechanism, names)
        model = mechanism.model
        self.places = np.array([model.position_index(n) for n in self.names], dtype=np.intp)
        self.columns = np.array([model.velocity_index(n) for n in self.names], dtype=np.intp)
        self.turning = _turning(mechanism, self.names)

    def values(self, values: Values, what: str) -> Array:
        """Measurements in the order of the joints, a new array, (d,)."""
        return named_numbers(values, self.names, "measured joint", what)

    def nearest_turn(self, positions: Array, last: Array) -> Array:
        """Positions (d,), in rad or m, shifted by full turns to be nearest to the last ones."""
        return positions + _TURN * (np.round((last - positions) / _TURN) * self.turning)


def _measured(mechanism: Mechanism, names: Sequence[str] | None) -> tuple[tuple[str, ...], Array]:
    declared = mechanism.measured
    if names is None:
        return declared.names, declared.deviations
    known = dict(zip(declared.names, declared.deviations.tolist(), strict=True))
    expect_names("joint", names, mechanism.joint_names)
    if len(set(names)) < len(names):
        raise InputError(f"a joint is measured twice: {', '.join(names)}")
    return tuple(names), np.array([known.get(name, 1.0) for name in names])


def _turning(mechanism: Mechanism, names: Sequence[str]) -> Flags:
    """Which joints are continuous."""
    joints = {joint.name: joint for joint in mechanism.model.description.joints}
    return np.array(
        [
            name in joints
            and joints[name].type == "revolute"
            and not np.isfinite([joints[name].lower, joints[name].upper]).any()
            for name in names
        ],
        dtype=bool,
    )
