# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a user writes: expressions in joint coordinates, their rates and t that are zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.expressions.compiled import JointPlaces, make_scope
from uk_dynamics.constraints.expressions.differentiation import ORDERS, Order, differentiate
from uk_dynamics.constraints.expressions.indexing import index_scope, label_of, passes
from uk_dynamics.constraints.expressions.parser import parse
from uk_dynamics.constraints.expressions.scope import IndexValue, Scope
from uk_dynamics.constraints.expressions.whitelist import LARGEST_FAMILY, MOST_ROWS
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.expression_rows import ExpressionRow
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.exceptions import ExpressionError, MechanismFileError

_TEXT = {"$ref": "constraint.schema.json#/definitions/expression_text"}
_WORD = {"$ref": "constraint.schema.json#/definitions/expression_word"}


@dataclass(frozen=True)
class ExpressionText:
    """One row of an expression constraint."""

    label: str  # Name of the row in its constraint; empty where it is the only one
    text: str
    indices: Mapping[str, IndexValue]  # Values of the indices of ``for_each`` for this row
    place: str  # Key of the text in the constraint


@dataclass(frozen=True)
class Expression(Kind):
    """Expressions that are zero."""

    texts: tuple[ExpressionText, ...]  # its rows, families written out
    declared_order: Order | None = None  # declared order; None: what the rates that occur say
    parameters: Mapping[str, float] = field(default_factory=dict)  # constants by name
    # names in the texts for joints whose own name cannot be written there
    names: Mapping[str, str] = field(default_factory=dict)
    # values by name of the index set
    index_sets: Mapping[str, tuple[IndexValue, ...]] = field(default_factory=dict)
    name = "expression"
    removes = "one per text"
    per = "texts"
    order = "by the rates in it"
    summary = "held: what you write"
    example = 'cam: {type: expression, expression: "follower - 0.02*sin(shaft)*exp(-0.1*t)"}'
    frames = ()
    keys: ClassVar = {
        "expression": _TEXT,
        "expressions": {
            "description": "Several expressions, each zero: a list, or a mapping from the name of"
            " the row to its expression.",
            "type": ["array", "object"],
            "items": _TEXT,
            "propertyNames": {"$ref": "common.schema.json#/definitions/name"},
            "additionalProperties": _TEXT,
            "minItems": 1,
            "minProperties": 1,
            "examples": [["x - exp(0.1*y)", "y + t - 30"]],
        },
        "order": {
            "description": "Level at which it is zero: position, velocity (a rate d(joint) occurs)"
            " or acceleration (dd(joint) occurs); left out: what occurs.",
            "type": "string",
            "enum": list(ORDERS),
            "examples": ["velocity"],
        },
        "parameters": {"$ref": "constraint.schema.json#/definitions/expression_parameters"},
        "names": {
            "description": "Names in the expressions for joints whose own name cannot be written"
            " there: {name: joint, ...}.",
            "type": "object",
            "propertyNames": _WORD,
            "additionalProperties": {"$ref": "common.schema.json#/definitions/joint"},
            "minProperties": 1,
            "examples": [{"a": "arm/joint-1"}],
        },
    }
    conditions: ClassVar = {
        "oneOf": [{"required": ["expression"]}, {"required": ["expressions"]}],
        "errorMessage": "a constraint of type expression needs either expression: TEXT or"
        " expressions: [TEXT, TEXT], not both",
    }

    @classmethod
    def from_data(cls, data: Data) -> "Expression":
        """Build it from checked data; the texts themselves are read when the joints are known."""
        scope = index_scope(data.get("indices", {}))
        bindings = list(passes(data.get("for_each", {}), data.get("where"), scope))
        texts = _texts(data)
        rows = tuple(
            ExpressionText(label_of(label, indices), text, indices, key)
            for indices in bindings
            for label, (text, key) in texts.items()
        )
        if not 0 < len(rows) <= MOST_ROWS:
            problem = f"for_each and where make {len(rows)} rows; 1 to {MOST_ROWS} can be used"
            raise MechanismFileError(problem)
        return cls(
            rows,
            data.get("order"),
            {name: float(value) for name, value in data.get("parameters", {}).items()},
            dict(data.get("names", {})),
            scope.indices,
        )

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """Read and derive the expressions; an ExpressionError says place and column."""
        places = JointPlaces.of(setting.model)
        scope = self._scope(places)
        rows = []
        operations = 0
        for text in self.texts:
            bound = replace(scope, bindings=dict(text.indices))
            try:
                derivatives = differentiate(parse(text.text, bound), self.declared_order)
            except ExpressionError as error:
                where = text.place
                if text.indices:
                    fixed = ", ".join(f"{name} = {value}" for name, value in text.indices.items())
                    where += f" ({fixed})"
                raise error.located(place=where) from None
            operations += derivatives.operations
            if operations > LARGEST_FAMILY:
                raise ExpressionError(
                    f"its rows and their derivatives take more than {LARGEST_FAMILY} operations; "
                    "write fewer or shorter ones"
                )
            rows.append(ExpressionRow(text.label, text.text, derivatives, places))
        return tuple(rows)

    def _scope(self, places: JointPlaces) -> Scope:
        scope = make_scope(places, self.parameters, self.names)
        for name in self.index_sets:
            scope.check_new(name, "index set")
        scope = replace(scope, indices=self.index_sets)
        for name in self.texts[0].indices:
            scope.check_new(name, "index")
        return scope

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """One row of positions and one of velocities, both with time in them."""
        x, y, z = (str(joint) for joint in rng.choice(list(robot.joints), 3))
        a, b = rng.uniform(0.2, 2.0, 2).round(3).tolist()
        return {"expressions": [f"{x} - exp({a}*{y})*sin(t)", f"d({x})*d({z}) - {y}*cos({b}*t)"]}


def _texts(data: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Text and key of each row by label."""
    if "expression" in data:
        return {"": (data["expression"], "expression")}
    several = data["expressions"]
    if isinstance(several, list):
        return {
            str(number): (text, f"expressions[{number - 1}]")
            for number, text in enumerate(several, start=1)
        }
    return {label: (text, f"expressions.{label}") for label, text in several.items()}
