# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Further forms of the equation, as the papers publish them."""

from uk_dynamics.core.equation.published.gram_schmidt import by_gram_schmidt
from uk_dynamics.core.equation.published.greville import by_greville
from uk_dynamics.core.equation.published.orthogonal_factors import Pseudoinverse
from uk_dynamics.core.equation.published.pseudoinverse import PseudoinverseMethod, pseudoinverse
