# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The kinds of constraints and tasks: one file per kind, found in the sub-folders by ``registry``.

A file declares everything that is particular to its kind; see :class:`~.kind.Kind`.
"""

from uk_dynamics.constraints.kinds import registry
from uk_dynamics.constraints.kinds.kind import Kind, Setting
from uk_dynamics.constraints.kinds.registry import (
    definitions,
    foreign_words,
    kind_by_foreign_name,
    kind_named,
    kinds,
)
