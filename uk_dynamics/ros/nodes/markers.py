# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The markers node: loop frames, loop-closure errors, forces and targets for RViz."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from uk_dynamics.colours import FORCE, LOOP_ERROR, RGB, SHARED, TARGET, TORQUE
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.process.mechanism_source import MechanismNode
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.live_references import ControlTime
from uk_dynamics.ros.topics.odometry_topics import world_frame
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.viewing.scene import MODE_COLOURS, ArrowScale, ContactMarks, Marks, stage
from uk_dynamics.viewing.scene import Marker as SceneMarker

TOPIC = "mechanism_markers"
FRAMES, CLOSURE_ERRORS, FORCES, TORQUES, LABELS, TARGETS, ERRORS, *_CONTACTS = NAMESPACES = (
    *("loop_frames", "closure_errors", "forces", "torques", "labels", "targets", "task_errors"),
    *("contacts", "contact_forces", "friction_cones"),
)
CONTACTS, CONTACT_FORCES, CONES = _CONTACTS
LIFETIME = 1.0  # s; markers vanish when the node has ended

# Lengths as fractions of the mechanism's size.
_AXIS, _LINE, _SHAFT, _HEAD, _TEXT, _BALL = 0.05, 0.004, 0.012, 0.03, 0.035, 0.04
_VISIBLE = 1e-3  # shorter arrows and lines are not drawn


def _colour(rgb: RGB, alpha: float = 1.0) -> ColorRGBA:
    red, green, blue = (part / 255 for part in rgb)
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)


_FORCE, _TORQUE, _SHARED, _ERROR = map(_colour, (FORCE, TORQUE, SHARED, LOOP_ERROR))
_TARGET = _colour(TARGET, 0.7)
_LETTERS = _colour((240, 240, 240))
_AXES = (_colour((213, 60, 40)), _colour((60, 170, 60)), _colour((40, 90, 220)))


class MarkerMessages:
    """Makes the messages of one mechanism; markers that disappear are deleted.

    A marker has a namespace and an id: the index of its constraint in ``constraints``, or of its
    task in ``tasks``; lines of all constraints are one marker.
    """

    def __init__(
        self, frame_id: str, constraints: tuple[str, ...], tasks: tuple[str, ...], size: float
    ) -> None:
        self._frame_id, self._constraints, self._tasks = frame_id, constraints, tasks
        self._size = size
        self._force_scale, self._torque_scale = ArrowScale(), ArrowScale()
        self._drawn: set[tuple[str, int]] = set()

    def forget(self) -> None:
        """Forget the markers drawn: all subscribers are new, nothing has to be deleted."""
        self._drawn.clear()

    def array(self, marks: Marks, stamp: Time, longest: float) -> MarkerArray:
        """All visible markers, and the deletion of those that have disappeared."""
        message = MarkerArray()
        drawn = set()
        for marker in self._markers(marks, longest * self._size):
            marker.header.frame_id = self._frame_id
            marker.header.stamp = stamp
            marker.action = Marker.ADD
            marker.lifetime = Duration(sec=int(LIFETIME), nanosec=int(LIFETIME % 1.0 * 1e9))
            drawn.add((marker.ns, marker.id))
            message.markers.append(marker)
        for namespace, number in sorted(self._drawn - drawn):
            gone = Marker(ns=namespace, id=number, action=Marker.DELETE)
            gone.header.frame_id = self._frame_id
            gone.header.stamp = stamp
            message.markers.append(gone)
        self._drawn = drawn
        return message

    def _markers(self, marks: Marks, longest: float) -> Iterator[Marker]:
        yield from self._frames(marks)
        errors = marks.closure_errors
        open_ = np.linalg.norm(errors, axis=1) > _VISIBLE * self._size
        yield from self._segments(CLOSURE_ERRORS, marks.children[open_], errors[open_], _ERROR)
        forces = np.concatenate((marks.forces, marks.contacts.forces))
        per_force = self._force_scale.factor(forces, longest)
        yield from self._contacts(marks.contacts, per_force)
        per_torque = self._torque_scale.factor(marks.torques, longest)
        for k, name in enumerate(self._constraints):
            origin, unique = marks.children[k], bool(marks.determined[k])
            for namespace, vector, factor, colour, unit in (
                (FORCES, marks.forces[k], per_force, _FORCE, "N"),
                (TORQUES, marks.torques[k], per_torque, _TORQUE, "N m"),
            ):
                arrow = factor * vector
                if np.linalg.norm(arrow) <= _VISIBLE * self._size:
                    continue
                yield self._arrow(namespace, k, origin, arrow, colour if unique else _SHARED)
                if namespace == FORCES:
                    text = f"{name} {np.linalg.norm(vector):.3g} {unit}"
                    text += "" if unique else " (not unique)"
                    yield self._label(k, origin + 1.1 * arrow, text)
        missing = marks.task_targets - marks.task_points
        for k in range(len(self._tasks)):
            yield self._ball(TARGETS, k, marks.task_targets[k], _TARGET, _BALL)
        far = np.linalg.norm(missing, axis=1) > _VISIBLE * self._size
        yield from self._segments(ERRORS, marks.task_points[far], missing[far], _TARGET)

    def _contacts(self, marks: ContactMarks, factor: float) -> Iterator[Marker]:
        """Balls in the colour of what each contact does, its force, and the cone around it."""
        cones = marks.cones(factor)
        for k, (one, point) in enumerate(zip(marks.contacts, marks.points, strict=True)):
            colour = _colour(MODE_COLOURS[one.mode])
            yield self._ball(CONTACTS, k, point, colour, 0.5 * _BALL)
            arrow = factor * marks.forces[k]
            if np.linalg.norm(arrow) <= _VISIBLE * self._size:
                continue
            yield self._arrow(CONTACT_FORCES, k, point, arrow, _FORCE if one.unique else _SHARED)
            if one.friction:
                vectors = cones[k, :, 1] - cones[k, :, 0]
                yield from self._segments(CONES, cones[k, :, 0], vectors, colour, k, 0.3)

    def _frames(self, marks: Marks) -> Iterator[Marker]:
        """Axes of all loop frames, red, green and blue, on parents and children."""
        if not len(marks.parents):
            return
        marker = Marker(ns=FRAMES, type=Marker.LINE_LIST)
        marker.scale.x = 0.5 * _LINE * self._size
        for origins, axes in (
            (marks.parents, marks.parent_axes),
            (marks.children, marks.child_axes),
        ):
            for origin, frame in zip(origins, axes, strict=True):
                for k, colour in enumerate(_AXES):
                    tip = origin + _AXIS * self._size * frame[:, k]
                    marker.points += [_point(origin), _point(tip)]
                    marker.colors += [colour, colour]
        yield marker

    def _segments(
        self,
        namespace: str,
        origins: Array,
        vectors: Array,
        colour: ColorRGBA,
        number: int = 0,
        width: float = 1.0,
    ) -> Iterator[Marker]:
        if not len(origins):
            return
        marker = Marker(ns=namespace, id=number, type=Marker.LINE_LIST, color=colour)
        marker.scale.x = width * _LINE * self._size
        for origin, vector in zip(origins, vectors, strict=True):
            marker.points += [_point(origin), _point(origin + vector)]
        yield marker

    def _arrow(
        self, namespace: str, number: int, origin: Array, vector: Array, colour: ColorRGBA
    ) -> Marker:
        # a short arrow has a short head
        head = min(_HEAD * self._size, 0.4 * float(np.linalg.norm(vector)))
        shaft = _SHAFT * self._size
        return Marker(
            ns=namespace,
            id=number,
            type=Marker.ARROW,
            color=colour,
            scale=Vector3(x=shaft, y=2.0 * shaft, z=head),
            points=[_point(origin), _point(origin + vector)],
        )

    def _ball(
        self, namespace: str, number: int, place: Array, colour: ColorRGBA, size: float
    ) -> Marker:
        scale = Vector3(**dict.fromkeys("xyz", size * self._size))
        marker = Marker(ns=namespace, id=number, type=Marker.SPHERE, color=colour, scale=scale)
        marker.pose.position = _point(place)
        return marker

    def _label(self, number: int, position: Array, text: str) -> Marker:
        marker = Marker(ns=LABELS, id=number, type=Marker.TEXT_VIEW_FACING, color=_LETTERS)
        marker.pose.position = _point(position)
        marker.scale.z = _TEXT * self._size
        marker.text = text
        return marker


def _point(position: Array) -> Point:
    x, y, z = position.tolist()
    return Point(x=x, y=y, z=z)


class Markers(MechanismNode):
    """Marks the mechanism of ``joint_states``; without a subscriber nothing is computed."""

    def __init__(self, **options: Any) -> None:
        super().__init__("markers", **options)
        mechanism = self.mechanism
        tasks = self.tasks()
        self._dynamics = InterpretedDynamics(mechanism)
        self._marker = SceneMarker(mechanism, tasks)
        self._messages = MarkerMessages(
            world_frame(mechanism.model, self.settings["odom_frame"]),
            self._marker.constraints,
            self._marker.tasks,
            stage(mechanism).size,
        )
        self._control = ControlTime(self, tasks, self.problems) if tasks else None
        self._stamp: Time | None = None
        self._states = self.states(self._on_state)
        self._publisher = self.create_publisher(MarkerArray, TOPIC, PUBLISHED_QOS)
        self.create_timer(1.0 / self.settings["rate"], self._publish, clock=steady_clock())

    def _on_state(self, stamp: Time) -> None:
        self._stamp = stamp

    def _publish(self) -> None:
        """Publish the marks of the last state, once."""
        if not self._publisher.get_subscription_count():
            self._messages.forget()
            return
        stamp, self._stamp = self._stamp, None
        if stamp is None:
            return
        state, inputs = self._states.copied()
        inputs = self._marker.contacts.acting(state, inputs)
        residual = self._dynamics.residual(state, inputs).position
        solution = None
        try:
            found = self._dynamics.evaluate(state, inputs)
            solution = found if np.isfinite(found.joint_multipliers).all() else None
        except UkDynamicsError as error:
            self.get_logger().warning(f"no forces: {error}", throttle_duration_sec=5.0)
        task_time, followed = None, None
        if self._control is not None:
            task_time, followed = self._control.origin.since(stamp), self._control.live.followed
        marks = self._marker.marks(state, residual, solution, task_time, followed, inputs)
        self._publisher.publish(self._messages.array(marks, stamp, self.settings["arrow_length"]))
