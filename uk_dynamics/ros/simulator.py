"""The simulator node: the machine, when there is no machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.ros.active_constraints import ConstraintSwitches
from uk_dynamics.ros.clock import steady_clock
from uk_dynamics.ros.common_parameters import EFFORT_COMMANDS, JOINT_COMMANDS
from uk_dynamics.ros.diagnostics import DiagnosticsPublisher, MessageProblems, Report
from uk_dynamics.ros.dynamics_topics import DynamicsTopics
from uk_dynamics.ros.inputs import EffortInput
from uk_dynamics.ros.lockstep import Lockstep
from uk_dynamics.ros.machine import SimulatedMachine
from uk_dynamics.ros.mechanism_source import DESCRIPTION_QOS, load_mechanism, make_dynamics
from uk_dynamics.ros.messages import JointStateMessage
from uk_dynamics.ros.pacing import Pacer
from uk_dynamics.ros.parameter_tables import SIMULATOR
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.rate_monitor import RateMonitor
from uk_dynamics.ros.reports import report_dynamics, report_rate
from uk_dynamics.ros.run_node import run_node
from uk_dynamics.ros.simulation_time import SimulationTime
from uk_dynamics.ros.structure_input import structural_references

_PAUSED_PERIOD = 0.02  # s; who comes late also learns where a paused machine stands
_HURRY_PERIOD = 0.001  # s; as fast as possible, but messages get their turn
_HURRY_WORK = 0.005  # s


class Simulator(Node):
    """Moves a mechanism under the efforts of ``effort_controller/commands``."""

    def __init__(self, **options: Any) -> None:
        """Read the mechanism and start.

        Args:
            **options: Passed on to the node: namespace, parameter_overrides ...

        Raises:
            UkDynamicsError: Anything wrong in the parameters or files, or the loops do not close.
        """
        super().__init__("simulator", **options)
        self._settings = Parameters(self, SIMULATOR)
        mechanism = load_mechanism(self, self._settings)
        rate = self._settings["rate"]
        dynamics = make_dynamics(self, self._settings, mechanism)
        integrator = self._settings["integrator"]
        self._problems = MessageProblems(self.get_logger())
        self._references = structural_references(self, mechanism, self._problems)
        self._machine = SimulatedMachine(
            mechanism, 1.0 / rate, integrator, dynamics, self._references.followed
        )
        self._lockstep = self._make_lockstep()
        self._time = SimulationTime(
            self,
            publish=self._settings["publish_clock"],
            from_zero=self._lockstep is not None,
        )
        by_joint = self._settings["command_mode"] == "joint_state"
        usual_topic = JOINT_COMMANDS if by_joint else EFFORT_COMMANDS
        self._commands = EffortInput(
            self,
            mechanism,
            self._problems,
            topic=self._settings["command_topic"] or usual_topic,
            by_joint=by_joint,
            accept=self._lockstep.accept if self._lockstep else None,
            on_command=self._answer if self._lockstep else None,
        )
        self._states = JointStateMessage(
            mechanism.joint_names, position=True, velocity=True, effort=True
        )
        self._publisher = self.create_publisher(JointState, "joint_states", 10)
        self._topics = DynamicsTopics(self, mechanism)
        wanted = self._settings["publish_rate"] or rate
        self._steps_per_state = max(1, round(rate / wanted))
        self._switches = ConstraintSwitches(self, self._machine, lambda: self._time.stamp)
        self._description_publisher = self._publish_description(mechanism.model.description.text)

        self._paused: bool = self._settings["paused"]
        self._failure = ""
        self._monitor = RateMonitor()
        self._tick_timer = self._start_ticking()
        self._settings.on_change("real_time_factor", self._change_pace)
        if self._lockstep is not None and not self._paused:
            self._publish_state()
        self.create_timer(_PAUSED_PERIOD, self._tick_paused, clock=steady_clock())
        self.create_service(SetBool, "~/pause", self._on_pause)
        self.create_service(Trigger, "~/step", self._on_step)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self._diagnostics = DiagnosticsPublisher(self, "simulation", self._report)
        self._diagnostics.hardware = mechanism.name

    def _make_lockstep(self) -> Lockstep | None:
        if not self._settings["lockstep"]:
            return None
        if self._settings["command_mode"] != "joint_state":
            raise InputError(
                "needs command_mode joint_state: other commands have no stamp", place="lockstep"
            )
        return Lockstep(self, self._publish_state)

    def _publish_description(self, text: str) -> object:
        if not self._settings["publish_robot_description"]:
            return None
        publisher = self.create_publisher(String, "robot_description", DESCRIPTION_QOS)
        publisher.publish(String(data=text))
        return publisher

    def _start_ticking(self) -> object:
        factor = self._settings["real_time_factor"]
        self._pacer = Pacer(self._machine.step_size, factor) if factor else None
        period = self._pacer.period if self._pacer else _HURRY_PERIOD
        self._monitor.nominal_period = self._pacer.period if self._pacer else None
        self._monitor.pause()
        return self.create_timer(period, self._tick, clock=steady_clock())

    def _change_pace(self) -> None:
        self.destroy_timer(self._tick_timer)
        self._tick_timer = self._start_ticking()

    def _tick(self) -> None:
        if self._paused or self._lockstep is not None:
            return
        if self._pacer is None:
            end = time.perf_counter() + _HURRY_WORK
            count = 1
            while self._advance() and time.perf_counter() < end:
                count += 1
        else:
            count = self._pacer.due()
            for _ in range(count):
                if not self._advance():
                    break
        self._monitor.tick(count)

    def _tick_paused(self) -> None:
        if self._paused and self._lockstep is None:  # else an answer would come
            self._publish_state()

    def _answer(self) -> None:
        """In lockstep: the awaited command has come, go on to the next state."""
        for _ in range(self._steps_per_state):
            if not self._advance():
                return
        self._monitor.tick(self._steps_per_state)

    def _advance(self) -> bool:
        """Take a step; tell whether it succeeded."""
        machine = self._machine
        stale = self._commands_are_stale()
        if stale:
            self._commands.efforts[:] = 0.0
        machine.command(self._commands.efforts)
        try:
            if self._brakes_hold:
                machine.stand()
            else:
                machine.step()
        except UkDynamicsError as error:
            self._failure = str(error)
            self._set_paused(True)
            self.get_logger().error(f"{self._failure}; ~/reset starts again")
            return False
        self._time.set(machine.state.t)
        if machine.steps % self._steps_per_state == 0:
            self._publish_state()
        return True

    @property
    def _brakes_hold(self) -> bool:
        return self._settings["brakes"] and not self._commands.watchdog.fed

    def _commands_are_stale(self) -> bool:
        if self._lockstep is not None:  # it waits
            return False
        timeout = self._settings["command_timeout"]
        watchdog = self._commands.watchdog
        return timeout > 0.0 and watchdog.fed and watchdog.age > timeout

    def _publish_state(self) -> None:
        machine, states = self._machine, self._states
        self._time.publish()
        stamp = states.message.header.stamp = self._time.stamp
        states.position[:] = machine.state.q
        states.velocity[:] = machine.state.v
        states.effort[:] = machine.tau
        if self._lockstep is not None and not self._paused:
            self._lockstep.expect(stamp)
        self._publisher.publish(states.message)
        if self._topics.wanted and not self._failure:
            self._topics.publish(stamp, machine.state, machine.solution(), machine.inputs)

    def _set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._monitor.pause()
        if self._lockstep is not None:
            self._lockstep.pause()
            if not paused:
                self._publish_state()
        if self._pacer is not None:
            self._pacer.restart()

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = request.data or not self._failure
        if response.success:
            self._set_paused(request.data)
        response.message = "" if response.success else f"{self._failure}; call ~/reset first"
        return response

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self._paused:
            response.message = "the simulation runs; pause it first"
            return response
        response.success = not self._failure and self._advance()
        if response.success:
            self._publish_state()
        response.message = self._failure or f"t = {self._machine.state.t:.9g} s"
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._failure = ""
        self._commands.efforts[:] = 0.0
        self._commands.watchdog.forget()
        self._references.followed.clear()
        self._machine.reset()
        self._time.reset()
        self._set_paused(self._paused)
        self._switches.publish()
        self._publish_state()
        response.success = True
        return response

    def _report(self, report: Report) -> None:
        machine = self._machine
        report.add("time", machine.state.t)
        report.add("paused", str(self._paused).lower())
        report.add("brakes_hold", str(self._brakes_hold).lower())
        report.add("real_time_factor", self._time.factor())
        report_rate(report, self._monitor)
        if self._lockstep is not None:
            report.add("unexpected_commands", self._lockstep.unexpected)
        report.add("steps_given_up", self._pacer.missed if self._pacer else 0)
        self._problems.report(report)
        if machine.mechanism.hierarchy.switchable:
            report.add("active_constraints", ", ".join(sorted(machine.active.names)) or "none")
        if self._failure:
            report.error(self._failure)
            return
        report_dynamics(
            report,
            machine.mechanism,
            machine.state,
            machine.solution(),
            machine.dynamics,
            self._settings["residual_warning"],
            machine.inputs,
        )
        motors = machine.mechanism.actuators.names
        limited = [name for name, cut in zip(motors, machine.saturated, strict=True) if cut]
        if limited:
            report.warn(f"effort limit reached: {', '.join(limited)}")
        if self._commands_are_stale():
            report.warn("commands are stale, all efforts are zero")


def main(args: Sequence[str] | None = None) -> int:
    """Run the simulator until it is told to end."""
    return run_node(Simulator, args)


if __name__ == "__main__":
    raise SystemExit(main())
