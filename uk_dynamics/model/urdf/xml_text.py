# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parsing of untrusted XML: no entities, limited depth, errors that name the place."""

import re
from xml.etree import ElementTree as ET

from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import UrdfError

DEEPEST = 50
NAMES = ("name", "prefix", "model")  # attributes that give names
BLANKS = "\t\n\r"  # which other attributes may have between numbers
XACRO_NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")


class _Refused(Exception):
    """Carries what is not allowed out of the parser."""


class _Builder(ET.TreeBuilder):
    """Stops at a document type (its entities can grow without bound) and at endless nesting.

    Control characters in attributes are refused: names are shown on terminals and in logs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _Refused("<!DOCTYPE> is not allowed in a URDF; remove it")

    def start(self, tag: str, attrs: dict[str, str]) -> ET.Element:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Refused(f"elements are nested more than {DEEPEST} deep; a URDF needs about six")
        for key, value in attrs.items():
            if found := control_character(value, allowed="" if key in NAMES else BLANKS):
                raise _Refused(f"<{tag}> {key} holds the control character {found}; remove it")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ET.Element:
        self._depth -= 1
        return super().end(tag)


def parse_xml(
    text: bytes,  # the document
    source: str,  # name for messages
    *,
    encoding: str | None = None,  # overrides the one that the text declares
    kind: str = "a robot description",  # what messages expect
) -> ET.Element:
    """Parse XML to its root element; UrdfError: it is not XML, or has a document type."""
    try:
        return _parsed(text, encoding)
    except _Refused as refusal:
        raise UrdfError(str(refusal), file=source) from None
    except ET.ParseError as error:
        try:
            return _parsed(_mended(text), encoding)
        except (ET.ParseError, _Refused):
            raise UrdfError(f"this is not XML ({error}); expected {kind}", file=source) from None
    except (LookupError, ValueError) as error:  # unknown encodings
        raise UrdfError(f"this cannot be decoded ({error}); use UTF-8", file=source) from None


def _parsed(text: bytes, encoding: str | None) -> ET.Element:
    parser = ET.XMLParser(target=_Builder(), encoding=encoding)
    parser.feed(text)
    return parser.close()


def _mended(text: bytes) -> bytes:
    """Without comments, which may not hold ``--``, and with all prefixes of names declared."""
    # the parsers of simulators (TinyXML) are not strict in these two, and files rely on it
    text = re.sub(rb"<!--.*?-->", b"", text, flags=re.DOTALL)
    used = set(re.findall(rb"[<\s]([A-Za-z_][\w.-]*):[\w.-]+[\s=>/]", text)) - {b"xmlns", b"xml"}
    missing = [name for name in sorted(used) if b"xmlns:" + name not in text]
    declared = b"".join(b' xmlns:%s="%s"' % (name, name) for name in missing)
    return re.sub(rb"<([A-Za-z_][\w.:-]*)", rb"<\1" + declared, text, count=1)


def parse_robot(text: bytes, source: str, *, encoding: str | None = None) -> ET.Element:
    """Parse URDF text to its ``<robot>`` element; see :func:`parse_xml`.

    Raises UrdfError: Not XML, a document type, unexpanded xacro, or another root element.
    """
    robot = parse_xml(text, source, encoding=encoding, kind="a URDF")
    if robot.tag != "robot":
        raise UrdfError(f"the root element is <{robot.tag}>; expected <robot>", file=source)
    for element in robot.iter():
        namespace, _, name = element.tag.rpartition("}")
        if namespace.lstrip("{").rstrip("/") in XACRO_NAMESPACES:
            raise UrdfError(
                f"<xacro:{name}> is not expanded; give the .xacro file or run xacro first",
                file=source,
            )
    return robot
