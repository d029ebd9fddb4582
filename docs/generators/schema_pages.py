# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reference pages of the files that users write, from their JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from typing import Any

from docs.generators.markdown import code, heading, listing, plain, table
from uk_dynamics.constraints.kinds.registry import SHARED, definitions

Schema = Mapping[str, Any]

_KEY_HEAD = ("key", "value", "default", "what it is")
# Definitions that have a section of their own on the page of the mechanism file: how a value is
# called, and the heading of the section.
_SECTIONS = {
    "joint_properties": ("joint", "joints"),
    "actuator": ("actuator", "actuators"),
    "constraint": ("constraint", "constraints"),
    "task": ("task", "constraints"),
    "force": ("force", "forces"),
    "contact": ("contact", "contacts"),
    "frame": ("frame", "Frames"),
    "reference": ("reference", "References"),
    "stabilization": ("stabilisation", "Stabilisation"),
    "friction": ("friction", "Friction"),
}
_PLAIN = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "`true` or `false`",
    "array": "list",
    "object": "mapping",
}
# Keys of constraints that are told with the file, not with the types.
_SHARED = frozenset((*SHARED, "parent", "child", "friction"))
_PLURAL = {"text": "texts", "number": "numbers", "whole number": "whole numbers"}


class Schemas:
    """The schema files of the package, with references between them resolved."""

    def __init__(self) -> None:
        folder = resources.files("uk_dynamics.mechanism.files") / "schema"
        self._files = {
            entry.name: json.loads(entry.read_text(encoding="utf-8"))
            for entry in folder.iterdir()
            if entry.name.endswith(".json")
        }
        self._files["constraint.schema.json"]["definitions"] |= definitions()

    def file(self, name: str) -> Node:
        """The schema of a whole file, such as ``mechanism``."""
        name = f"{name}.schema.json"
        return Node(self, self._files[name], name, "")

    def definition(self, file: str, name: str) -> Node:
        """A definition of a file, such as ``frame`` of ``common``."""
        file = f"{file}.schema.json"
        return Node(self, self._files[file]["definitions"][name], file, name)

    def resolve(self, schema: Schema, file: str) -> Node:
        """What a schema is, or what its ``$ref`` points to."""
        if "$ref" not in schema:
            return Node(self, schema, file, "")
        target, _, path = schema["$ref"].partition("#/definitions/")
        target = target or file
        return Node(self, self._files[target]["definitions"][path], target, path)


class Node:
    """A part of a schema that knows its file, and its name where it is a definition."""

    def __init__(self, schemas: Schemas, schema: Schema, file: str, name: str) -> None:
        self.schemas, self.schema, self.file, self.name = schemas, schema, file, name

    def __getitem__(self, key: str) -> Node:
        """A property."""
        return self.schemas.resolve(self.schema["properties"][key], self.file)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the properties."""
        return tuple(self.schema.get("properties", ()))

    @property
    def text(self) -> str:
        """The description."""
        return plain(self.schema.get("description", ""))

    def values(self) -> Node:
        """What the values of a mapping are."""
        return self.schemas.resolve(self.schema["additionalProperties"], self.file)

    def kinds(self) -> Iterator[tuple[tuple[str, ...], Node]]:
        """The types with what each of them needs."""
        for part in self.schema["allOf"]:
            if "$ref" in part:
                yield from self.schemas.resolve(part, self.file).kinds()
                continue
            kind = part["if"]["properties"]["type"]
            names = kind["enum"] if "enum" in kind else [kind["const"]]
            yield tuple(names), self.schemas.resolve(part["then"], self.file)


def _value(node: Node) -> str:
    """What can be written there, in words."""
    if node.name in _SECTIONS:
        word, title = _SECTIONS[node.name]
        return f"[{word}](#{title.lower()})"
    schema = node.schema
    if "const" in schema:
        return code(schema["const"])
    if "enum" in schema:
        return listing(schema["enum"])
    if "oneOf" in schema and "type" not in schema:
        return _either(node, schema["oneOf"])
    if "anyOf" in schema and "type" not in schema:
        return _either(node, schema["anyOf"])
    types = schema.get("type", "object")
    names = [types] if isinstance(types, str) else types
    return " or ".join(_typed(node, name) for name in names)


def _either(node: Node, choices: list[Schema]) -> str:
    return ", or ".join(_value(node.schemas.resolve(choice, node.file)) for choice in choices)


def _typed(node: Node, name: str) -> str:
    schema = node.schema
    if name == "array":
        items = _value(node.schemas.resolve(schema.get("items", {}), node.file))
        for one, many in _PLURAL.items():
            items = many + items.removeprefix(one) if items.startswith(one) else items
        least, most = schema.get("minItems"), schema.get("maxItems")
        return f"{least} {items}" if least == most and least else f"list of {items}"
    if name == "object":
        if isinstance(schema.get("additionalProperties"), dict):
            return f"mapping of names to {_value(node.values())}"
        return "keys below" if node.keys else "mapping"
    return _PLAIN[name] + (_bounds(schema) if name in ("number", "integer") else "")


def _bounds(schema: Schema) -> str:
    said = (("exclusiveMinimum", "above"), ("minimum", "at least"), ("exclusiveMaximum", "below"))
    parts = [f"{word} {schema[key]:g}" for key, word in said if key in schema]
    return f" {' and '.join(parts)}" if parts else ""


def _default(node: Node, required: bool) -> str:
    if required:
        return "must be given"
    return code(node.schema["default"]) if "default" in node.schema else ""


def _rows(node: Node, prefix: str = "") -> Iterator[tuple[str, ...]]:
    """A row per key; keys of mappings and entries without a section of their own follow theirs."""
    required = node.schema.get("required", ())
    for key in node.keys:
        if key == "type" and not node[key].schema:
            continue
        part = node[key]
        yield code(prefix + key), _value(part), _default(part, key in required), part.text
        entry = node.schemas.resolve(part.schema.get("items", {}), part.file)
        for below, sign in ((part, ""), (entry, "[]")):
            if below.keys and below.name not in _SECTIONS:
                yield from _rows(below, f"{prefix}{key}{sign}.")


def _keys(node: Node) -> str:
    return table(_KEY_HEAD, _rows(node))


def _kinds(node: Node, common: set[str]) -> str:
    """A row per type: what it requires and what it may have, in addition to the keys of all."""
    rows = []
    for names, kind in node.kinds():
        required = [key for key in kind.schema.get("required", ()) if key != "type"]
        choices = kind.schema.get("oneOf", kind.schema.get("anyOf", ()))
        one_of = [key for choice in choices for key in choice["required"]]
        others = [k for k in kind.keys if k not in {*required, *one_of, *common, "type"}]
        needs = [listing(required), " or ".join(code(key) for key in one_of)]
        rows.append((listing(names), ", ".join(filter(None, needs)) or "–", listing(others) or "–"))
    return table(("type", "must have", "may have"), rows)


def _all_keys(node: Node, only: Callable[[str], bool] = lambda key: True) -> str:
    """A row per key of any type, once where types agree on it.

    Args:
        node: Has the types.
        only: Which keys to list, by the first part of their name.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for names, kind in node.kinds():
        for key, value, default, text in _rows(kind):
            if not only(key.strip("`").partition(".")[0]):
                continue
            row = (key, value, "" if default == "must be given" else default, text)
            found.setdefault(row, []).extend(names)
    keys = [row[0] for row in found]
    rows = []
    for (key, *rest), names in found.items():
        of = f" of {listing(names)}" if keys.count(key) > 1 else ""
        rows.append((key + of, *rest))
    return table(_KEY_HEAD, sorted(rows, key=lambda row: row[0].replace("`", "")))


def mechanism_page() -> str:
    """The mechanism file."""
    schemas = Schemas()
    file = schemas.file("mechanism")
    constraint, force = file["constraints"].values(), file["forces"].values()
    reference = schemas.definition("constraint", "reference")
    parts = [
        heading(1, "Mechanism file"),
        file.text,
        "How to write one is told in [constraints](../constraints.md).",
        table(_KEY_HEAD, (row for row in _rows(file) if "." not in row[0])),
    ]
    for key in ("model", "defaults", "solver"):
        parts += [heading(2, key), file[key].text, _keys(file[key])]
    for key in ("joints", "actuators", "contacts"):
        parts += [heading(2, key), file[key].text, _keys(file[key].values())]
    parts += [
        heading(2, "constraints"),
        _TYPES,
        _all_keys(constraint, _SHARED.__contains__),
        heading(2, "forces"),
        force["type"].text,
        _kinds(force, set()),
        _all_keys(force),
    ]
    for name, place in (("frame", "common"), ("stabilization", "common"), ("friction", "forces")):
        node = schemas.definition(place, name)
        parts += [heading(2, _SECTIONS[name][1]), node.text, _keys(node)]
    parts += [heading(2, _SECTIONS["reference"][1]), reference.text]
    for names, kind in reference.kinds():
        parts += [heading(3, listing(names)), _keys(kind)]
    return "\n\n".join(parts) + "\n"


_TYPES = (
    "The types with their own keys: [constraints](../constraints.md#types). All of them have these,"
    " but `parent`, `child` and `friction`, which not all have:"
)


def own_keys() -> str:
    """Keys that only some types of constraints have."""
    constraint = Schemas().file("mechanism")["constraints"].values()
    return _elsewhere(_all_keys(constraint, lambda key: key not in _SHARED)).replace(
        "](mechanism_file.md", "](reference/mechanism_file.md"
    )


def tasks_page() -> str:
    """The tasks file."""
    file = Schemas().file("tasks")
    parts = [
        heading(1, "Tasks file"),
        file.text,
        "How motors share the work is told in [motor limits](../motor_limits.md).",
        _elsewhere(_keys(file)),
        heading(2, "tasks"),
        f"Tasks have the types and keys of [constraints](../constraints.md#types). {_ONLY}",
    ]
    return "\n\n".join(parts) + "\n"


_ONLY = (
    "`priority`, `feedback` and `relaxed` are for tasks only, `one_sided` makes a task a"
    " [bound](../motor_limits.md#bounds); `level`, `compliance`, `friction` and switching are for"
    " constraints only."
)


def sweep_page() -> str:
    """The sweep file."""
    file = Schemas().file("sweep")
    values = file["vary"].values()
    parts = [
        heading(1, "Sweep file"),
        file.text,
        "How to use one is told in [sweeps](../sweeps.md).",
        _keys(file),
        heading(2, "Values that vary"),
        values.text,
        _keys(values),
    ]
    return "\n\n".join(parts) + "\n"


_NOT_AS_ITS_MODEL = "../servo.md#a-machine-that-is-not-as-its-model"


def reality_page() -> str:
    """The reality file."""
    file = Schemas().file("reality")
    parts = [
        heading(1, "Reality file"),
        file.text,
        f"How to use one is told in [servo control]({_NOT_AS_ITS_MODEL}).",
        _elsewhere(_keys(file)),
    ]
    return "\n\n".join(parts) + "\n"


def _elsewhere(text: str) -> str:
    """Sections that stand on the page of the mechanism file."""
    return text.replace("](#", "](mechanism_file.md#")
