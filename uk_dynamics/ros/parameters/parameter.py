# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters of a node: declared once, checked whenever they are set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from rcl_interfaces.msg import ParameterDescriptor
    from rclpy.node import Node
    from rclpy.parameter import Parameter as RosParameter

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Parameter:
    """One parameter."""

    name: str  # name
    default: bool | int | float | str  # value when nothing is set; its type is the parameter's
    description: str  # one sentence for the user
    unit: str = ""  # unit, empty when there is none
    minimum: float | None = None  # smallest value, None when there is none
    maximum: float | None = None  # largest value, None when there is none
    choices: tuple[str, ...] = ()  # valid values of a text, empty when all are
    live: bool = False  # whether it can be changed while the node runs

    @property
    def valid(self) -> str:
        """Valid values in words, empty when every value of the type is."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = (self.minimum, self.maximum)
        if bounds == (None, None):
            return ""
        low, high = ("" if bound is None else f"{bound:g}" for bound in bounds)
        text = f"from {low} to {high}" if low and high else f"at least {low}" if low else high
        return f"{text} {self.unit}".strip()

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
        if (self.minimum, self.maximum) == (None, None):
            return descriptor
        low, high = self._bounds
        if isinstance(self.default, float):
            range_ = FloatingPointRange(from_value=float(low), to_value=float(high))
            descriptor.floating_point_range = [range_]
        else:
            low, high = int(max(low, -(2**63))), int(min(high, 2**63 - 1))
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
        return descriptor

    @property
    def _bounds(self) -> tuple[float, float]:
        low = -math.inf if self.minimum is None else self.minimum
        return low, math.inf if self.maximum is None else self.maximum

    def _contains(self, value: float) -> bool:
        low, high = self._bounds
        # infinity is valid only where the maximum is infinite
        return low <= value <= high and (math.isfinite(value) or high == self.maximum)


def live_number(
    name: str, default: float, description: str, bounds: tuple[float, float], unit: str = ""
) -> Parameter:
    """A number between bounds that can be changed while the node runs."""
    minimum, maximum = bounds
    return Parameter(name, default, description, unit, minimum, maximum, live=True)


class Parameters:
    """The parameters of a running node, by name and always valid."""

    def __init__(self, node: Node, declared: Sequence[Parameter]) -> None:
        self._declared = {parameter.name: parameter for parameter in declared}
        self._values: dict[str, Any] = {}
        self._listeners: dict[str, Callable[[], None]] = {}
        self._conditions: dict[str, Callable[[Any], str]] = {}
        self._node = node
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._store)
        for parameter in declared:
            self._declare(parameter)

    def __getitem__(self, name: str) -> Any:
        """Current value of a parameter, of its default's type."""
        return self._values[name]

    def declare(self, parameters: Sequence[Parameter]) -> None:
        """Declare more parameters; :meth:`forget` removes them."""
        names = [parameter.name for parameter in parameters]
        self._declared.update(zip(names, parameters, strict=True))
        try:
            for parameter in parameters:
                self._declare(parameter)
        except InputError:
            self.forget(names)
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

    def _declare(self, parameter: Parameter) -> None:
        from rclpy.exceptions import ParameterException

        try:
            self._node.declare_parameter(parameter.name, parameter.default, parameter.descriptor())
        except ParameterException as error:
            reason = str(error).partition("Reason: ")[2] or str(error)
            raise InputError(reason, place=f"parameter {parameter.name}") from None

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
