"""XML from strangers: parsed without entities, with errors that say where."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from uk_dynamics.exceptions import UrdfError

XACRO_NAMESPACES = ("http://www.ros.org/wiki/xacro", "http://ros.org/wiki/xacro")


class _DoctypeRefused(Exception):
    pass


class _Builder(ET.TreeBuilder):
    """Stops at a document type: entities declared there can grow without bound or read files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _DoctypeRefused


def parse_robot(text: bytes, source: str, *, encoding: str | None = None) -> ET.Element:
    """Parse URDF text to its ``<robot>`` element.

    Args:
        text: The URDF.
        source: Name for messages.
        encoding: Overrides the one that the text declares.

    Raises:
        UrdfError: Not XML, a document type, unexpanded xacro, or another root element.
    """
    parser = ET.XMLParser(target=_Builder(), encoding=encoding)
    try:
        parser.feed(text)
        robot = parser.close()
    except _DoctypeRefused:
        raise UrdfError("<!DOCTYPE> is not allowed in a URDF; remove it", file=source) from None
    except ET.ParseError as error:
        raise UrdfError(f"this is not XML ({error}); expected a URDF", file=source) from None
    except (LookupError, ValueError) as error:  # unknown encodings
        raise UrdfError(f"this cannot be decoded ({error}); use UTF-8", file=source) from None
    if robot.tag != "robot":
        raise UrdfError(f"the root element is <{robot.tag}>; expected <robot>", file=source)
    for element in robot.iter():
        if _is_xacro(element):
            name = element.tag.rpartition("}")[2]
            raise UrdfError(
                f"<xacro:{name}> is not expanded; give the .xacro file or run xacro first",
                file=source,
            )
    return robot


def _is_xacro(element: ET.Element) -> bool:
    namespace = element.tag.rpartition("}")[0].lstrip("{")
    return namespace.rstrip("/") in XACRO_NAMESPACES
