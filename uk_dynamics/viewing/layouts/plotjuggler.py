# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Layouts for PlotJuggler: tabs of plots that stand one below the other."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from uk_dynamics.colours import COLOURS
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.layouts.curves import DIAGNOSTIC_ARRAY, JOINT_STATE, Curve, Plot, tabs

_BUFFER = 30  # s that are kept while it listens


def plotjuggler_layout(
    mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None
) -> str:
    """The layout as XML; without tasks ``servo_controller`` is not shown."""
    root = ET.Element("root")
    window = ET.SubElement(root, "tabbed_widget", {"name": "Main Window", "parent": "main_window"})
    for title, plots in tabs(mechanism, namespace, tasks).items():
        tab = ET.SubElement(window, "Tab", tab_name=title, containers="1")
        container = ET.SubElement(tab, "Container")
        share = ";".join([f"{1.0 / len(plots):.6f}"] * len(plots))
        below = ET.SubElement(
            container, "DockSplitter", orientation="-", count=str(len(plots)), sizes=share
        )
        for plot in plots:
            _add_plot(below, plot, mechanism.name)
    ET.SubElement(window, "currentTabIndex", index="0")
    ET.SubElement(root, "use_relative_time_offset", enabled="1")
    ET.SubElement(root, "streaming_buffer_size", value=str(_BUFFER))
    ET.indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, "unicode") + "\n"


def series(curve: Curve, mechanism: str) -> str:
    """Name that PlotJuggler gives to a number of a ROS 2 message.

    JointState and DiagnosticArray it takes apart by names, other messages by fields and places.
    """
    if curve.type == JOINT_STATE:
        return f"{curve.topic}/{curve.name}/{curve.field}"
    if curve.type == DIAGNOSTIC_ARRAY:
        return f"{curve.topic}/{mechanism}/{curve.field}/{curve.name}"
    return f"{curve.topic}/{curve.field.replace('.', '/')}[{curve.index}]"


def _add_plot(parent: ET.Element, plot: Plot, mechanism: str) -> None:
    area = ET.SubElement(parent, "DockArea", name=plot.title)
    drawn = ET.SubElement(
        area, "plot", mode="TimeSeries", style="Lines", flip_x="false", flip_y="false"
    )
    ET.SubElement(drawn, "range", left="0", right="10", bottom="-1", top="1")
    ET.SubElement(drawn, "limitY")
    for index, curve in enumerate(plot.curves):
        colour = COLOURS[index % len(COLOURS)].lower()
        ET.SubElement(drawn, "curve", name=series(curve, mechanism), color=colour)
