# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The simulation loop: takes commands, steps the machine, publishes states and solutions."""

import functools
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from uk_dynamics.control.estimation import EncoderReadings
from uk_dynamics.exceptions import SimulationError, UkDynamicsError
from uk_dynamics.mechanism import Reality
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.diagnostics.motion import MotionReport
from uk_dynamics.ros.diagnostics.publisher import MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import JOINT_STATE, Parameters, command_topic
from uk_dynamics.ros.process.mechanism_source import (
    load_mechanism,
    make_dynamics,
    selection,
    start_state,
)
from uk_dynamics.ros.simulation.imu_topic import ImuTopic
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.ros.simulation.simulation_time import SimulationTime
from uk_dynamics.ros.timing.clock import Watchdog, nanoseconds, write_stamp
from uk_dynamics.ros.topics.dynamics_topics import DynamicsTopics
from uk_dynamics.ros.topics.inputs import EffortInput
from uk_dynamics.ros.topics.live_references import LiveReferences
from uk_dynamics.ros.topics.messages import to_message
from uk_dynamics.ros.topics.odometry_topics import BasePublishers
from uk_dynamics.ros.topics.qos import LATCHED_QOS, PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized import FIELDS, JointStateMessage

# s after a reset in which commands do not release the brakes: they come from a controller that is
# about to stop because of the jump
_AFTER_RESET = 1.0


class SimulatedRun:
    """Steps of a mechanism under the last command; ``failure`` is why it has stopped, or empty."""

    def __init__(self, node: Node, settings: Parameters, problems: MessageProblems) -> None:
        """Read the mechanism, publish and subscribe."""
        known, plant = load_mechanism(node, settings), settings["plant"]
        reality = Reality.from_file(plant) if plant else Reality({})
        mechanism = reality.machine(known)
        encoders = reality.encoders
        self._readings = None if encoders is None else EncoderReadings(known, encoders)
        rate = settings["rate"]
        self._settings = settings
        self._ticks = settings["manager_updates"] > 0  # then :meth:`tick` alone publishes the time
        self._by_stamp: bool = settings["lockstep"]
        self._waits = self._by_stamp or self._ticks
        self._references = LiveReferences(
            problems, mechanism.references, mechanism.spec.constraints
        )
        self.machine = SimulatedMachine(
            mechanism,
            1.0 / rate,
            settings["integrator"],
            make_dynamics(mechanism, selection(node, settings, lockstep=self._waits)),
            self._references.followed,
            start_state(settings, mechanism),
            delay=reality.delay,
        )
        self._read: tuple[State, State] | None = None  # the last true state, and what is known
        self._motion = MotionReport(mechanism, self.machine.dynamics, settings)
        self.failure = ""
        self._last_reset = Watchdog()
        self.on_state: Callable[[Time], None] | None = None  # before each state, with its stamp
        self.time = SimulationTime(node, publish=settings["publish_clock"], from_zero=self._waits)
        self.commands = EffortInput(
            node,
            mechanism,
            problems,
            topic=command_topic(settings),
            by_joint=settings["command_mode"] == JOINT_STATE,
        )
        self._states = JointStateMessage(mechanism.joint_names, *FIELDS)
        model = mechanism.model
        self._places = model.joint_places if model.bases else None
        self._bases = BasePublishers(
            node, model.bases, settings["odom_frame"], transforms=settings["publish_tf"]
        )
        self._imu = ImuTopic(node, settings, mechanism)
        self._publisher = node.create_publisher(JointState, "joint_states", PUBLISHED_QOS)
        self._topics = DynamicsTopics(node, mechanism)
        self.steps_per_state = max(1, round(rate / (settings["publish_rate"] or rate)))
        self._log = node.get_logger()
        self._active_publisher = None
        names = mechanism.hierarchy.switchable
        if names or mechanism.one_sided:
            self._active_publisher = node.create_publisher(
                JointState, "~/active_constraints", LATCHED_QOS
            )
        for name in names:
            enable = functools.partial(self._on_enable, name)
            node.create_service(SetBool, f"~/{name}/enable", enable)
        self._publish_active()
        self._origin_publisher = None
        if mechanism.driven_by_time:
            self._origin_publisher = node.create_publisher(Time, "~/time_origin", LATCHED_QOS)
        self._publish_origin()
        self._begun = False  # once stamps were published, their origin stays

    def advance(self) -> bool:
        """Take a step, publish the state where one is due, and return whether it succeeded."""
        machine = self.machine
        if not self._begun:
            self._begun = True
            self.time.begin(machine.step_size)
            self._publish_origin()
        if self._settings["brakes"] and self._last_reset.age < _AFTER_RESET:
            self.commands.watchdog.forget()
        if self.brakes_hold or self.commands_are_stale:
            self.commands.efforts[:] = 0.0
        machine.command(self.commands.efforts)
        active = machine.active
        try:
            if self.brakes_hold:
                machine.brake()
            else:
                machine.step()
        except UkDynamicsError as error:
            self.failure = str(error)
            return False
        self.time.set(machine.state.t)
        self._motion.see(machine.state, machine.inputs)
        now = machine.active
        if (now.names, set(now.sliding)) != (active.names, set(active.sliding)):
            self._publish_active()
        if machine.steps % self.steps_per_state == 0:
            self.publish()
        return not self.failure

    def publish(self) -> None:
        """Publish the present state, as encoders tell it where there are some, and solution."""
        machine, states = self.machine, self._states
        self._begun = True
        if not self._ticks:
            self.time.publish()
        stamp = self.time.stamp
        try:
            known = self._known()
        except SimulationError as error:
            self.failure = str(error)
            return
        q, v, tau = known.q, known.v, machine.tau
        if self._places is not None:
            if not self._ticks:
                self._bases.publish(stamp, q, v)  # first: no joint state comes without its base
            positions, velocities = self._places
            q, v, tau = q[positions], v[velocities], tau[velocities]
        states.position[:], states.velocity[:], states.effort[:] = q, v, tau
        self._imu.publish(stamp, machine.state)
        if self.on_state is not None:
            self.on_state(stamp)
        states.publish(self._publisher, stamp)
        if self._topics.wanted and not self.failure:
            self._topics.publish(stamp, machine.state, machine.solution(), machine.inputs)

    def tick(self, ahead: int = 0) -> None:
        """Publish the present time, or ``ahead`` ns later, for a manager that sleeps on it.

        It stamps the joint states that it has read with the time at which it wakes. So the bases
        that belong to them have the same stamp, and do not come earlier: who listens keeps the
        last one alone.
        """
        if self._places is not None and not self.failure:
            stamp = Time()
            write_stamp(stamp, nanoseconds(self.time.stamp) + ahead)
            known = self._known()  # has been published, and did not fail
            self._bases.publish(stamp, known.q, known.v)
        self.time.publish(ahead)

    def _known(self) -> State:
        """What encoders make of the present state, once of each; without any it is known."""
        true = self.machine.state
        if self._readings is None:
            return true
        if self._read is None or self._read[0] is not true:
            self._read = true, self._readings.read(true)
        return self._read[1]

    def reset(self, *, keep_time: bool = False) -> None:
        """Return to the start, and forget all commands and references; time may go on.

        A controller_manager that sleeps on ``/clock`` would not wake for a long time if that were
        set back: there time goes on.
        """
        keep_time = keep_time or self._ticks
        self.failure = ""
        if not self._by_stamp:  # there every command answers a state, and none is left over
            self._last_reset.feed()
        self.commands.efforts[:] = 0.0
        self.commands.watchdog.forget()
        self._references.followed.clear()
        self.machine.reset(keep_time=keep_time)
        self._motion.forget()
        if not keep_time:
            self.time.reset()
        self._publish_origin()
        self._publish_active()

    @property
    def position(self) -> dict[str, float]:
        """Positions of the present state by joint."""
        model = self.machine.mechanism.model
        positions = self.machine.state.q[model.position_of_joint]
        return dict(zip(model.joint_names, positions.tolist(), strict=True))

    @property
    def brakes_hold(self) -> bool:
        """Whether brakes hold the mechanism until the first command arrives."""
        return self._settings["brakes"] and not self.commands.watchdog.fed

    @property
    def commands_are_stale(self) -> bool:
        """Whether the last command has expired."""
        if self._waits:
            return False
        timeout = self._settings["command_timeout"]
        watchdog = self.commands.watchdog
        return timeout > 0.0 and watchdog.fed and watchdog.age > timeout

    def _publish_origin(self) -> None:
        """Publish the stamp of t = 0."""
        if self._origin_publisher is not None:
            self._origin_publisher.publish(self.time.origin)

    def _publish_active(self) -> None:
        """Publish which constraints are active."""
        if self._active_publisher is not None:
            message = to_message(self.machine.mechanism, self.machine.active)
            message.header.stamp = self.time.stamp
            self._active_publisher.publish(message)

    def _on_enable(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        try:
            lost = self.machine.switch({name: request.data})
        except UkDynamicsError as error:
            response.message = str(error)
            return response
        self._publish_active()
        response.success = True
        response.message = f"{name} is {'on' if request.data else 'off'}; {lost:.6g} J lost"
        self._log.info(response.message)
        return response

    def report_time(self, report: Report) -> None:
        """Add time, brakes and real-time factor."""
        report.add("time", self.machine.state.t)
        report.add("brakes_hold", self.brakes_hold)
        report.add("real_time_factor", self.time.factor())

    def report_machine(self, report: Report) -> None:
        """Add the state of the mechanism, and its problems."""
        machine = self.machine
        if self._active_publisher is not None:
            report.add("active_constraints", ", ".join(sorted(machine.active.names)) or "none")
        if self.failure:
            report.error(self.failure)
            return
        self._motion.report(report, machine.state, machine.solution(), machine.inputs)
        if problem := machine.contact_problem():
            report.warn(problem)
        motors = machine.mechanism.actuators.names
        limited = [name for name, cut in zip(motors, machine.saturated, strict=True) if cut]
        if limited:
            report.warn(f"effort limit reached: {', '.join(limited)}")
        if self.commands_are_stale:
            report.warn("commands are stale, all efforts are zero")
