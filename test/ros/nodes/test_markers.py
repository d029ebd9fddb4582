# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""markers: what RViz is told to draw is where the machine is and what bears it."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("visualization_msgs")

import numpy as np
from builtin_interfaces.msg import Time
from std_srvs.srv import SetBool
from support.mechanism_builder import link
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros
from trajectory_msgs.msg import JointTrajectoryPoint
from visualization_msgs.msg import Marker as MarkerMessage
from visualization_msgs.msg import MarkerArray

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.mechanism.resolution import Inputs
from uk_dynamics.ros.nodes.markers import (
    CLOSURE_ERRORS,
    CONES,
    CONTACT_FORCES,
    CONTACTS,
    FORCES,
    FRAMES,
    LABELS,
    LIFETIME,
    NAMESPACES,
    TARGETS,
    TOPIC,
    MarkerMessages,
    Markers,
)
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.viewing.scene.marks import Marker
from uk_dynamics.viewing.scene.stage import stage

pytestmark = pytest.mark.ros


def _point(point) -> np.ndarray:
    return np.array([point.x, point.y, point.z])


def _shown(array: MarkerArray) -> dict[tuple[str, int], MarkerMessage]:
    return {(m.ns, m.id): m for m in array.markers if m.action == MarkerMessage.ADD}


def _deleted(array: MarkerArray) -> set[tuple[str, int]]:
    return {(m.ns, m.id) for m in array.markers if m.action == MarkerMessage.DELETE}


def _marks(mechanism: Mechanism, state, solution=True):
    dynamics = mechanism.dynamics()
    forces = dynamics.evaluate(state) if solution else None
    return Marker(mechanism).marks(state, dynamics.residual(state).position, forces)


@pytest.fixture
def mechanism() -> Mechanism:
    return Mechanism.from_file("four_bar")


@pytest.fixture
def messages(mechanism: Mechanism) -> MarkerMessages:
    marker = Marker(mechanism)
    root = mechanism.model.description.root
    return MarkerMessages(root, marker.constraints, marker.tasks, stage(mechanism).size)


def test_an_arrow_points_along_its_force_and_says_how_large_it_is(mechanism, messages):
    marks = _marks(mechanism, mechanism.start())
    shown = _shown(messages.array(marks, Time(), 0.35))
    arrow, label = shown[FORCES, 0], shown[LABELS, 0]
    start, end = map(_point, arrow.points)
    along, force = end - start, marks.forces[0]
    assert np.abs(start - marks.children[0]).max() < 1e-12  # doubles, as they are
    assert np.linalg.norm(np.cross(along, force)) < 1e-9 * np.linalg.norm(force)
    assert along @ force > 0.0
    # the only force there is has the longest arrow
    assert abs(np.linalg.norm(along) - 0.35 * stage(mechanism).size) < 1e-9
    assert f"{np.linalg.norm(force):.3g} N" in label.text
    assert arrow.header.frame_id == mechanism.model.description.root
    assert arrow.lifetime.sec == LIFETIME
    assert {namespace for namespace, _ in shown} <= set(NAMESPACES)


def test_what_vanishes_is_deleted_once(mechanism, messages):
    state = mechanism.start()
    messages.array(_marks(mechanism, state), Time(), 0.35)
    later = messages.array(_marks(mechanism, state, solution=False), Time(), 0.35)
    assert {(FORCES, 0), (LABELS, 0)} <= _deleted(later)
    assert (FRAMES, 0) in _shown(later)
    again = messages.array(_marks(mechanism, state, solution=False), Time(), 0.35)
    assert not _deleted(again)


def test_a_loop_that_is_open_shows_its_gap(mechanism, messages):
    state = mechanism.start()
    closed = _shown(messages.array(_marks(mechanism, state), Time(), 0.35))
    assert (CLOSURE_ERRORS, 0) not in closed
    state.q[mechanism.model.position_index("rocker")] += 0.1
    marks = _marks(mechanism, state)
    start, end = map(_point, _shown(messages.array(marks, Time(), 0.35))[CLOSURE_ERRORS, 0].points)
    assert np.abs(end - start - marks.closure_errors[0]).max() < 1e-12


def test_contacts_have_balls_arrows_and_cones():
    """Forces of a slope that holds a block, and what is deleted when it is lifted."""
    points = {"a": [-0.2, 0, 0], "b": [0.2, 0.1, 0], "c": [0.2, -0.1, 0]}
    block = Mechanism.from_data(
        {
            "model": {"root": "floating", "gravity": [1.0, 0.0, -9.7]},
            "contacts": {
                "foot": {
                    "parent": {"link": "world"},
                    "child": {"link": "block", "xyz": [0, 0, -0.2]},
                    "points": points,
                    "friction": 0.5,
                }
            },
        },
        robot_description=f'<robot name="block">{link("block", 2.0, 0.05)}</robot>',
    )
    marker, dynamics = Marker(block), block.dynamics("interpreted")
    messages = MarkerMessages("world", marker.constraints, marker.tasks, 1.0)

    def told(height: float) -> MarkerArray:
        state = block.state([0, 0, height, 0, 0, 0, 1], [0.0] * 6)
        inputs = marker.contacts.acting(state, Inputs())
        residual = dynamics.residual(state, inputs).position
        solution = dynamics.evaluate(state, inputs)
        marks = marker.marks(state, residual, solution, inputs=inputs)
        return messages.array(marks, Time(), 0.35)

    shown = _shown(told(0.2))
    assert {n for n, _ in shown} == {CONTACTS, CONTACT_FORCES, CONES}
    arrows = [shown[CONTACT_FORCES, k] for k in range(3)]
    vectors = np.array([_point(a.points[1]) - _point(a.points[0]) for a in arrows])
    # all arrows have one scale
    total = vectors.sum(axis=0)
    np.testing.assert_allclose(total / total[2], [-1.0 / 9.7, 0.0, 1.0], rtol=0, atol=1e-9)
    blue = shown[CONTACTS, 0].color
    assert (blue.r, blue.b) == pytest.approx((0.0, 178 / 255), abs=1e-6)  # floats of 4 bytes
    assert len(shown[CONES, 1].points) == 40
    lifted = told(0.3)
    assert _deleted(lifted) == {(ns, k) for ns in (CONTACT_FORCES, CONES) for k in range(3)}
    assert {n for n, _ in _shown(lifted)} == {CONTACTS}


def test_markers_follow_a_simulator(ros: Ros, start_node):
    settings = {"mechanism": "five_bar", "rate": 200.0, "paused": True}
    start_node("simulator", parameters=settings)
    ros.add(Markers(**overrides(mechanism="five_bar", tasks="five_bar_lift")))
    node = ros.node()
    ear = Ear(node, MarkerArray, TOPIC)
    ros.until(lambda: ear.messages and _shown(ear.messages[-1]), "markers")
    five_bar = Mechanism.from_file("five_bar")
    marks = _marks(five_bar, five_bar.start())
    lines = _shown(ear.messages[-1])[FRAMES, 0]
    # six points a frame; those of the parents come first
    origins = np.array([_point(point) for point in lines.points[::6]])
    drawn = np.concatenate((marks.parents, marks.children))
    assert np.abs(origins - drawn).max() < 1e-9  # serialised as they are
    assert (TARGETS, 0) in _shown(ear.messages[-1])
    pause = node.create_client(SetBool, "simulator/pause")
    ros.call(pause, SetBool.Request(data=False))

    def moved() -> bool:
        points = _shown(ear.messages[-1])[FRAMES, 0].points[::6]
        return bool(np.abs([_point(p) for p in points] - drawn).max() > 0.02)

    ros.until(moved, "motion")


_SWAYING = """
schema: 1
tasks:
  height:
    type: frame
    axes: [z]
    parent: {link: ground}
    child: {link: coupler_link, xyz: [1.0, 0.0, 0.0]}
    reference: {type: sinusoid, offset: 0.85, amplitude: 0.02, frequency: 0.5}
"""


@pytest.mark.slow
def test_targets_stand_where_the_controller_wants_them_though_it_began_later(
    ros: Ros, start_node, tmp_path
):
    file = tmp_path / "swaying.yaml"
    file.write_text(_SWAYING)
    files = {"mechanism": "five_bar", "tasks": str(file)}
    five_bar = Mechanism.from_file("five_bar")
    tasks = Tasks.from_file(file, five_bar)
    start_node("simulator", parameters={"mechanism": "five_bar", "rate": 100.0, "brakes": True})
    ros.add(Markers(**overrides(**files)))
    node = ros.node()
    ear = Ear(node, MarkerArray, TOPIC)
    told = DiagnosticsEar(node, "servo_controller")
    ros.until(lambda: len(ear.messages) > 10, "markers before the controller")
    driving = {"update_rate": 100.0, "autostart": True, "state_timeout": 10.0}
    start_node("servo_controller", parameters={**files, **driving})
    ros.until(lambda: "time_origin" in told.values, "the controller's time", 60.0)
    origin = int(told.values["time_origin"])
    state = five_bar.start()
    residual = np.zeros(len(five_bar.row_names))

    def drawn() -> tuple[float, float]:
        """Time of the controller and height of a target that is still to come."""
        target = _shown(ear.next(ros))[TARGETS, 0]
        return 1e-9 * (nanoseconds(target.header.stamp) - origin), target.pose.position.z

    def height(at: float) -> float:
        return float(Marker(five_bar, tasks).marks(state, residual, None, at).task_targets[0][2])

    def agrees() -> bool:
        t, found = drawn()
        return abs(found - height(t)) < 1e-8  # times are whole nanoseconds

    # markers may hear of the controller later than this node
    ros.until(agrees, "a target where the controller wants it")
    t, _ = drawn()
    # of a sinusoid one of two later values may be the same, not both
    assert max(abs(height(t + 0.2) - height(t)), abs(height(t + 0.5) - height(t))) > 1e-3


_LIVE = """
schema: 1
tasks:
  height:
    type: frame
    axes: [z]
    parent: {link: ground}
    child: {link: coupler_link, xyz: [1.0, 0.0, 0.0]}
    reference: {type: live, value: 0.5}
"""


def test_targets_stand_where_live_references_want_them(ros: Ros, start_node, tmp_path):
    tasks = tmp_path / "live.yaml"
    tasks.write_text(_LIVE)
    start_node("simulator", parameters={"mechanism": "five_bar", "rate": 100.0, "paused": True})
    ros.add(Markers(**overrides(mechanism="five_bar", tasks=str(tasks))))
    node = ros.node()
    ear = Ear(node, MarkerArray, TOPIC)

    def height() -> float:
        shown = _shown(ear.messages[-1]) if ear.messages else {}
        return shown[TARGETS, 0].pose.position.z if (TARGETS, 0) in shown else np.nan

    ros.until(lambda: abs(height() - 0.5) < 1e-9, "the height of the file")
    sender = node.create_publisher(JointTrajectoryPoint, "servo_controller/height/reference", 10)
    ros.until(sender.get_subscription_count, "a listener")
    sender.publish(JointTrajectoryPoint(positions=[0.8]))
    ros.until(lambda: abs(height() - 0.8) < 1e-9, "the height that was sent")
