# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Expressions of a robot's state, ready to be evaluated: all of them in one call.

The one flat Python function is written from the tree, never from a user's text: its source holds
numbers, names made here, and names of whitelisted functions, nothing else. On the few scalars of a
mechanism's rows plain floats are several times faster than arrays.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.expressions import nodes
from uk_dynamics.constraints.expressions.nodes import TIME, Expression, Number, Variable
from uk_dynamics.constraints.expressions.parser import parse
from uk_dynamics.constraints.expressions.scope import Scope
from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
from uk_dynamics.core.linalg import is_symbolic
from uk_dynamics.exceptions import ExpressionError, ExpressionValueError
from uk_dynamics.model import Coordinates

FlatFunction = Callable[[Sequence[float]], tuple[float, ...]]
"""All values in, all results out; raises ArithmeticError or ValueError outside a domain."""

_LARGEST_UNROLLED = 4  # powers up to here are written as products
_PIECE = 50


def evaluate(
    outputs: Sequence[Expression],
    values: Mapping[Variable, Any],
    functions: Mapping[str, Callable[..., Any]],
) -> list[Any]:
    """Walk the trees with + * ** and the functions of the values; constants are floats."""
    known: dict[Expression, Any] = {}
    for node in nodes.topological(outputs):
        known[node] = value_of(node, known, values, functions)
    return [known[output] for output in outputs]


def value_of(
    node: Expression,
    known: Mapping[Expression, Any],
    values: Mapping[Variable, Any],
    functions: Mapping[str, Callable[..., Any]],
) -> Any:
    """Value of a node by those of its children."""
    match node:
        case Number(value):
            return value
        case Variable():
            return values[node]
        case nodes.Sum(terms):
            return reduce(add, (known[t] for t in terms))
        case nodes.Product(factors):
            return reduce(mul, (known[f] for f in factors))
        case nodes.Power(base, exponent):
            return known[base] ** known[exponent]
        case nodes.Call(function, arguments):
            return functions[function](*(known[a] for a in arguments))
    raise TypeError(f"no value for {type(node).__name__}")


def python_function(outputs: Sequence[Expression], places: Mapping[Variable, int]) -> FlatFunction:
    """Write and compile the function; ``places`` says where variables stand in its argument."""
    names: dict[Expression, str] = {}
    lines = ["def flat(values):"]
    for index, node in enumerate(nodes.topological(outputs)):
        if isinstance(node, Number):
            names[node] = f"({node.value!r})"
        else:
            names[node] = f"n{index}"
            lines.extend(_statements(f"n{index}", node, names, places))
    lines.append(f" return ({''.join(f'{names[output]}, ' for output in outputs)})")
    known = {f"f_{name}": function.value for name, function in FUNCTIONS.items()}
    # math.pow, not **, which answers a complex number for a negative base.
    namespace = {"__builtins__": {}, "f_pow": math.pow, **known}
    exec(compile("\n".join(lines), "<expression>", "exec"), namespace)
    return namespace["flat"]  # type: ignore[return-value]


def _statements(
    target: str, node: Expression, names: Mapping[Expression, str], places: Mapping[Variable, int]
) -> Iterator[str]:
    match node:
        case nodes.Sum(operands):
            operator = "+"
        case nodes.Product(operands):
            operator = "*"
        case _:
            yield f" {target} = {_code(node, names, places)}"
            return
    # In pieces: Python's compiler does not take an expression of any length.
    pieces = (operands[i : i + _PIECE] for i in range(0, len(operands), _PIECE))
    assign = "="
    for piece in pieces:
        yield f" {target} {assign} {f' {operator} '.join(names[o] for o in piece)}"
        assign = f"{operator}="


def _code(node: Expression, names: Mapping[Expression, str], places: Mapping[Variable, int]) -> str:
    match node:
        case Variable():
            return f"values[{places[node]}]"
        case nodes.Power(base, exponent):
            return _power(names[base], exponent, names)
        case nodes.Call(function, arguments):
            return f"f_{function}({', '.join(names[a] for a in arguments)})"
    raise TypeError(f"no code for {type(node).__name__}")


def _power(base: str, exponent: Expression, names: Mapping[Expression, str]) -> str:
    if not isinstance(exponent, Number):
        return f"f_pow({base}, {names[exponent]})"
    n = exponent.value
    whole, half = divmod(abs(n), 1.0)
    if half not in (0.0, 0.5) or whole > _LARGEST_UNROLLED:
        return f"f_pow({base}, {n!r})"
    text = " * ".join([base] * int(whole) + ([f"f_sqrt({base})"] if half else []))
    return text if n > 0.0 else f"1.0 / ({text})"


_SHOWN = 80  # characters of a part that has no value
_MOST_SHOWN = 60  # nodes of such a part


@dataclass(frozen=True)
class JointPlaces:
    """Where the coordinates of the one-dof joints stand in q and v."""

    positions: Mapping[str, int]  # Index into q by joint name
    velocities: Mapping[str, int]  # Index into v by joint name
    nq: int  # Size of q
    composite: tuple[str, ...] = ()  # Names of the joints with several coordinates

    @classmethod
    def of(cls, coordinates: Coordinates) -> "JointPlaces":
        """The places in the coordinates of a robot."""
        names = coordinates.joint_names
        several = (n.rpartition(".")[0] for n in coordinates.velocity_names if n not in names)
        return cls(
            {name: coordinates.position_index(name) for name in names},
            {name: coordinates.velocity_index(name) for name in names},
            len(coordinates.position_names),
            tuple(dict.fromkeys(several)),
        )


@dataclass(frozen=True)
class Source:
    """Where an expression comes from, for the error when it has no value."""

    owner: str  # What it belongs to, such as the name of a constraint
    text: str


class CompiledExpressions:
    """Several expressions in t, joint positions and rates; shared parts are computed once."""

    def __init__(
        self, outputs: Sequence[Expression], sources: Sequence[Source], places: JointPlaces
    ) -> None:
        self.outputs = tuple(outputs)
        self._sources = tuple(sources)
        self._slots: dict[Variable, int] = {}
        for x in nodes.variables(outputs):
            if x is TIME:
                self._slots[x] = 0
            elif x.order == 0:
                self._slots[x] = 1 + places.positions[x.name]
            else:
                self._slots[x] = 1 + places.nq + places.velocities[x.name]
        self._flat = python_function(outputs, self._slots)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_flat"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._flat = python_function(self.outputs, self._slots)

    @property
    def time_dependent(self) -> bool:
        """Whether t occurs."""
        return TIME in self._slots

    def __call__(self, t: float, q: Array, v: Array) -> tuple[float, ...]:
        """Their values at a state, all finite."""
        values = [t, *q.tolist(), *v.tolist()]
        if is_symbolic(q):
            return self._symbolic(values)
        try:
            found = self._flat(values)
        except (ArithmeticError, ValueError):
            raise self._no_value(values) from None
        if not math.isfinite(sum(found)) and not all(map(math.isfinite, found)):
            raise self._no_value(values)
        return found

    def _symbolic(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The same on symbols, which bring the functions along."""
        known = {x: values[slot] for x, slot in self._slots.items()}
        functions = next(x for x in values if hasattr(x, "functions")).functions
        return tuple(evaluate(self.outputs, known, functions))

    def _no_value(self, values: Sequence[float]) -> ExpressionValueError:
        """The error of the first part that has no value."""
        known: dict[Expression, float] = {}
        given = {x: values[slot] for x, slot in self._slots.items()}
        functions = {name: function.value for name, function in FUNCTIONS.items()}
        for output, source in zip(self.outputs, self._sources, strict=True):
            for node in nodes.topological([output]):
                try:
                    found = value_of(node, known, given, functions)
                except (ArithmeticError, ValueError):
                    found = math.nan
                known[node] = math.nan if isinstance(found, complex) else found
                if not math.isfinite(known[node]):
                    return _error(node, source, known, values[0])
        # only rounding tells the function from this walk: an overflow in one of them
        return _error(self.outputs[-1], self._sources[-1], known, values[0])


def _error(
    node: Expression, source: Source, known: Mapping[Expression, float], t: float
) -> ExpressionValueError:
    found = {nodes.to_text(x): known[x] for x in nodes.variables([node]) if x is not TIME}
    if len(nodes.topological([node])) > _MOST_SHOWN:  # shared parts would be written out many times
        shown = "a derivative"
    else:
        part = nodes.to_text(node)
        shown = part if len(part) <= _SHOWN else f"{part[:_SHOWN]}..."
    return ExpressionValueError(source.owner, source.text, shown, found, t)


def compile_expressions(
    texts: Sequence[str],  # one per value
    coordinates: Coordinates,  # the robot's, ``model``
    *,
    owner: str,  # what they belong to, for errors at evaluation
    parameters: Mapping[str, float] | None = None,  # constants by name
    aliases: Mapping[str, str] | None = None,  # further names of joints, {alias: joint}
) -> CompiledExpressions:
    """Expressions in joint names, ``d(joint)`` and ``t`` as one fast function of (t, q, v).

    ::

        effort = compile_expressions(["-k*x - 2*d(x)"], model, owner="forces.brake",
                                     parameters={"k": 3.0})
        (force,) = effort(t, q, v)

    Raises:
        ExpressionError: A text is no such expression; says the column. Where the file and place
            are known: ``with located(file, place): ...``.
    """
    places = JointPlaces.of(coordinates)
    scope = make_scope(places, parameters or {}, aliases or {}, highest_order=1, smooth=False)
    outputs = [parse(text, scope) for text in texts]
    return CompiledExpressions(outputs, [Source(owner, text) for text in texts], places)


def make_scope(
    places: JointPlaces,
    parameters: Mapping[str, float],
    aliases: Mapping[str, str],
    *,
    highest_order: int = 2,
    smooth: bool = True,
) -> Scope:
    """The scope of a robot's joints with parameters and aliases, whose names are checked."""
    scope = Scope(
        places.positions, composite=places.composite, highest_order=highest_order, smooth=smooth
    )
    for alias, joint in aliases.items():
        scope.check_new(alias, "alias")
        scope.joint(joint)
    scope = scope.extended(aliases=aliases)
    for name, value in parameters.items():
        scope.check_new(name, "parameter")
        if not math.isfinite(value):
            raise ExpressionError(f'parameter "{name}" is not finite')
    return scope.extended(parameters=parameters)
