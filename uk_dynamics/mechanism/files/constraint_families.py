# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Families of constraints: one entry with ``for_each`` stands for one constraint per value."""

import ast
import re
from collections.abc import Mapping
from typing import Any

from uk_dynamics.constraints.expressions import (
    FAMILY_KEYS,
    Indexing,
    Scope,
    index_scope,
    label_of,
    passes,
)
from uk_dynamics.exceptions import ExpressionError, located
from uk_dynamics.mechanism.files.yaml_file import place_text

_SUBSCRIPTED = re.compile(r"[A-Za-z_]\w*\[[^\]]*\]")


def write_out_families(data: object, section: str, file: str) -> object:
    """Data of a file with every family of constraints written out.

    Names in it, such as ``link: rung[i]``, stand for ``rung_1``, ``rung_2`` …; the constraints are
    called after the entry and the index. Expressions have loops of their own and stay as they are.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get(section), Mapping):
        return data
    constraints: dict[str, Any] = {}
    for name, entry in data[section].items():
        if _is_family(entry):
            with located(file, place_text((section, name))):
                members = _members(str(name), entry)
                for taken in members.keys() & {*constraints, *data[section]}:
                    raise ExpressionError(f'it makes a second constraint named "{taken}"')
                constraints |= members
        else:
            constraints[name] = entry
    return {**data, section: constraints}


def _is_family(entry: object) -> bool:
    return (
        isinstance(entry, Mapping)
        and entry.get("type") != "expression"
        and isinstance(entry.get("for_each"), Mapping)
        and isinstance(entry.get("indices"), Mapping)
    )


def _members(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    scope = index_scope(entry["indices"])
    shared = {key: value for key, value in entry.items() if key not in FAMILY_KEYS}
    members = {
        label_of(name, indices): _bound(
            shared, Indexing(Scope(indices=scope.indices, bindings=indices))
        )
        for indices in passes(entry["for_each"], entry.get("where"), scope)
    }
    if not members:
        raise ExpressionError("for_each and where make no constraint; remove it or widen them")
    return members


def _bound(value: Any, indexing: Indexing) -> Any:
    """A value of a file with the indexed names in it written out."""
    if isinstance(value, str):
        return _SUBSCRIPTED.sub(lambda found: _name(found.group(), indexing), value)
    if isinstance(value, Mapping):
        return {_bound(key, indexing): _bound(item, indexing) for key, item in value.items()}
    if isinstance(value, list):
        return [_bound(item, indexing) for item in value]
    return value


def _name(text: str, indexing: Indexing) -> str:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ExpressionError(f'"{text}" is no indexed name, such as rung[i]') from None
    if not isinstance(node, ast.Subscript):
        raise ExpressionError(f'"{text}" is no indexed name, such as rung[i]')
    return indexing.subscripted(node)
