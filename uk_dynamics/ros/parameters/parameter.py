# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters of a node, declared once, checked whenever they are set, and their tables.

Those of all nodes are in ``parameters.yaml``; those of tasks and motors have default and bounds
from the files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files import read_yaml

if TYPE_CHECKING:
    from rcl_interfaces.msg import ParameterDescriptor
    from rclpy.node import Node
    from rclpy.parameter import Parameter as RosParameter

    from uk_dynamics.control.servo import Gains


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Parameter:
    """One parameter."""

    name: str  # name
    default: bool | int | float | str  # value when nothing is set; its type is the parameter's
    description: str  # one sentence for the user
    unit: str = ""  # unit, empty when there is none
    bounds: tuple[float, float] | None = None  # smallest and largest value; None: all finite ones
    choices: tuple[str, ...] = ()  # valid values of a text, empty when all are
    live: bool = False  # whether it can be changed while the node runs

    @property
    def valid(self) -> str:
        """Valid values in words, empty when every value of the type is."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.bounds is None:
            return ""
        low, high = self.bounds
        return f"from {low:g} to {high:g} {self.unit}".strip()

    def problem(self, value: object) -> str:
        """Why a value is not valid; empty when it is."""
        kind = type(self.default)
        accepted = (int, float) if kind is float else kind
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            return f"expected {_KINDS[kind]}, found {value!r}"
        if self.choices and value not in self.choices:
            return f'expected {self.valid}, found "{value}"'
        if isinstance(value, int | float) and not self._contains(value):
            return f"expected {_KINDS[kind]} {self.valid}".rstrip() + f", found {value}"
        return ""

    def descriptor(self) -> ParameterDescriptor:
        """Descriptor for ``ros2 param describe``."""
        from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

        descriptor = ParameterDescriptor(
            name=self.name,
            description=self.description + (f" [{self.unit}]" if self.unit else ""),
            additional_constraints=self.valid if self.choices else "",
            read_only=not self.live,
            # types are checked in this class: 500 is accepted for 500.0, and the reason is readable
            dynamic_typing=True,
        )
        if self.bounds is not None:
            kind = type(self.default)
            low, high = map(kind, self.bounds)
            if kind is float:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=low, to_value=high)
                ]
            else:
                descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
        return descriptor

    def _contains(self, value: float) -> bool:
        if self.bounds is None:
            return math.isfinite(value)
        return self.bounds[0] <= value <= self.bounds[1]


class Parameters:
    """The parameters of a running node, by name and always valid."""

    def __init__(self, node: Node, declared: Sequence[Parameter]) -> None:
        self._declared: dict[str, Parameter] = {}
        self._values: dict[str, Any] = {}
        self._listeners: dict[str, Callable[[], None]] = {}
        self._conditions: dict[str, Callable[[Any], str]] = {}
        self._node = node
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._store)
        self._declare(declared)

    def __getitem__(self, name: str) -> Any:
        """Current value of a parameter, of its default's type."""
        return self._values[name]

    def declare(self, parameters: Sequence[Parameter]) -> None:
        """Declare more parameters; :meth:`forget` removes them."""
        try:
            self._declare(parameters)
        except InputError:
            self.forget([parameter.name for parameter in parameters])
            raise

    def forget(self, names: Sequence[str]) -> None:
        """Undeclare parameters."""
        for name in names:
            if self._node.has_parameter(name):
                self._node.undeclare_parameter(name)
            for table in (self._declared, self._values, self._listeners, self._conditions):
                table.pop(name, None)

    def refuse(self, name: str, reason: Callable[[Any], str]) -> None:
        """Refuse values for which ``reason`` returns a text that is not empty."""
        self._conditions[name] = reason

    def on_change(self, name: str, listener: Callable[[], None]) -> None:
        """Call a function after each change of a live parameter."""
        self._listeners[name] = listener

    def _declare(self, parameters: Sequence[Parameter]) -> None:
        from rclpy.exceptions import ParameterException

        self._declared.update({parameter.name: parameter for parameter in parameters})
        try:
            for given in parameters:
                self._node.declare_parameter(given.name, given.default, given.descriptor())
        except ParameterException as error:
            reason = str(error).partition("Reason: ")[2] or str(error)
            raise InputError(reason, place=f"parameter {given.name}") from None

    def _check(self, changes: Sequence[RosParameter]) -> Any:
        from rcl_interfaces.msg import SetParametersResult

        for change in changes:
            parameter = self._declared.get(change.name)
            problem = parameter.problem(change.value) if parameter else ""
            if not problem and change.name in self._conditions:
                problem = self._conditions[change.name](change.value)
            if problem:
                return SetParametersResult(successful=False, reason=f"{change.name}: {problem}")
        return SetParametersResult(successful=True)

    def _store(self, changes: Sequence[RosParameter]) -> None:
        for change in changes:
            parameter = self._declared.get(change.name)
            if parameter is None:
                continue
            known = change.name in self._values
            self._values[change.name] = type(parameter.default)(change.value)
            if known and change.name in self._listeners:
                self._listeners[change.name]()


EFFORT_COMMANDS = "effort_controller/commands"
JOINT_COMMANDS = "joint_commands"

REQUIRED = "required"  # value of watchdog

# Values of command_mode, and the topic of each.
EFFORT_ARRAY, JOINT_STATE, TRAJECTORY = "effort_array", "joint_state", "trajectory"
_TOPICS = {
    EFFORT_ARRAY: EFFORT_COMMANDS,
    JOINT_STATE: JOINT_COMMANDS,
    TRAJECTORY: "joint_trajectory_controller/joint_trajectory",
}

# Read by configure of servo_controller; they can be set until then.
CONFIGURED = (
    *("mechanism", "robot_description", "robot_description_timeout"),
    *("backend", "tasks", "update_rate", "command_mode", "command_topic"),
)


def _read_tables() -> dict[str, tuple[Parameter, ...]]:
    tables = {
        node: tuple(
            Parameter(name, **{**given, "choices": tuple(given.get("choices", ()))})
            for name, given in table.items()
        )
        for node, table in read_yaml(Path(__file__).with_name("parameters.yaml")).items()
    }
    tables["servo_controller"] = tuple(
        replace(p, live=True) if p.name in CONFIGURED else p for p in tables["servo_controller"]
    )
    return tables


TABLES = _read_tables()
_OF_FILES = {parameter.name: parameter for parameter in TABLES.pop("of_files")}


def command_topic(settings: Parameters) -> str:
    """Topic of the commands by ``command_topic``, or by ``command_mode`` where that is empty."""
    return settings["command_topic"] or _TOPICS[settings["command_mode"]]


def commanded_efforts(settings: Parameters) -> str:
    """Topic of the commands where ``effort_source`` names them; empty: efforts are measured."""
    return settings["command_topic"] if settings["effort_source"] == "commands" else ""


def _of_file(
    known: str, name: str, default: float, bounds: tuple[float, float] | None = None
) -> Parameter:
    """A parameter of a task, row or motor."""
    found = _OF_FILES[known]
    called, text = (x.replace("NAME", name) for x in (found.name, found.description))
    return replace(found, name=called, description=text, default=default, bounds=bounds)


def gain_parameters(task: str, gains: Gains, rate: float, *, damped: bool) -> tuple[Parameter, ...]:
    """Feedback parameters of one task at ``rate`` states per second (0: unknown).

    A tenth of the rate is the largest natural frequency for which efforts that are constant during
    a period serve well. ``damped``: whether a damping ratio applies.
    """
    fastest, ratio = max(gains.frequency, rate / 10.0 or 1e3), gains.damping_ratio
    frequency = _of_file("gains.NAME.frequency", task, gains.frequency, (0.0, fastest))
    damping = _of_file("gains.NAME.damping_ratio", task, ratio, (0.0, max(ratio, 10.0)))
    return (frequency, damping) if damped else (frequency,)


#: What is switched on and off while a law works: sections of a tasks file.
SWITCHES = ("robust", "adaptive", "observer")


def switch_parameter(name: str) -> Parameter:
    """One of :data:`SWITCHES`."""
    return _OF_FILES[name]


def row_parameter(row: str, force: float) -> Parameter:
    """Internal force of one constraint row; ``force`` in N or N·m is that of the tasks file."""
    return _of_file("internal_forces.NAME", row, force)


def motor_parameters(motor: str, limit: float, preload: float) -> tuple[Parameter, ...]:
    """Parameters of one motor by its effort limit (infinite: none) and preload, in N or N·m."""
    around = min(-limit, preload), max(limit, preload)
    effort = _of_file("limits.NAME.effort", motor, limit, (0.0, limit))
    return effort, _of_file("preload.NAME", motor, preload, around)
