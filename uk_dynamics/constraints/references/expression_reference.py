# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References written as expressions of t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from uk_dynamics.constraints.expressions.algebra import ONE, TIME
from uk_dynamics.constraints.expressions.compiled import (
    CompiledExpressions,
    JointPlaces,
    Source,
    make_scope,
)
from uk_dynamics.constraints.expressions.differentiation import Differentiator
from uk_dynamics.constraints.expressions.nodes import Expression
from uk_dynamics.constraints.expressions.parser import parse
from uk_dynamics.constraints.references.references import Array, ReferenceSample

_NO_JOINTS = JointPlaces({}, {}, 0)
_EMPTY: Array = np.zeros(0)


class ExpressionReference:
    """Value, rate and acceleration of expressions of t, by symbolic differentiation."""

    def __init__(self, texts: Sequence[str], parameters: Mapping[str, float], owner: str) -> None:
        """Read and derive the expressions, one per row; errors call the reference ``owner``."""
        scope = make_scope(_NO_JOINTS, parameters, {}, highest_order=0)
        values: list[Expression] = [parse(text, scope) for text in texts]
        rates = [Differentiator().along(value, {TIME: ONE}) for value in values]
        accelerations = [Differentiator().along(rate, {TIME: ONE}) for rate in rates]
        sources = [Source(owner, text) for text in texts]
        # t → values, rates and accelerations of all rows, (3 rows,)
        self.function = CompiledExpressions(
            [*values, *rates, *accelerations], sources * 3, _NO_JOINTS
        )

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s.

        Raises:
            ExpressionValueError: One of them has no value at t.
        """
        found = np.array(self.function(t, _EMPTY, _EMPTY))
        return ReferenceSample(*found.reshape(3, -1))
