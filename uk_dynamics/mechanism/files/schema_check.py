# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Checking the data of a file against its JSON Schema, with errors in the user's words."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import islice
from typing import Any, Literal

import jsonschema

from uk_dynamics.constraints.kinds import definitions
from uk_dynamics.did_you_mean import closest, did_you_mean
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.yaml_file import Place, place_text, shown

FileKind = Literal["mechanism", "tasks", "sweep", "reality"]

_ENOUGH = 200  # mistakes of a file, to find the first one among them

_KIND_NAMES = {
    "object": "a mapping (key: value)",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
    "string": "text",
    "boolean": "true or false",
}
_INSTEAD = {
    "peg": "a rope round a peg is type: rope, whose points are its begin, {link: ..., xyz: [...],"
    " radius: ..., axis: [...], side: ..., lifts_off: true}, and its end",
}
_BOUNDS = {"minimum": "of at least", "maximum": "of at most"}
_BOUNDS |= {"exclusiveMinimum": "above", "exclusiveMaximum": "below"}


@functools.cache
def load_schema(kind: FileKind) -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of a file kind, complete in itself; kinds have their own."""
    folder = resources.files("uk_dynamics.mechanism.files") / "schema"
    files = [folder / f"{name}.schema.json" for name in ("common", "forces", "constraint", kind)]
    texts = [json.dumps({"definitions": definitions()})]
    texts += [file.read_text(encoding="utf-8") for file in files]
    # The parts refer to each other by their files; one document needs no resolver here.
    among = re.compile(r'"(common|forces|constraint)\.schema\.json#')
    parts: list[dict[str, Any]] = [json.loads(among.sub('"#', text)) for text in texts]
    schema = parts[-1]
    schema["definitions"] = {k: v for part in parts for k, v in part["definitions"].items()}
    return schema


def check_schema(data: object, kind: FileKind, file: str) -> dict[str, Any]:
    """The data of a file, plain values, now known to fit the schema; else its first mistake."""
    if not isinstance(data, dict):
        problem = f"found {shown(data)}; a {kind} file is a mapping that begins with schema: 1"
        raise MechanismFileError(problem, file=file)
    _check_version(data, file)
    translator = _Translator(load_schema(kind), kind)
    mistakes = islice(_validator(kind).iter_errors(data), _ENOUGH)
    first = min(mistakes, key=lambda error: translator.rank(error, data), default=None)
    if first is not None:
        place, problem = translator.translate(first)
        raise MechanismFileError(problem, file=file, place=place_text(place))
    return data


@functools.cache
def _validator(kind: FileKind) -> Any:
    """A validator for which 5.0 is no whole number: what counts or names something is an int."""
    draft = jsonschema.Draft7Validator
    whole = draft.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    strict = jsonschema.validators.extend(draft, type_checker=whole)  # type: ignore[no-untyped-call]
    return strict(load_schema(kind))


def _check_version(data: Mapping[str, Any], file: str) -> None:
    # Before everything else: another version may differ in anything.
    if "schema" not in data:
        problem = 'the key "schema" is missing; begin the file with schema: 1'
        raise MechanismFileError(problem, file=file)
    version = data["schema"]
    if type(version) is not int or version < 1:
        problem = f"found {shown(version)}; write schema: 1"
        raise MechanismFileError(problem, file=file, place="schema")
    if version != 1:
        problem = f"version {version} is newer than this uk_dynamics reads (1); update uk_dynamics"
        raise MechanismFileError(problem, file=file, place="schema")


class _Translator:
    """Says in one line what a validation error means for the person who wrote the file."""

    def __init__(self, schema: dict[str, Any], kind: FileKind) -> None:
        self.schema, self.kind = schema, kind

    def rank(self, error: jsonschema.ValidationError, data: object) -> tuple[object, ...]:
        """Order by place in the file; a misspelt key before the key that it leaves missing.

        A type that is none comes before both: it decides which keys there are.
        """
        order: list[int] = []
        for step in error.absolute_path:
            order.append(list(data).index(step) if isinstance(data, dict) else int(step))
            data = data[step]  # type: ignore[index]
        if error.validator == "enum" and error.absolute_path[-1] == "type":
            return tuple(order[:-1]), -1
        urgency = ("additionalProperties", "required", "type")
        keyword = str(error.validator)
        return tuple(order), urgency.index(keyword) if keyword in urgency else len(urgency)

    def translate(self, error: jsonschema.ValidationError) -> tuple[Place, str]:
        place: Place = tuple(error.absolute_path)
        found: Any = error.instance
        limit: Any = error.validator_value
        rule: Mapping[str, Any] = error.schema if isinstance(error.schema, dict) else {}
        match error.validator:
            case "additionalProperties":
                return place, self.unknown_key(found, rule)
            case "required":
                return place, self.missing_key(found, limit, rule)
            case "enum":
                return place, self.unknown_word(found, [str(word) for word in limit])
            case "pattern":
                wanted = rule.get("errorMessage")
                return place, f"found {shown(found)}; {wanted}" if wanted else _bad_name(found)
            case "minLength":
                return place, "an empty text; write a name"
            case "minItems" | "maxItems" if rule.get("minItems") == rule.get("maxItems"):
                return place, f"found {len(found)} entries; give {limit}{_example(rule)}"
            case "minItems" | "minProperties":
                return place, f"{shown(found)}; give at least {limit}{_example(rule)}"
            case "uniqueItems":
                twice = next(item for i, item in enumerate(found) if item in found[:i])
                return place, f"{shown(twice)} is there twice; remove one"
            case str(bound) if bound in _BOUNDS:
                wanted = f"a number {_BOUNDS[bound]} {limit}{_unit(rule)}"
                return place, f"found {shown(found)}; give {wanted}"
            case "type":
                return place, _wrong_type(found, limit, rule)
        wanted = rule.get("errorMessage") or f"{error.message[:120]}; correct it"
        if "errorMessage" not in rule or isinstance(found, (dict, list)):
            return place, wanted
        return place, f"found {shown(found)}; {wanted}"

    def unknown_key(self, found: Mapping[str, Any], rule: Mapping[str, Any]) -> str:
        valid = _keys(rule)
        key = next(key for key in found if key not in valid)
        other: FileKind = "tasks" if self.kind == "mechanism" else "mechanism"
        if "schema" in valid and key in load_schema(other)["properties"]:
            return (
                f'found "{key}", which belongs in a {other} file; '
                f"is this the {other} file? a {self.kind} file is needed here"
            )
        of_type = f' for type "{found["type"]}"' if "type" in found and len(valid) > 1 else ""
        return f"unknown key {shown(key)}{of_type}; {_INSTEAD.get(key) or _suggest(key, valid)}"

    def missing_key(self, found: Mapping[str, Any], needed: list[str], rule: Any) -> str:
        key = next(key for key in needed if key not in found)
        if misspelt := closest(key, [k for k in found if k not in _keys(rule)]):
            return f'unknown key "{misspelt}"; {did_you_mean(key, "")}'
        definition = self.definition(rule.get("properties", {}).get(key, {}))
        of_type = f' for type "{found["type"]}"' if "type" in found and key != "type" else ""
        if "enum" in definition:
            return f'the key "{key}" is missing; give one of: {", ".join(definition["enum"])}'
        example = next(iter(definition.get("examples", ("...",))))
        return f'the key "{key}" is missing{of_type}; for example {key}: {_yaml(example)}'

    def unknown_word(self, found: object, words: list[str]) -> str:
        return f"unknown {shown(found)}; {_suggest(str(found), words)}"

    def definition(self, rule: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in rule:
            return rule
        target: Mapping[str, Any] = self.schema["definitions"][rule["$ref"].rsplit("/", 1)[1]]
        return target


def _keys(rule: Mapping[str, Any]) -> list[str]:
    return list(rule.get("properties", ()))


def _suggest(word: str, valid: list[str]) -> str:
    return did_you_mean(closest(word.lower(), valid), f"valid are: {', '.join(valid)}")


def _bad_name(found: str) -> str:
    better = re.sub(r"[^A-Za-z0-9]+", "_", found)
    better = re.sub(r"^[0-9_]+", "", better).rstrip("_")[:40]
    such = f', such as "{better}"' if better else ""
    return (
        f"the name {shown(found)} cannot become a topic name; "
        f"use letters, digits and _ after a first letter{such}"
    )


def _wrong_type(found: object, wanted: str | list[str], rule: Mapping[str, Any]) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    needed = " or ".join(_KIND_NAMES[name] for name in names)
    if found is None:
        return f"is empty; give {needed}{_unit(rule)}{_example(rule)}, or leave the key out"
    what = "text " if isinstance(found, str) else ""
    return f"found {what}{shown(found)}; give {needed}{_unit(rule)}{_example(rule)}"


def _unit(rule: Mapping[str, Any]) -> str:
    return f" in {rule['x-unit']}" if "x-unit" in rule else ""


def _example(rule: Mapping[str, Any]) -> str:
    return f", for example {_yaml(rule['examples'][0])}" if "examples" in rule else ""


def _yaml(value: object) -> str:
    """Write an example as YAML in flow style."""
    return "".join(_flow(value))


def _flow(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{" + ", ".join(f"{key}: {_yaml(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list):
        yield "[" + ", ".join(_yaml(item) for item in value) + "]"
    else:
        yield str(value)
