# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a kind of constraint declares; everything that lists or uses kinds is derived from it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.constraints.kinds.keys import AXIS, read_value
from uk_dynamics.constraints.rows.frame_rows import AlignmentRow, AngularRow, LinearRow
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationVectorRow
from uk_dynamics.constraints.rows.row import Direction, Row
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.model import RobotModel

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """The robot on which a constraint is."""

    model: RobotModel  # the robot
    frames: Mapping[str, int]  # frame index of ``parent`` and ``child``, as far as there are
    links: Mapping[str, str]  # links that carry them


class SampleRobot(NamedTuple):
    """Names that a random sample may use."""

    joints: Sequence[str]  # Joints of one freedom; at least two
    links: Sequence[str]  # Links with mass, at least one of them moving


@dataclass(frozen=True)
class Friction:
    """How friction acts in a kind; see :mod:`uk_dynamics.forces.loop_and_contact_friction`."""

    acts: str  # One line of documentation
    # What it turns on, whose radius gives the torque of dry friction; empty: a slide
    turns_on: str = ""
    refusal: str = ""  # Why there can be none; empty: there can


class Surfaces(NamedTuple):
    """Which motion slides in a joint, and which rows load it; directions in the parent frame."""

    held: Sequence[Direction]  # Translations that the joint does not allow, orthonormal
    held_turns: Sequence[Direction]  # Rotations that it does not allow, orthonormal
    loads: Sequence[Direction]  # Force across the sliding surfaces per unit multiplier of each row
    # Axes of turning fixed in the parent, and in the child, where these are not what is not held
    arms: Sequence[Direction] = ()


class Kind(ABC):
    """A kind of constraint; its instances are what a file says about one such constraint.

    Sub-classes are frozen dataclasses of their keys. What they declare:
    """

    name: ClassVar[str]  # what files call it: ``type: name``
    removes: ClassVar[int | str]  # how many rows it has, or of what there is one row each
    per: ClassVar[str] = ""  # field with one entry per row, where ``removes`` is no number
    order: ClassVar[str] = "position"  # level at which its rows are declared, in words
    summary: ClassVar[str]  # what stays free, or is held, in one line
    example: ClassVar[str]  # an entry of a file, in YAML
    # which of ``parent`` and ``child`` it needs
    frames: ClassVar[tuple[str, ...]] = ("parent", "child")
    optional_frames: ClassVar[tuple[str, ...]] = ()  # which of them it may have
    # its own keys with their JSON Schema, whose title is the key unless they have another;
    # ``x-unit`` says the unit
    keys: ClassVar[Mapping[str, Data]] = {}
    required: ClassVar[tuple[str, ...]] = ()  # those of them that have to be there
    number: ClassVar[str] = ""  # key and field of the number that it holds; empty: there is none
    conditions: ClassVar[Data] = {}  # further JSON Schema of an entry, such as ``oneOf``
    # how joint friction acts; None: the key ``friction`` is not known
    friction: ClassVar[Friction | None] = None
    # what others call it, by format or library, such as ``SDF`` or ``Drake``
    foreign_names: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # keys with which ``init`` tries it where a loop is cut, by what it calls the choice
    cuts: ClassVar[Mapping[str, Data]] = {}

    @classmethod
    def from_data(cls, data: Data) -> "Kind":
        """Build it from data that fit the schema: by default each key is the field of its name.

        Raises:
            MechanismFileError: They make no such constraint; its place is the key.
        """
        given = {
            key: read_value(data[key], rule, key) for key, rule in cls.keys.items() if key in data
        }
        return cls(**given)

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return self.removes if isinstance(self.removes, int) else len(getattr(self, self.per))

    @abstractmethod
    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The rows on a robot, always in the same order.

        Raises:
            InputError: Names or links that cannot be used; its place is the key.
        """

    def shifted(self, amount: float) -> "Kind | None":
        """The same with its number larger by an amount; None: no number is held, or not this."""
        if not self.number:
            return None
        found = getattr(self, self.number) + amount
        if found <= self.keys[self.number].get("exclusiveMinimum", -np.inf):
            return None
        return replace(self, **{self.number: found})  # type: ignore[type-var]  # of sub-classes

    def check_friction(self, coulomb: float, radius: float | None) -> None:
        """See that declared friction can act; None: no radius of the pin, in m, is declared.

        Raises MechanismFileError: It cannot; its place is the key of ``friction``.
        """
        if coulomb and not radius and self.friction and self.friction.turns_on:
            problem = (
                f'a joint of type "{self.name}" turns on {self.friction.turns_on}, whose'
                " radius gives the torque; give for example radius: 0.01"
            )
            raise MechanismFileError(problem, place="radius")

    def surfaces(self, rows: Sequence[Row]) -> Surfaces:
        """What slides, of a kind with friction: by default what no row holds, loaded by forces."""
        held = [row.direction for row in rows if isinstance(row, LinearRow)]
        turns = []
        for row in rows:
            if isinstance(row, AngularRow | RotationVectorRow):
                turns.append(row.direction)
            elif isinstance(row, AlignmentRow):
                x, y, z = np.cross(row.child, row.parent).tolist()
                turns.append((x, y, z))
        loads = [row.direction if isinstance(row, LinearRow) else (0.0, 0.0, 0.0) for row in rows]
        return Surfaces(held, turns, loads)

    def trajectory_name(self, constraint: str) -> str | None:
        """What a JointTrajectory calls a task of this kind; None: it cannot be driven by one."""
        return None

    @classmethod
    def of_axes(cls, axes: Sequence[Direction], pitch: float) -> dict[str, Any] | None:
        """Own keys of a joint as robot descriptions have it; None: there is no such constraint.

        Unit axes in the joint's frame, the first fixed in the parent, a second one in the child;
        pitch of a screw in m per turn.
        """
        return {"axis": list(axes[0])} if "axis" in cls.keys else {}

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Own keys of a random constraint, for tests."""
        return {key: random_axis(rng) for key in cls.keys if key == "axis"}


@dataclass(frozen=True)
class AxisKind(Kind):
    """A kind whose only key is an axis."""

    axis: Direction  # Unit vector in the parent frame
    keys: ClassVar = {"axis": AXIS}
    required = ("axis",)


def random_axis(rng: np.random.Generator) -> list[float]:
    """A direction of any length for samples, (3,)."""
    axis: list[float] = rng.normal(size=3).round(3).tolist()
    return axis
