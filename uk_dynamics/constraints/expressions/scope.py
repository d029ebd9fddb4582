# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a name in an expression can mean."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from uk_dynamics.constraints.expressions.nodes import TIME, Expression, number, variable
from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
from uk_dynamics.exceptions import ExpressionError, UnknownNameError

IndexValue = int | str

RESERVED = frozenset({"t", "pi", "d", "dd", "sum", *FUNCTIONS})
_MEANINGS = {"t": "the time", "pi": "the number 3.14159"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class Scope:
    """Names that expressions may use, besides ``t``, ``pi`` and the functions."""

    joints: Collection[str] = ()  # names of the one-dof joints
    # further names for joints, for those whose own name is no plain word
    aliases: Mapping[str, str] = field(default_factory=dict)
    # names of joints with several coordinates, for the error they give
    composite: Collection[str] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)  # constants by name
    # index sets by name, for ``sum(... for i in NAME)``
    indices: Mapping[str, tuple[IndexValue, ...]] = field(default_factory=dict)
    # values of the indices that are fixed, by name
    bindings: Mapping[str, IndexValue] = field(default_factory=dict)
    highest_order: int = 2  # which rates may occur: 0 none, 1 d(joint), 2 dd(joint) as well
    smooth: bool = True  # whether functions with kinks are refused

    def bound(self, name: str, value: IndexValue) -> "Scope":
        """The same scope with an index fixed."""
        return replace(self, bindings={**self.bindings, name: value})

    def extended(
        self,
        *,
        aliases: Mapping[str, str] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> "Scope":
        """The same scope with aliases or parameters, which :meth:`check_new` has seen."""
        return replace(
            self,
            aliases={**self.aliases, **(aliases or {})},
            parameters={**self.parameters, **(parameters or {})},
        )

    def check_new(self, name: str, what: str) -> None:
        """Refuse the name of an alias, parameter or index that is no word or is in use."""
        if not _NAME.match(name):
            raise ExpressionError(
                f'{what} "{name}" cannot be written in an expression; use letters, digits and _'
            )
        if name in RESERVED:
            raise ExpressionError(f'{what} "{name}" has the name of something built in; rename it')
        for other, names in (
            ("joint", self.joints),
            ("joint", self.aliases),
            ("parameter", self.parameters),
            ("index set", self.indices),
            ("index", self.bindings),
        ):
            if name in names:
                raise ExpressionError(f'{what} "{name}" has the name of a {other}; rename it')

    def value(self, name: str) -> Expression:
        """What a name stands for."""
        if name in _MEANINGS:
            if name in self.joints and name not in self.aliases.values():
                raise ExpressionError(
                    f'{name} is {_MEANINGS[name]}, and a joint is called "{name}" too; give the '
                    f"joint another name with names: {{NAME: {name}}}"
                )
            return TIME if name == "t" else number(math.pi)
        if name in self.parameters:
            return number(self.parameters[name])
        if name in self.bindings:
            value = self.bindings[name]
            if isinstance(value, str):
                raise ExpressionError(f'the index {name} = "{value}" is no number')
            return number(value)
        if name in FUNCTIONS or name in ("d", "dd", "sum"):
            raise ExpressionError(f"the function {name} needs an argument; write {name}(...)")
        if name in self.indices:
            raise ExpressionError(f'"{name}" is an index set; use it in sum(... for i in {name})')
        return variable(self.joint(name))

    def joint(self, name: str) -> str:
        """The joint that a name or alias stands for."""
        name = self.aliases.get(name, name)
        if name in self.joints:
            return name
        if name in self.composite:
            raise ExpressionError(
                f'joint "{name}" has several coordinates; only joints with one can be named'
            )
        known = [*self.joints, *self.aliases, *self.parameters]
        if not self.joints:
            shown = ", ".join(["t", "pi", *self.parameters])
            raise ExpressionError(f'no "{name}" here; there are: {shown}')
        raise ExpressionError(UnknownNameError("joint or parameter", name, known).problem)
