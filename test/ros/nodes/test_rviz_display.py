# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The shipped display of RViz shows what the nodes publish."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from uk_dynamics.resources import share_directory

pytest.importorskip("visualization_msgs")

from uk_dynamics.ros.nodes.markers import NAMESPACES, TOPIC


@pytest.fixture
def displays() -> dict[str, dict[str, Any]]:
    text = (share_directory() / "rviz" / "mechanism.rviz").read_text()
    manager = yaml.safe_load(text)["Visualization Manager"]
    return {display["Class"].partition("/")[2]: display for display in manager["Displays"]}


def test_markers_of_all_namespaces_can_be_switched(displays):
    markers = displays["MarkerArray"]
    assert markers["Enabled"]
    assert set(markers["Namespaces"]) == set(NAMESPACES)
    assert markers["Topic"]["Value"] == TOPIC  # relative: in the namespace of RViz
    assert markers["Topic"]["Durability Policy"] == "Volatile"  # as the publisher's


def test_the_robot_description_is_heard_also_by_who_comes_late(displays):
    topic = displays["RobotModel"]["Description Topic"]
    assert (topic["Value"], topic["Durability Policy"]) == ("robot_description", "Transient Local")
