# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A pose: origin and rotation vector of one frame in another, or some of their components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds import keys
from uk_dynamics.constraints.kinds.kind import Friction, Kind, SampleRobot, Setting
from uk_dynamics.constraints.kinds.selections import AXES, ROTATION_AXES
from uk_dynamics.constraints.rows.frame_rows import AngularRow, LinearRow
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationVectorRow
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import MechanismFileError


@dataclass(frozen=True)
class Frame(Kind):
    """Pose of the child in the parent."""

    axes: tuple[str, ...]  # the constrained components, of x y z rx ry rz, in declared order
    name = "frame"
    removes = "one per axis"
    per = "axes"
    summary = "held: origin and rotation vector of the child in the parent frame"
    example = "hand: {type: frame, axes: [x, y, z], parent: {link: base}, child: {link: tool}}"
    keys: ClassVar = {"axes": keys.AXES}
    required = ("axes",)
    friction = Friction("against all motion that is free, by the force along the held axes")

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """A row per axis, in declared order.

        A complete rotation may use the angular velocity as its rate; parts of one may not, since
        ω_x = 0 alone constrains no coordinate.
        """
        rotation = AngularRow if set(ROTATION_AXES) <= set(self.axes) else RotationVectorRow
        return tuple(
            LinearRow(label, AXES[label])
            if label in AXES
            else rotation(label, ROTATION_AXES[label])
            for label in self.axes
        )

    def check_friction(self, coulomb: float, radius: float | None) -> None:
        """See :meth:`Kind.check_friction`."""
        if coulomb and not set(self.axes) & set(AXES):
            problem = (
                "Coulomb friction needs the force across the joint, but no translation is"
                " constrained; keep viscous alone, or add x, y or z to axes"
            )
            raise MechanismFileError(problem, place="coulomb")
        if coulomb and radius is None:
            problem = (
                "which way a frame moves is not known here; give the radius of the pin on which it"
                " turns, for example radius: 0.01, or radius: 0 where it only slides"
            )
            raise MechanismFileError(problem, place="radius")

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Some axes in any order, a translation among them, and not a complete rotation."""
        labels = ("x", "y", "z", "rx", "ry", "rz")
        return {"axes": random_axes(rng, [a for a in labels if a != rng.choice(labels[3:])], "xyz")}


def random_axes(
    rng: np.random.Generator, labels: Sequence[str], one_of: Sequence[str]
) -> list[str]:
    """Two or more labels in any order for samples, one of some of them."""
    first = str(rng.choice(list(one_of)))
    others = [label for label in labels if label != first]
    chosen = rng.permutation(others)[: rng.integers(1, len(others) + 1)]
    return [str(label) for label in rng.permutation([first, *chosen])]
