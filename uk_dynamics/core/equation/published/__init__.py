# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Further forms of the equation, as the papers publish them."""

from uk_dynamics.core.equation.published.pseudoinverse import (
    Pseudoinverse,
    PseudoinverseMethod,
    by_gram_schmidt,
    by_greville,
    pseudoinverse,
)
