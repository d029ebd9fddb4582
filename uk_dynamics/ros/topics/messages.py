# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages to arrays and arrays to messages, by name.

Outgoing messages are made once; their fields are written in place. A reader of incoming messages
never raises for what a message holds: it returns the problem as text, and its arrays stay as they
were.

Active switchable constraints and closed contacts are a latched JointState: ``name`` lists their
rows, ``position`` the values captured at their activation. Contacts that slide have their rows of
sticking, too, with the unit direction of sliding in ``velocity``, which is zero for all others.
"""

import importlib
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.did_you_mean import some
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import ActiveConstraints, Actuators, Array, Indices
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.topics.serialized import SerializedJointState

# Larger numbers are mistakes of the sender, and their squares overflow.
LARGEST = 1e100
_REPRESENTABLE = 1e-9
_SHOWN = 3


Numbers: TypeAlias = "array[float] | memoryview[float]"
JointNumbers: TypeAlias = JointState | SerializedJointState


def view(values: Numbers) -> Array:
    """A ``float64[]`` field as an array that shares its memory; NumPy refuses empty buffers."""
    return np.frombuffer(values) if len(values) else np.zeros(0)


def first_unusable(values: Array) -> int | None:
    """Index of the first number that is not finite or absurdly large, None where there is none."""
    usable = np.abs(values) < LARGEST  # false for nan
    return None if usable.all() else int(np.argmin(usable))


def message_type(name: str, topic: str) -> Any:
    """The class of a message type such as ``sensor_msgs/msg/JointState``, that of a topic."""
    package, _, kind = name.replace("/msg/", "/").partition("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), kind)
    except (ImportError, AttributeError):
        problem = f"type {name} is not installed here; install {package}"
        raise InputError(problem, place=topic) from None


class MotionMessage:
    """A JointTrajectory of one point that is sent again and again."""

    def __init__(self, names: Sequence[str]) -> None:
        point = JointTrajectoryPoint()
        size = len(names)
        point.positions, point.velocities, point.accelerations = (
            array("d", bytes(8 * size)) for _ in range(3)
        )
        self.message = JointTrajectory(joint_names=list(names), points=[point])
        # the fields hold copies of what they were set to
        self._fields = tuple(map(view, (point.positions, point.velocities, point.accelerations)))

    def write(self, stamp: Time, *motion: Array | float) -> JointTrajectory:
        """Write the stamp, positions, velocities and accelerations; return the message."""
        self.message.header.stamp = stamp
        for field, values in zip(self._fields, motion, strict=True):
            field[:] = values
        return self.message


def wrench_message(stamp: Time, frame: str, values: Array) -> WrenchStamped:
    """A wrench of force in N and torque in N·m, (6,), in a frame."""
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = values.tolist()
    return message


class NameIndex:
    """Where wanted names are in a message; remembered as long as the names stay the same."""

    def __init__(self, wanted: Sequence[str], *, complete: bool) -> None:
        """``complete``: whether a message must have all of the wanted names."""
        self.wanted = tuple(wanted)  # the names looked for
        self.problem = ""  # why the names of the last message are not valid; empty when they are
        self.unknown: tuple[str, ...] = ()  # names of the last message that are not wanted
        # indices of the wanted names in the message
        self.source: Indices = np.zeros(0, dtype=np.intp)
        # indices of the same names among the wanted ones
        self.target: Indices = np.zeros(0, dtype=np.intp)
        self.same = False  # whether the names of the message are the wanted ones in their order
        self._complete = complete
        self._places = {name: place for place, name in enumerate(wanted)}
        self._names: list[str] | None = None

    def sort(self, values: Numbers, out: Array) -> None:
        """Copy the wanted numbers of a field, (names,), to ``out``, (wanted,); others stay."""
        if self.same:
            out[:] = values
        else:
            out[self.target] = view(values)[self.source]

    def check(self, message: JointNumbers, needed: Sequence[str], optional: Sequence[str]) -> str:
        """Find the names of a message, and compare the sizes of its fields; return the problem.

        Fields that are not ``needed`` may be empty.
        """
        names = message.name
        if names != self._names:
            self._names = list(names)
            known = [(here, self._places[n]) for here, n in enumerate(names) if n in self._places]
            self.source = np.array([here for here, _ in known], dtype=np.intp)
            self.target = np.array([there for _, there in known], dtype=np.intp)
            self.same = self.wanted == tuple(names)
            self.unknown = tuple(name for name in names if name not in self._places)
            self.problem = self._check(names)
        if self.problem:
            return self.problem
        for field in (*needed, *optional):
            size = len(getattr(message, field))
            if size != len(names) and (size or field in needed):
                return (
                    f"{size} numbers in {field}, expected {len(names)}" if size else f"no {field}"
                )
        return ""

    def unusable(self, values: Numbers, field: str) -> str:
        """Problem with the first number of a wanted name that cannot be used, empty if none."""
        if math.hypot(*values) < LARGEST:  # the usual case, and fast; false for nan
            return ""
        wanted = view(values)[self.source]
        bad = first_unusable(wanted)
        if bad is None:
            return ""
        return f"{field} of {self.wanted[int(self.target[bad])]} is {wanted[bad]:g}"

    def _check(self, names: list[str]) -> str:
        if len(set(names)) < len(names):
            seen: set[str] = set()
            twice = dict.fromkeys(n for n in names if n in seen or seen.add(n))
            return f"{_listed(twice)} more than once"
        if not names:
            return "no names"
        if not self._complete:
            return ""
        present = set(names)
        missing = [name for name in self.wanted if name not in present]
        return f"{_listed(missing)} missing" if missing else ""


class EffortReader:
    """Commands to motor efforts (motors,), those of the last valid message."""

    def __init__(self, actuators: Actuators, joint_names: Sequence[str]) -> None:
        """``joint_names`` are those of the nv velocities, for commands by joint."""
        self.efforts = np.zeros(len(actuators))
        self._actuators = actuators
        self._index = NameIndex(joint_names, complete=False)
        self._tau = np.zeros(len(joint_names))
        self._inverse = np.linalg.pinv(actuators.matrix)

    def read_array(self, message: Float64MultiArray) -> str:
        """Read one number per motor in declared order, or return what is wrong."""
        names = self._actuators.names
        if len(message.data) != len(names):
            return (
                f"{len(message.data)} numbers, expected {len(names)}: {', '.join(names[:8])}"
                + " ..." * (len(names) > 8)
            )
        data = view(message.data)
        if (bad := first_unusable(data)) is not None:
            return f"effort of {names[bad]} is {data[bad]:g}"
        self.efforts[:] = data
        return ""

    def read_joint_state(self, message: JointState) -> str:
        """Read efforts by joint name, zero for joints left out, or return what is wrong."""
        index = self._index
        if problem := index.check(message, ("effort",), ()):
            return problem
        if index.unknown:
            return f"{_listed(index.unknown)} unknown"
        if problem := index.unusable(message.effort, "effort"):
            return problem
        tau = self._tau
        tau[:] = 0.0
        index.sort(message.effort, tau)
        efforts = self._inverse @ tau
        error = np.abs(self._actuators.matrix @ efforts - tau)
        if len(error) and error.max() > _REPRESENTABLE * (1.0 + np.abs(tau).max()):
            return f"no motors can produce this effort of {index.wanted[int(error.argmax())]}"
        self.efforts[:] = efforts
        return ""


def _listed(names: Iterable[str]) -> str:
    return some((f'"{name:.40}"' for name in names), _SHOWN)


TOPIC = "simulator/active_constraints"


def to_message(mechanism: Mechanism, active: ActiveConstraints) -> JointState:
    """Rows of what is active, with the captured values."""
    names: list[str] = []
    values: list[float] = []
    sliding: list[float] = []
    directions = {
        one.sticking: active.sliding[one.name]
        for one in mechanism.one_sided
        if one.name in active.sliding
    }
    for name, rows in mechanism.constraints.slices.items():
        if name in active.names or name in directions:
            labels = mechanism.row_names[rows]
            names += labels
            values += active.captured.get(name, np.zeros(len(labels))).tolist()
            sliding += directions.get(name, np.zeros(len(labels)))[: len(labels)].tolist()
    return JointState(name=names, position=values, velocity=sliding if directions else [])


def from_message(mechanism: Mechanism, message: JointState) -> tuple[ActiveConstraints | None, str]:
    """Inverse of :func:`to_message`; None and the problem where the message is not valid."""
    if len(message.name) != len(message.position):
        return None, f"{len(message.name)} names, but {len(message.position)} positions"
    if len(message.velocity) not in (0, len(message.name)):
        return None, f"{len(message.name)} names, but {len(message.velocity)} velocities"
    values = view(message.position)
    if first_unusable(values) is not None:
        return None, "positions that are not finite"
    by_row = dict(zip(message.name, values.tolist(), strict=True))
    directions = dict(zip(message.name, message.velocity, strict=False))
    names: set[str] = set()
    captured: dict[str, np.ndarray] = {}
    sliding: dict[str, np.ndarray] = {}
    of_contacts = {name: one.name for one in mechanism.one_sided for name in one.constraints}
    for name in (*mechanism.hierarchy.switchable, *of_contacts):
        labels = mechanism.row_names[mechanism.constraints.slices[name]]
        found = [by_row.pop(label) for label in labels if label in by_row]
        if not found:
            continue
        if len(found) < len(labels):
            return None, f'some rows of "{name}" are missing'
        slides = np.array([directions.get(label, 0.0) for label in labels])
        if name not in of_contacts or not slides.any():
            names.add(name)
            spec = mechanism.hierarchy.switchable.get(name)
            if spec is not None and spec.on_activation == "capture":
                captured[name] = np.array(found)
        elif abs(np.hypot(*slides) - 1.0) < _REPRESENTABLE:  # false for nan
            sliding[of_contacts[name]] = np.append(slides, 0.0)[:2]
        else:
            return None, f'the velocities of "{name}" are not a unit direction'
    if by_row:
        return None, f'"{next(iter(by_row))}" is not a row of a switchable constraint or contact'
    return ActiveConstraints(frozenset(names), captured, sliding), ""
