"""Messages to arrays, by name.

A reader never raises for what a message holds: it returns the problem in words, and the message is
not to be used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from uk_dynamics.mechanism.actuators import Actuators
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.ros.messages import Array, view

# Larger numbers are mistakes of the sender, and their squares overflow.
LARGEST = 1e100
_REPRESENTABLE = 1e-9
_SHOWN = 3


class NameIndex:
    """Where wanted names stand in a message; remembered as long as the names stay the same.

    Attributes:
        wanted: The names looked for.
        problem: Why the names of the last message cannot be used; empty when they can.
        unknown: Names of the last message that are not wanted.
        same: Whether its names are the wanted ones in their order.
    """

    def __init__(self, wanted: Sequence[str], *, complete: bool) -> None:
        """Prepare.

        Args:
            wanted: The names looked for.
            complete: Whether all of them must be there.
        """
        self.wanted = tuple(wanted)
        self.problem = ""
        self.unknown: tuple[str, ...] = ()
        self._complete = complete
        self._places = {name: place for place, name in enumerate(wanted)}
        self._names: list[str] | None = None
        self.source: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self.target: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self.same = False

    def sort(self, values: Array, out: Array) -> None:
        """Take the wanted numbers of a field.

        Args:
            values: As they stand in the message, (names,).
            out: The wanted ones in their order; those that are not there stay, (wanted,).
        """
        if self.same:
            out[:] = values
        else:
            out[self.target] = values[self.source]

    def look_up(self, names: list[str]) -> str:
        """Find the names of a message; return the problem, empty when there is none."""
        if names != self._names:
            self._names = list(names)
            known = [(here, self._places[n]) for here, n in enumerate(names) if n in self._places]
            self.source = np.array([here for here, _ in known], dtype=np.intp)
            self.target = np.array([there for _, there in known], dtype=np.intp)
            self.same = self.wanted == tuple(names)
            self.unknown = tuple(name for name in names if name not in self._places)
            self.problem = self._check(names)
        return self.problem

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


class StateReader:
    """Complete joint states to q, v and measured efforts.

    Attributes:
        q: Configuration of the last usable message, (nq,), in m or rad.
        v: Velocity, (nv,), in m/s or rad/s.
        effort: Measured generalized forces, (nv,), in N or N·m; zero where not measured.
        unknown: Joints of the last message that the mechanism does not have.
    """

    def __init__(self, model: RobotModel) -> None:
        """Prepare for a robot whose joints all have one degree of freedom."""
        self.q = np.zeros(model.nq)
        self.v = np.zeros(model.nv)
        self.effort = np.zeros(model.nv)
        self._index = NameIndex(model.velocity_names, complete=True)
        self._order: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the last message that are no joints of the mechanism."""
        return self._index.unknown

    def read(self, message: JointState) -> str:
        """Fill q, v and effort, or leave them and return what is wrong with the message."""
        index = self._index
        if problem := index.look_up(message.name):
            return problem
        count = len(message.name)
        for field, values in (("position", message.position), ("velocity", message.velocity)):
            if len(values) != count:
                return _wrong_length(field, len(values), count)
        if len(message.effort) not in (0, count):
            return _wrong_length("effort", len(message.effort), count)
        position, velocity = view(message.position), view(message.velocity)
        effort = view(message.effort)
        for field, values in (("position", position), ("velocity", velocity), ("effort", effort)):
            if len(values) and (problem := _unusable(values, index, field)):
                return problem
        # nq = nv, and a joint's position and velocity stand at the same place
        index.sort(position, self.q)
        index.sort(velocity, self.v)
        if len(effort):
            index.sort(effort, self.effort)
        else:
            self.effort[:] = 0.0
        return ""


class EffortReader:
    """Commands to motor efforts.

    Attributes:
        efforts: Of the last usable message, (motors,), in N or N·m.
    """

    def __init__(self, actuators: Actuators, joint_names: Sequence[str]) -> None:
        """Prepare.

        Args:
            actuators: Motors in the order of an effort array.
            joint_names: Names of the nv velocities, for commands by joint.
        """
        self.efforts = np.zeros(len(actuators))
        self._actuators = actuators
        self._index = NameIndex(joint_names, complete=False)
        self._tau = np.zeros(len(joint_names))
        self._inverse = np.linalg.pinv(actuators.matrix)

    def read_array(self, message: Float64MultiArray) -> str:
        """Take one number per motor in declared order, or return what is wrong."""
        names = self._actuators.names
        if len(message.data) != len(names):
            return (
                f"{len(message.data)} numbers, expected {len(names)}: {', '.join(names[:8])}"
                + " ..." * (len(names) > 8)
            )
        data = view(message.data)
        if (bad := _first_unusable(data)) is not None:
            return f"effort of {names[bad]} is {data[bad]:g}"
        self.efforts[:] = data
        return ""

    def read_joint_state(self, message: JointState) -> str:
        """Take efforts by joint name, joints left out are zero, or return what is wrong."""
        index = self._index
        if problem := index.look_up(message.name):
            return problem
        if index.unknown:
            return f"{_listed(index.unknown)} unknown"
        if len(message.effort) != len(message.name):
            return _wrong_length("effort", len(message.effort), len(message.name))
        effort = view(message.effort)
        if problem := _unusable(effort, index, "effort"):
            return problem
        tau = self._tau
        tau[:] = 0.0
        tau[index.target] = effort[index.source]
        efforts = self._inverse @ tau
        gap = np.abs(self._actuators.matrix @ efforts - tau)
        if len(gap) and gap.max() > _REPRESENTABLE * (1.0 + np.abs(tau).max()):
            return f"no motor moves {index.wanted[int(gap.argmax())]} like that"
        self.efforts[:] = efforts
        return ""


def _unusable(values: Array, index: NameIndex, field: str) -> str:
    """Name the first number that cannot be used, of the wanted joints only."""
    wanted = values if index.same else values[index.source]
    bad = _first_unusable(wanted)
    if bad is None:
        return ""
    return f"{field} of {index.wanted[int(index.target[bad])]} is {wanted[bad]:g}"


def _first_unusable(values: Array) -> int | None:
    """Place of the first number that is not finite or absurdly large."""
    if math.hypot(*values.tolist()) < LARGEST:  # as a rule, and quickly; false for nan
        return None
    usable = np.abs(values) < LARGEST  # false for nan
    return None if usable.all() else int(np.argmin(usable))


def _wrong_length(field: str, found: int, expected: int) -> str:
    if not found:
        return f"no {field}"
    return f"{found} numbers in {field}, expected {expected}"


def _listed(names: Sequence[str] | dict[str, None]) -> str:
    shown = [f'"{name:.40}"' for name in list(names)[:_SHOWN]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
