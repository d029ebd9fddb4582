# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Text to functions: a typed expression tree, its parser, its derivatives and its back-ends.

Text is read by a whitelist over Python's own grammar into a tree (:mod:`.whitelist`,
:mod:`.parser`, :mod:`.nodes`), differentiated once (:mod:`.differentiation`) and evaluated by a
back-end (:mod:`.compiled`): a flat Python function, or a walk through it in any other algebra.
"""

from uk_dynamics.constraints.expressions.compiled import CompiledExpressions, compile_expressions
from uk_dynamics.constraints.expressions.differentiation import DERIVATIVES
from uk_dynamics.constraints.expressions.indexing import (
    FAMILY_KEYS,
    Indexing,
    index_scope,
    label_of,
    passes,
)
from uk_dynamics.constraints.expressions.scope import Scope
from uk_dynamics.constraints.expressions.whitelist import FUNCTIONS
