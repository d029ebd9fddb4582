"""The kinds of constraints and tasks: one file per kind, found in the sub-folders by ``registry``.

A file declares everything that is particular to its kind; see :class:`~.kind.Kind`.
"""
