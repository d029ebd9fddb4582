# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the nodes listen to: the state and the structure of a mechanism, and its motor efforts.

The structure is what other nodes publish: which switchable constraints are active, the references
of live constraints, and the stamp of t = 0. Live structural constraints (a moving platform, a cam,
the other half of a cell) listen to ``<constraint>/reference``, a topic outside every node's own
names, so that simulator, controller and all other evaluators receive the same samples.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import RobotModel
from uk_dynamics.ros.diagnostics.publisher import MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.timing.clock import TimeOrigin, Watchdog, nanoseconds, runs_on_simulated_time
from uk_dynamics.ros.timing.fair_turns import FairTurns
from uk_dynamics.ros.topics.base_input import BASE_SETTINGS, BaseInput
from uk_dynamics.ros.topics.live_references import LiveReferences
from uk_dynamics.ros.topics.messages import (
    TOPIC,
    EffortReader,
    JointNumbers,
    NameIndex,
    from_message,
)
from uk_dynamics.ros.topics.qos import COMMAND_QOS, LATCHED_QOS, STATE_QOS
from uk_dynamics.ros.topics.serialized import SerializedJointState


class StateReader:
    """Complete joint states to q (nq,), v (nv,) and efforts (nv,), zero where not measured.

    Floating and planar joints stay as they are: no joint state has them.
    """

    def __init__(self, model: RobotModel) -> None:
        self.q = model.neutral()
        self.v = np.zeros(model.nv)
        self.effort = np.zeros(model.nv)
        self.index = NameIndex(model.joint_names, complete=True)
        # of the joints with one freedom: without others, q, v and effort themselves
        self._joints = (self.q, self.v, self.effort)
        self._places = None
        if model.bases:
            positions, velocities = model.joint_places
            self._places = (positions, velocities, velocities)
            self._joints = tuple(np.zeros((3, len(model.joint_names))))

    def read(self, message: JointNumbers) -> str:
        """Read q, v and effort, or return what is wrong with the message."""
        index = self.index
        if problem := index.check(message, ("position", "velocity"), ("effort",)):
            return problem
        position, velocity, effort = message.position, message.velocity, message.effort
        for field, values in (("position", position), ("velocity", velocity), ("effort", effort)):
            if problem := index.unusable(values, field):
                return problem
        of_joints = self._joints
        index.sort(position, of_joints[0])
        index.sort(velocity, of_joints[1])
        if len(effort):
            index.sort(effort, of_joints[2])
        else:
            of_joints[2][:] = 0.0
        if self._places is not None:
            for array, places, values in zip(
                (self.q, self.v, self.effort), self._places, of_joints, strict=True
            ):
                array[places] = values
        return ""


_ORIGIN_TOPIC = "simulator/time_origin"


class StructureInput:
    """Active constraints, live references and time origin, where the mechanism has any."""

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_switched: Callable[[ActiveConstraints], None] | None = None,
        origin: TimeOrigin | None = None,
    ) -> None:
        """Subscribe; ``on_switched`` is called after each valid message on active constraints.

        An ``origin`` replaces the common one.
        """
        # switchable constraints that are on, and closed contacts; None until the first message: as
        # in the mechanism file
        self.active: ActiveConstraints | None = None
        simulated = runs_on_simulated_time(node)
        # the common time origin of all evaluators of the mechanism: zero under ``/clock``, else the
        # published stamp, else the first stamp received. A stamp is published for mechanisms that
        # depend on t
        self.origin = origin or TimeOrigin(simulated=simulated)
        self._mechanism, self._problems = mechanism, problems
        self._on_switched = on_switched
        self._live = LiveReferences(problems, mechanism.references, mechanism.spec.constraints)
        if mechanism.hierarchy.switchable or mechanism.one_sided:
            problems.listen(JointState, TOPIC, self._on_active, LATCHED_QOS)
        if mechanism.driven_by_time and not simulated:
            node.create_subscription(Time, _ORIGIN_TOPIC, self._on_origin, LATCHED_QOS)

    @property
    def references(self) -> Mapping[str, ReferenceSample]:
        """Last samples by constraint, without those that have received nothing yet."""
        return self._live.followed

    def inputs(self, tau: Array | None = None) -> Inputs:
        """Present inputs of an evaluation; ``tau`` are generalized forces, (nv,), None: zero."""
        return Inputs(tau=tau, active=self.active, references=dict(self.references))

    def _on_origin(self, stamp: Time) -> None:
        self.origin.latch(nanoseconds(stamp))

    def _on_active(self, message: JointState) -> str:
        active, problem = from_message(self._mechanism, message)
        if active is not None:
            self.active = active
            if self._on_switched is not None:
                self._on_switched(active)
        return problem


class StateInput(StructureInput):
    """Complete states from ``joint_states``, and the structure of the mechanism there."""

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_state: Callable[[Time], None],
        origin: TimeOrigin | None = None,
        command_topic: str = "",
        settings: Parameters | Mapping[str, Any] = BASE_SETTINGS,
    ) -> None:
        """Subscribe; ``on_state`` is called with the stamp after each valid message.

        Where it takes longer than a period it is called for the last one of several.
        The motors act as they are commanded on ``command_topic``; without one, as is measured.
        ``settings`` say where bases come from that move as a whole.
        """
        super().__init__(node, mechanism, problems, origin=origin)
        self._commands = None
        if command_topic:
            self._commands = EffortInput(node, mechanism, problems, topic=command_topic)
        # holds q, v and measured efforts of the last valid message
        self.reader = StateReader(mechanism.model)
        # the last joint state, until the bases are known at its stamp
        self._incoming = self.reader
        self._bases: BaseInput | None = None
        if mechanism.model.bases:
            self._incoming = StateReader(mechanism.model)
            self._bases = BaseInput(node, mechanism.model, problems, settings, self._match)
        self._unmatched: int | None = None  # its stamp in ns
        self._alone = Watchdog()  # fed when joint states begin to come without a base
        self.t = 0.0  # its time since ``origin``, in s
        self.watchdog = Watchdog()  # fed by valid states
        self._sample = SerializedJointState()
        self._stamp = Time()  # of the last joint state
        self._complete_at = self._stamp  # of the last state
        self._turns = FairTurns(node, lambda: on_state(self._complete_at))
        states = node.create_subscription(
            JointState, "joint_states", self._receive, STATE_QOS, raw=True
        )
        self.topic = str(states.topic_name)

    @property
    def state(self) -> State:
        """The last state; its arrays change with the next."""
        return State(self.t, self.reader.q, self.reader.v)

    def begin_at(self, stamp: Time) -> None:
        """The last state, of a stamp, is the first one of a new time, unless time is common."""
        self.origin.reset()
        self.t = self.origin.since(stamp)

    @property
    def force(self) -> Array:
        """Generalized force of the motors at the last state, (nv,)."""
        if self._commands is None:
            return self.reader.effort
        return self._mechanism.actuators.matrix @ self._commands.efforts

    def forget(self) -> None:
        """The next state has none before it."""
        self.watchdog.forget()
        self._alone.forget()
        self._unmatched = None
        if self._bases is not None:
            self._bases.forget()

    def base_problem(self, timeout: float) -> str:
        """Why joint states make no states for ``timeout``, in s; empty where no base is why."""
        if self._bases is None or not self._alone.fed or self._alone.age < timeout:
            return ""
        topic, watchdog = self._bases.topic, self._bases.watchdog
        if not watchdog.fed:
            return f"nothing usable on {topic}, {self._alone.age:.3g} s after joint_states"
        if watchdog.age > timeout:
            return f"nothing usable on {topic} for {watchdog.age:.3g} s"
        return f"for {self._alone.age:.3g} s {topic} has not had the stamps of joint_states"

    def copied(self) -> tuple[State, Inputs]:
        """The last state, and what acted on the mechanism by the measured efforts, to keep."""
        reader = self.reader
        return State(self.t, reader.q.copy(), reader.v.copy()), self.inputs(reader.effort.copy())

    def report(self, report: Report, timeout: float) -> None:
        """Add the age of the last valid state; an error when it exceeds ``timeout``, in s."""
        age = self.watchdog.age
        report.add("state_age", age)
        if problem := self.base_problem(timeout):
            report.error(problem)
        elif age > timeout:
            report.error("no usable joint_states" + (f" for {age:.3g} s" if age < 1e9 else " yet"))
        if self._incoming.index.unknown:
            report.add("unknown_joints", ", ".join(self._incoming.index.unknown[:8]))

    def _receive(self, data: bytes) -> None:
        sample = self._sample
        sample.read(data)
        if problem := self._incoming.read(sample):
            self._problems.note("joint_states", problem)
            return
        self._stamp = Time(sec=sample.seconds, nanosec=sample.nanoseconds)
        if self._bases is None:
            self._complete()
            return
        self._unmatched = nanoseconds(self._stamp)
        if not self._alone.fed:
            self._alone.feed()
        self._match()

    def _match(self) -> None:
        """Put the last joint state and the bases of its stamp together, once both have come."""
        bases, reader, incoming = self._bases, self.reader, self._incoming
        if bases is None or self._unmatched is None:
            return
        if not bases.fill(self._unmatched, incoming.q, incoming.v):
            return
        reader.q[:], reader.v[:], reader.effort[:] = incoming.q, incoming.v, incoming.effort
        self._unmatched = None
        self._alone.forget()
        self._complete()

    def _complete(self) -> None:
        self.watchdog.feed()
        self._complete_at = self._stamp
        self.t = self.origin.since(self._stamp)
        self._turns.take()


class EffortInput:
    """Motor efforts from a command topic: ``efforts`` (motors,) of the last valid message."""

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        *,
        topic: str,
        by_joint: bool = False,
    ) -> None:
        reader = EffortReader(mechanism.actuators, mechanism.model.velocity_names)
        self.efforts = reader.efforts
        self.watchdog = Watchdog()
        self._problems, self._topic = problems, topic
        # what is wrong with the stamp of a command ``by_joint``
        self.accept: Callable[[Time], str] | None = None
        self.on_command: Callable[[], None] | None = None  # called after each valid command
        self.on_message: Callable[[], None] | None = None  # called after each message
        self._read = reader.read_joint_state if by_joint else reader.read_array
        self.subscription = node.create_subscription(
            JointState if by_joint else Float64MultiArray, topic, self._receive, COMMAND_QOS
        )

    def _receive(self, message: JointState | Float64MultiArray) -> None:
        problem = self._read(message)
        if not problem and self.accept is not None:
            problem = self.accept(message.header.stamp)
        if problem:
            self._problems.note(self._topic, problem, before_first=not self.watchdog.count)
        else:
            self.watchdog.feed()
            if self.on_command is not None:
                self.on_command()
        if self.on_message is not None:
            self.on_message()
