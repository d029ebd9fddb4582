# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Layouts of PlotJuggler and Foxglove: whole, and as shipped."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.cli.main import main
from uk_dynamics.resources import share_directory
from uk_dynamics.viewing.layouts import foxglove_layout, plotjuggler_layout

SHIPPED = ("five_bar", "stewart_platform")


def _leaves(layout: object) -> list[str]:
    if isinstance(layout, str):
        return [layout]
    assert isinstance(layout, dict)
    assert layout["direction"] in ("row", "column")
    assert 0.0 < layout["splitPercentage"] < 100.0
    return [*_leaves(layout["first"]), *_leaves(layout["second"])]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_layouts_are_those_of_the_mechanism(name, tmp_path, capsys):
    assert main(["layouts", name, "--out", str(tmp_path)]) == 0
    files = capsys.readouterr().out.split()
    assert len(files) == 2
    for file in tmp_path.iterdir():
        shipped = share_directory() / "layouts" / file.name
        assert shipped.read_text(encoding="utf-8") == file.read_text(encoding="utf-8"), (
            f"uk_dynamics layouts {name} --out layouts"
        )


def test_every_foxglove_panel_has_its_place_and_settings():
    layout = json.loads(foxglove_layout(Mechanism.from_file("rrr3")))
    placed = _leaves(layout["layout"])
    for tab in layout["configById"]["Tab!plots"]["tabs"]:
        placed += _leaves(tab["layout"])
    assert sorted(placed) == sorted(layout["configById"])


def test_splitters_of_plotjuggler_count_their_children():
    root = ET.fromstring(plotjuggler_layout(Mechanism.from_file("rrr3")))
    splitters = list(root.iter("DockSplitter"))
    assert len(splitters) == 4
    for splitter in splitters:
        sizes = [float(size) for size in splitter.attrib["sizes"].split(";")]
        assert len(sizes) == len(splitter) == int(splitter.attrib["count"])
        assert abs(sum(sizes) - 1.0) < 1e-5  # six digits are written


def test_a_namespace_stands_before_topics_services_and_nodes():
    layout = json.loads(foxglove_layout(Mechanism.from_file("five_bar"), "left"))
    panels = layout["configById"]
    assert panels["CallService!reset"]["serviceName"] == "/left/simulator/reset"
    assert list(panels["3D!machine"]["topics"]) == ["/left/mechanism_markers"]
    paths = [path["value"] for panel in panels.values() for path in panel.get("paths", ())]
    told = [path for path in paths if not path.lstrip("-").isdecimal()]
    about = '/diagnostics.status[:]{name=="left/forward_dynamics: dynamics"}'
    assert all(path.startswith(("/left/", about)) for path in told)


def test_a_mechanism_without_motors_has_no_tab_for_them():
    mechanism = Mechanism.from_file("four_bar")
    with_motors = ET.fromstring(plotjuggler_layout(mechanism))
    titles = [tab.attrib["tab_name"] for tab in with_motors.iter("Tab")]
    assert ("motors" in titles) == bool(len(mechanism.actuators))
    without = ET.fromstring(plotjuggler_layout(Mechanism.from_file("rolling_disc")))
    assert "motors" not in [tab.attrib["tab_name"] for tab in without.iter("Tab")]


def test_tasks_have_a_tab_where_they_are_given():
    mechanism = Mechanism.from_file("rrr3")
    tasks = Tasks.from_file("rrr3_track", mechanism)
    for given, wanted in ((None, 0), (tasks, 4 * len(tasks.row_names))):
        root = ET.fromstring(plotjuggler_layout(mechanism, "left", given))
        names = [curve.attrib["name"] for curve in root.iter("curve")]
        assert len(names) == len(set(names))
        assert sum(name.startswith("/left/servo_controller/task_") for name in names) == wanted
        panels = json.loads(foxglove_layout(mechanism, "left", given))["configById"]
        assert ("tasks" in [tab["title"] for tab in panels["Tab!plots"]["tabs"]]) == bool(wanted)


def test_what_was_written_as_json(tmp_path, capsys):
    assert main(["layouts", "five_bar", "--out", str(tmp_path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["mechanism"] == "five_bar"
    assert sorted(facts["files"]) == sorted(map(str, tmp_path.iterdir()))
    assert len(facts["files"]) == 2
