# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reading a YAML file strictly: every oddity is a one-line error with its place, never a surprise.

Files are read by the rules of YAML 1.2: ``1e-4`` is a number, ``no``, ``off`` and dates are plain
text, keys are always text. What YAML allows but a mechanism file has no use for (tags, merge keys,
several documents, numbers that are not finite) is refused, and what could exhaust the machine
(huge files, deep nesting, aliases that multiply) is bounded. Errors say where a value stands, as
:func:`place_text` has it.
"""

import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from uk_dynamics.did_you_mean import did_you_mean, nearest_file
from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import MechanismFileError, expect

Place = tuple[str | int, ...]  # keys and list positions that lead from the top of a file to a value
MAX_BYTES = 1_000_000


def read_text(path: Path, file: str) -> str:
    """Read a UTF-8 file of at most ``MAX_BYTES``."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise MechanismFileError("is a directory; give a YAML file in it", file=file)
        if not stat.S_ISREG(mode):
            raise MechanismFileError("is not a regular file; give a YAML file", file=file)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise MechanismFileError(f"no such file; {_nearest_file(path)}", file=file) from None
    except OSError as error:
        reason = (error.strerror or "input error").lower()
        problem = f"cannot be read ({reason}); check the path and its permissions"
        raise MechanismFileError(problem, file=file) from None
    except ValueError:
        raise MechanismFileError("is no file name; remove the NUL character", file=file) from None
    if len(data) > MAX_BYTES:
        raise MechanismFileError(too_large(), file=file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8 text; save the file as UTF-8 YAML"
        raise MechanismFileError(problem, file=file) from None


def _nearest_file(path: Path) -> str:
    try:
        neighbours = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".yaml"]
    except OSError:
        return "its directory does not exist either, check the path"
    return did_you_mean(nearest_file(path.name, neighbours), "give the path of a YAML file")


def too_large() -> str:
    """What is said of a file beyond the limit."""
    return (
        f"is larger than {MAX_BYTES // 1000} kB; a mechanism file is a few kB, split or shorten it"
    )


MAX_DEPTH = 32
MAX_VALUES = 20_000

_LARGEST_NUMBER = 1e100  # its square is still a number
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

# What PyYAML says (a part of it), what it means for the user, what to do about it.
_SYNTAX_HINTS = (
    ("'\\t' that cannot start", "a tab where an indentation or value begins; use spaces instead"),
    ("mapping values are not allowed", 'a ":" where none can stand; check the indentation above'),
    ("could not find expected ':'", 'a key without ":"; write key: value'),
    ("but found another document", 'a second document begins with "---"; keep one per file'),
    ("expected ',' or ']'", 'a list is not closed; end it with "]"'),
    (
        "expected ',' or '}'",
        'a mapping is not closed; end it with "}", or quote text with brackets or commas in it',
    ),
    ("expected <block end>", "the indentation fits no line above; align it with its neighbours"),
    ("unexpected end of stream", "a quoted text is not closed; add the quote"),
    ("undefined alias", "an alias (*name) without its anchor; write &name at a value above"),
    ("duplicate anchor", "an anchor (&name) is there twice; give each its own name"),
    ("that cannot start any token", "a character YAML reserves; put the text in quotes"),
    ("too many values", f"more than {MAX_VALUES} keys and values; write fewer, or split the file"),
    ("nested too deep", f"nested more than {MAX_DEPTH} deep; close a bracket or flatten it"),
)


def read_yaml(path: str | os.PathLike[str], file: str = "") -> object:
    """Read one YAML document from a file, to which errors may give another name.

    Plain values: dict (keys in file order), list, str, bool, int, float (finite) or None.
    """
    name = file or os.fspath(path)
    text = read_text(Path(path), name)
    if text.lstrip()[:1] == "<":
        raise MechanismFileError(
            f'is XML, not a mechanism file; "uk_dynamics init {Path(path).name}" drafts one from a'
            ' URDF, "uk_dynamics import" from SDF or MJCF',
            file=name,
        )
    return parse_yaml(text, name)


def parse_yaml(text: str, file: str = "<text>") -> object:
    """Read one YAML document from a text; ``file`` is the name that errors give it."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise MechanismFileError(too_large(), file=file)
    try:
        node = _Loader(text).get_single_node()
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1
        problem = f"character U+{ord(text[error.position]):04X} is not text; remove it"
        raise MechanismFileError(problem, file=file, place=f"{line}:{column}") from None
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, file) from None
    if node is None:
        raise MechanismFileError("the file is empty; begin it with schema: 1", file=file)
    return _Converter(file).value(node, ())


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> MechanismFileError:
    said = " ".join(str(part) for part in (error.context, error.problem) if part)
    meaning = next((hint for part, hint in _SYNTAX_HINTS if part in said), None)
    if meaning is None:
        meaning = f"{' '.join(said.split())[:120]}; check the YAML syntax here"
    mark = error.problem_mark or error.context_mark
    place = f"{mark.line + 1}:{mark.column + 1}" if mark else ""
    return MechanismFileError(meaning, file=file, place=place)


class _Loader(yaml.SafeLoader):
    """PyYAML's parser with the plain values of YAML 1.2 and a bounded depth and size."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012
    depth = 0
    values = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        self.values += 1
        if self.depth > MAX_DEPTH or self.values > MAX_VALUES:
            problem = "nested too deep" if self.depth > MAX_DEPTH else "too many values"
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, problem, mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _resolve(tag: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), list(first) or [""]
    )


_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("null", "~|null|Null|NULL", "~nN")
_resolve("null", "", "")
_resolve("int", "[-+]?[0-9]+", "-+0123456789")
_resolve("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789")
_resolve("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+.")


class _Converter:
    """Turns parsed nodes into plain values, counting what aliases multiply."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.values = 0
        self.open_nodes: set[int] = set()

    def value(self, node: yaml.Node, place: Place) -> object:
        self.values += 1
        if self.values > MAX_VALUES:
            raise self.error(
                f"more than {MAX_VALUES} values with all aliases (*name) expanded; write fewer", ()
            )
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, place)
        if id(node) in self.open_nodes:
            raise self.error("an alias (*name) stands inside its own anchor; write it out", place)
        if node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
            raise self.unknown_tag(node, place)
        self.open_nodes.add(id(node))
        if isinstance(node, yaml.MappingNode):
            result: object = self.mapping(node, place)
        else:
            result = [self.value(item, (*place, i)) for i, item in enumerate(node.value)]
        self.open_nodes.discard(id(node))
        return result

    def mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, object]:
        result: dict[str, object] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problem = f"line {line}: the key is a list or mapping; a key is plain text"
                raise self.error(problem, place)
            key = str(key_node.value)
            if found := control_character(key):
                problem = f"line {line}: a key holds the control character {found}; remove it"
                raise self.error(problem, place)
            if key == "<<":
                problem = f"line {line}: merge keys (<<) are not read; write the keys out"
                raise self.error(problem, place)
            if key in result:
                problem = f"the key is there twice (lines {lines[key]} and {line}); remove one"
                raise self.error(problem, (*place, key))
            lines[key] = line
            result[key] = self.value(value_node, (*place, key))
        return result

    def scalar(self, node: yaml.ScalarNode, place: Place) -> object:
        text = str(node.value)
        if node.tag == "tag:yaml.org,2002:str":
            if found := control_character(text, allowed="\t\n"):
                raise self.error(f"the control character {found} is no text; remove it", place)
            return text
        if node.tag == "tag:yaml.org,2002:null":
            return None
        if node.tag == "tag:yaml.org,2002:bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if node.tag in _NUMBER_TAGS:
            return self.number(text, node.tag, place)
        raise self.unknown_tag(node, place)

    def number(self, text: str, tag: str, place: Place) -> int | float:
        try:
            number = float(re.sub(r"\.(?=inf|nan)", "", text.lower()))
        except ValueError:
            raise self.error(f"{shown(text)} is not a number; write one", place) from None
        if not math.isfinite(number):
            raise self.error(f"{text[:40]} is not a finite number; write a finite one", place)
        if abs(number) > _LARGEST_NUMBER:
            problem = f"{text[:40]} is no quantity of a machine; stay below {_LARGEST_NUMBER:g}"
            raise self.error(problem, place)
        whole = tag.endswith(":int") and re.fullmatch(r"[-+]?[0-9]{1,15}", text)
        return int(text) if whole else number

    def unknown_tag(self, node: yaml.Node, place: Place) -> MechanismFileError:
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        return self.error(f"the tag {shown(tag)} is not read; remove it, write plain values", place)

    def error(self, problem: str, place: Place) -> MechanismFileError:
        return MechanismFileError(problem, file=self.file, place=place_text(place))


def yaml_text(data: object) -> str:
    """What a file would contain, as text; tuples and arrays become lists. Only a mapping can be."""
    expect("data", data, dict, '{"tasks": {...}}')
    assert isinstance(data, dict)
    try:
        return yaml.dump({"schema": 1, **data}, Dumper=_Dumper, sort_keys=False)
    except yaml.representer.RepresenterError as error:
        problem = f"found {type(error.args[1]).__name__}; valid are numbers, text, lists and dicts"
        raise MechanismFileError(problem, file="<data>") from None


class _Dumper(yaml.SafeDumper):
    """Also writes tuples and NumPy's arrays and numbers, and nothing twice by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_multi_representer(tuple, lambda to, value: to.represent_list(list(value)))
_Dumper.add_multi_representer(np.ndarray, lambda to, value: to.represent_data(value.tolist()))
_NUMBERS: Any = np.generic
_Dumper.add_multi_representer(_NUMBERS, lambda to, value: to.represent_data(value.item()))


def place_text(place: Place) -> str:
    """Write a place as ``constraints.right_pin.axes[1]``."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            plain = step if re.fullmatch(r"[\w-]{1,64}", step) else shown(step)
            text += f".{plain}" if text else plain
    return text


def shown(value: object) -> str:
    """Show a value inside an error message: one line, and not more than a few words."""
    if isinstance(value, dict):
        return "a mapping (key: value)" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 48 else text[:40] + '..."'
