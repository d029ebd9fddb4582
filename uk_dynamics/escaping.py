# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names as data in other languages: text that nothing there takes for code, one helper each.

Names come from files that others wrote. What no name needs (control characters, line breaks,
marks that turn the direction of writing) is refused where files are read; everything else is
allowed, and is escaped where it is written. XML, but for comments, and HTML are written by
``xml.etree`` and ``html.escape``, JSON by ``json``.
"""

import json
import re

# C0 and C1 controls, line and paragraph separators, directions of writing, halves of characters
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_BREAK = re.compile("\r\n|[\n\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
_XACRO = re.compile(r"\$(?=[{($])")


def control_character(text: str, allowed: str = "") -> str:
    """The first control character of a text that is not allowed, as ``U+001B``; or nothing."""
    found = (match[0] for match in _CONTROL.finditer(text) if match[0] not in allowed)
    return next((f"U+{ord(character):04X}" for character in found), "")


def one_line(text: str) -> str:
    """For terminals and logs: line breaks become blanks, control characters are spelt out."""
    text = _LINE_BREAK.sub(" ", text)
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def c_comment(text: str) -> str:
    """For a comment of C, which it neither ends nor begins again."""
    return re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", one_line(text))


def c_string(text: str) -> str:
    """A string literal of C and C++, quotes included; without trigraphs."""
    escaped = re.sub(r'["\\]', r"\\\g<0>", text).replace("?", r"\?")
    return f'"{_CONTROL.sub(lambda match: _octal(match[0]), escaped)}"'


def c_identifier(text: str) -> str:
    """A name like the given one that C and C++ take, if something follows it that is no keyword."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return plain if plain[:1].isalpha() else f"mechanism_{plain}"


def xacro_text(text: str) -> str:
    """For attributes and texts of a file that xacro reads: ``${`` and ``$(`` stay what they are."""
    return _XACRO.sub("${'$'}", text)


def xml_comment(text: str) -> str:
    """For a comment of XML, which it does not end."""
    return re.sub(r"-(?=-|$)", "- ", one_line(text))


def yaml_string(text: str) -> str:
    """A quoted string of YAML, and of JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def plot_text(text: str) -> str:
    """For a label of Matplotlib: no formulas, and an underscore in front hides nothing."""
    escaped = one_line(text).replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _octal(character: str) -> str:
    return "".join(f"\\{octet:03o}" for octet in character.encode("utf-8", "surrogatepass"))
