# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The simulator node: a mechanism that moves under the commanded efforts."""

import time
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.diagnostics.publisher import (
    DiagnosticsPublisher,
    MessageProblems,
    RateMonitor,
    Report,
)
from uk_dynamics.ros.parameters.parameter import JOINT_STATE, TABLES, Parameters
from uk_dynamics.ros.simulation.manager_lockstep import ManagerLockstep
from uk_dynamics.ros.simulation.simulation_loop import SimulatedRun
from uk_dynamics.ros.simulation.simulation_time import Lockstep, Pacer
from uk_dynamics.ros.simulation.standard_services import StandardServices
from uk_dynamics.ros.timing.clock import Watchdog, steady_clock
from uk_dynamics.ros.topics.qos import LATCHED_QOS

_PAUSED_PERIOD = 0.02  # s; late subscribers receive the state of a paused simulation too
_UNPACED_PERIOD = 0.001  # s; as fast as possible, with pauses for messages
_UNPACED_WORK = 0.005  # s of steps between two pauses
_LONGEST_END = 2.0  # s
_ZERO_SEEN = 0.3  # s of zero efforts, until those who stopped the machine have heard of them


class Simulator(Node):
    """Simulates a mechanism under the efforts of its command topic."""

    def __init__(self, **options: Any) -> None:
        super().__init__("simulator", **options)
        self._settings = Parameters(self, TABLES["simulator"])
        self._problems = MessageProblems(self)
        self._check_settings()
        self._run = SimulatedRun(self, self._settings, self._problems)
        self._lockstep = self._manager = None
        if self._settings["lockstep"]:
            self._lockstep = Lockstep(self, self._run.publish)
            self._run.on_state = self._expect
            self._run.commands.accept = self._lockstep.accept
            self._run.commands.on_command = self._answer
        elif self._settings["manager_updates"]:
            self._manager = ManagerLockstep(self, self._settings, self._run, self._advance)
        mechanism = self._run.machine.mechanism
        if self._settings["publish_robot_description"]:
            publisher = self.create_publisher(String, "robot_description", LATCHED_QOS)
            publisher.publish(String(data=mechanism.model.description.text))
        self._end_requested = Watchdog()
        self._driven = Watchdog()  # since the end was requested
        self.paused: bool = self._settings["paused"]
        self.steps_freely = self._manager is None  # many steps in one call, and time can go back
        self._monitor = RateMonitor()
        self._tick_timer = self._start_ticking()
        self._settings.on_change("real_time_factor", self._change_pace)
        if self._lockstep is not None and not self.paused:
            self._run.publish()
        self.create_timer(_PAUSED_PERIOD, self._tick_paused, clock=steady_clock())
        self.create_service(SetBool, "~/pause", self._on_pause)
        self.create_service(Trigger, "~/step", self._on_step)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self._standard = StandardServices(self, self._run)
        DiagnosticsPublisher(self, "simulation", self._report, mechanism.name)

    def may_end(self) -> bool:
        """Whether the efforts are zero, and have been reported, where ``ends_last`` asks for it.

        The final message of servo_controller reaches the machine in the next update of
        controller_manager, that of command_watchdog some updates later.
        """
        if not self._settings["ends_last"]:
            return True
        if self._run.commands.efforts.any() or not self._end_requested.fed:
            self._driven.feed()
        if not self._end_requested.fed:
            self._end_requested.feed()
        return self._end_requested.age > _LONGEST_END or self._driven.age > _ZERO_SEEN

    def _check_settings(self) -> None:
        settings, place = self._settings, "manager_updates"
        if settings["lockstep"] and settings["command_mode"] != JOINT_STATE:
            raise InputError(
                "needs command_mode joint_state: other commands have no stamp", place="lockstep"
            )
        if not settings["manager_updates"]:
            return
        if settings["manager_updates"] < 2:
            raise InputError("expected 0, or a whole number from 2 on, found 1", place=place)
        if not settings["publish_clock"] or settings["command_mode"] != JOINT_STATE:
            raise InputError("needs publish_clock and command_mode joint_state", place=place)
        if settings["lockstep"] or settings["publish_rate"] not in (0.0, settings["rate"]):
            raise InputError("needs lockstep false and publish_rate 0", place=place)

    def _start_ticking(self) -> object:
        factor = self._settings["real_time_factor"]
        self._pacer = Pacer(self._run.machine.step_size, factor) if factor else None
        period = self._pacer.period if self._pacer else _UNPACED_PERIOD
        self._monitor.nominal_period = self._pacer.period if self._pacer else None
        self._monitor.pause()
        if self._manager is not None:
            self._manager.period = self._pacer.period if self._pacer else 0.0
            self._manager.pause(self.paused)
        return self.create_timer(period, self._tick, clock=steady_clock())

    def _change_pace(self) -> None:
        self.destroy_timer(self._tick_timer)
        self._tick_timer = self._start_ticking()

    def _tick(self) -> None:
        if self._manager is not None:
            self._manager.look()
            return
        if self.paused or self._lockstep is not None:
            return
        if self._pacer is None:
            end = time.perf_counter() + _UNPACED_WORK
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
        if self.paused and self._lockstep is None:  # in lockstep it would be answered
            (self._manager.repeat if self._manager else self._run.publish)()

    def _answer(self) -> None:
        """In lockstep: go on to the next state after the expected command."""
        for _ in range(self._run.steps_per_state):
            if not self._advance():
                return
        self._monitor.tick(self._run.steps_per_state)

    def _advance(self) -> bool:
        """Take a step; return whether it succeeded."""
        if self._run.advance():
            if self._manager is not None:
                self._monitor.tick()
            return True
        self._set_paused(True)
        self.get_logger().error(f"{self._run.failure}; call ~/reset to start again")
        return False

    def _expect(self, stamp: Time) -> None:
        """In lockstep: wait for the answer to a state."""
        if self._lockstep is not None and not self.paused:
            self._lockstep.expect(stamp)

    def _set_paused(self, paused: bool) -> None:
        self.paused = paused
        self._monitor.pause()
        if self._lockstep is not None:
            self._lockstep.pause()
            if not paused:
                self._run.publish()
        if self._manager is not None:
            self._manager.pause(paused)
        if self._pacer is not None:
            self._pacer.restart()

    def pause(self, paused: bool) -> str:
        """Stop or go on, unless a step has failed; return why not."""
        if self._run.failure and not paused:
            return f"{self._run.failure}; call ~/reset first"
        self._set_paused(paused)
        return ""

    def step(self) -> str:
        """Take one step of a simulation that is paused; return why not."""
        if self._run.failure:
            return self._run.failure
        if self._manager is not None:
            return "" if self._manager.single() else f"waiting for {self._manager.waiting_for}"
        if not self._advance():
            return self._run.failure
        self._run.publish()
        return ""

    def reset(self, *, keep_time: bool = False) -> None:
        """Return to the start; time may go on."""
        self._run.reset(keep_time=keep_time)
        self._set_paused(self.paused)
        self._run.publish()

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.message = self.pause(request.data)
        response.success = not response.message
        return response

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.paused:
            response.message = "the simulation is running; pause it first"
            return response
        problem = self.step()
        response.success = not problem
        response.message = problem or f"t = {self._run.machine.state.t:.9g} s"
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.reset()
        response.success = True
        return response

    def _report(self, report: Report) -> None:
        report.add("paused", self.paused)
        self._run.report_time(report)
        report.update(self._monitor.report())
        if self._lockstep is not None:
            report.add("unexpected_commands", self._lockstep.unexpected)
        if self._manager is not None:
            self._manager.report(report)
        report.add("steps_given_up", self._pacer.missed if self._pacer else 0)
        self._problems.report(report)
        self._run.report_machine(report)
