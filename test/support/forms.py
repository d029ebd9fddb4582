# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every form of the fundamental equation, with every pseudoinverse where it has one."""

from __future__ import annotations

from typing import get_args

from uk_dynamics.core.equation.published.pseudoinverse import ALGORITHMS
from uk_dynamics.core.equation.solution import FOR_SINGULAR_MASS, WITH_PSEUDOINVERSE, Method

METHODS = tuple(name for name in get_args(Method) if name != "auto")
FORMS = tuple(
    (method, algorithm)
    for method in METHODS
    for algorithm in (ALGORITHMS if method in WITH_PSEUDOINVERSE else ("svd",))
)
FORMS_FOR_SINGULAR_MASS = tuple(form for form in FORMS if form[0] in FOR_SINGULAR_MASS)
