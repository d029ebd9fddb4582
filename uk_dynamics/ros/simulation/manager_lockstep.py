# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulated time for a controller_manager: one step of the machine for each state it reads."""

import time
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import EFFORT_COMMANDS, Parameters
from uk_dynamics.ros.simulation.simulation_loop import SimulatedRun
from uk_dynamics.ros.topics.qos import COMMAND_QOS

MANAGER, SERVO = "controller_manager", "servo_controller"
BROADCASTER = "the broadcaster of every update"
UPDATE_STATES = "update_joint_states"
HEARTBEAT = "servo_controller/heartbeat"

_SETTLING = 0.2  # s of real time without a message, after which no answer is under way any more
_REPEAT = 0.05  # s of real time; /clock is best effort, and may be lost
_HANDED_OVER = 0.0002  # s of real time in which an answer usually comes to effort_controller
_DROPPED = 0.05  # s of real time
_LARGEST_LAG = 0.05  # s of real time that is caught up


class ManagerLockstep:
    """Decides when ``/clock`` goes on.

    On simulated time controller_manager sleeps until the clock has gone on by its period, reads the
    states, updates its controllers once and sends commands. The clock goes on by a step of the
    machine when these have come and, while servo_controller drives, its answer to the states
    too: a busy computer slows the run and changes nothing in it. It never goes faster than
    ``real_time_factor``, and at that pace before the manager has been heard for the first time,
    since the manager needs time to go on while it activates controllers.

    An answer of servo_controller that has come here may not have come to effort_controller yet, nor
    the last state to the hardware plugin. So the manager, whose period is a fraction of a step, is
    woken for another update in between, again and again, until its commands contain that answer,
    and a broadcaster that publishes in each update that state; the machine takes the answer with
    the next step, as a real one does.
    """

    def __init__(
        self,
        node: Node,  # node to subscribe with
        settings: Parameters,  # parameters of the simulator
        run: SimulatedRun,
        # moves the machine by one step, publishes its state, and returns whether it succeeded
        step: Callable[[], bool],
    ) -> None:
        """Subscribe to what servo_controller sends."""
        run.commands.on_message = self._on_update
        self.unexpected = 0  # commands of controller_manager that answer no awaited update
        self.delayed = 0  # steps in which it did not pass on the last answer, or read the state
        self.again = 0  # updates that were repeated
        self.period = 0.0  # s of real time that a step takes at least
        self._log = node.get_logger()
        self._settings = settings
        self._run, self._step = run, step
        self._known: set[str] = set()
        self._awaited: set[str] = set()
        self._moved = True  # whether the machine has moved since the last tick
        self._paused = self._late = False
        self._settled = self._due = self._since = self._repeated = 0.0
        self._update = 0  # number of the update in this step
        self._ahead = 0  # ns since the last tick
        self._answer: Array | None = None  # of servo_controller, not yet passed on by the manager
        self._read = True  # whether the manager has read the last state
        self._before = np.zeros(0)  # what the manager commanded in the first update of this step
        self._updates: int = settings["manager_updates"]
        # a period of the manager, and 1 ns for what is rounded
        self._fraction = int(1e9 / settings["rate"] / self._updates) + 1
        node.create_subscription(Float64MultiArray, EFFORT_COMMANDS, self._on_efforts, COMMAND_QOS)
        node.create_subscription(JointState, UPDATE_STATES, self._on_states, COMMAND_QOS)
        node.create_subscription(UInt64MultiArray, HEARTBEAT, self._on_heartbeat, COMMAND_QOS)

    @property
    def waiting_for(self) -> str:
        """Who has not answered the present time, as text; empty where nobody is waited for."""
        return " and ".join(name for name in (MANAGER, BROADCASTER, SERVO) if name in self._awaited)

    def pause(self, paused: bool) -> None:
        """Let time stand still after this step, or go on."""
        self._paused = paused
        self._since = self._repeated = self._due = time.monotonic()
        self._late = False

    def single(self) -> bool:
        """Let a paused time go on by one step; return whether all have answered the last one."""
        if self._awaited or self._answer is not None or time.monotonic() < self._settled:
            return False
        return self._go()

    def _on_update(self) -> None:
        """controller_manager has sent its commands, valid or not."""
        efforts = self._run.commands.efforts
        if self._join(MANAGER, "simulated time waits for its updates"):
            return
        if MANAGER not in self._awaited:
            self.unexpected += time.monotonic() >= self._settled
            return
        self._awaited.discard(MANAGER)
        if not self._update:
            self._before = efforts.copy()
            self._moved = self._step()
            self._read = BROADCASTER not in self._known
        elif np.array_equal(efforts, self._answer) or not np.array_equal(efforts, self._before):
            # the commands contain the last answer, be it cut at limits
            self._answer = None
        self.look()

    def look(self) -> None:
        """Let time go on if it may."""
        now = time.monotonic()
        if now < self._settled:
            return
        if self._settled > self._since:  # a servo_controller that has just begun is quiet now
            self._awaited.discard(SERVO)
        if self._awaited:
            self._wait(now)
        elif SERVO in self._known and not (self._answer is None and self._read):
            self._update_again()
        elif not self._paused and now >= self._due and self._go():
            self._due = max(self._due, now - _LARGEST_LAG) + self.period

    def repeat(self) -> None:
        """Publish state and time once more.

        The time is 1 ns later: a manager that was about to fall asleep may have missed the last one
        and rclcpp wakes it only when time has changed.
        """
        self._run.publish()
        self._ahead += MANAGER in self._awaited
        if self._moved:
            self._run.time.repeat(self._ahead)
        else:
            self._run.tick(self._ahead)

    def report(self, report: Report) -> None:
        """Add who is waited for, an error where that takes too long, and the counts."""
        report.add("waiting_for", self.waiting_for or "nobody")
        report.add("unexpected_commands", self.unexpected)
        report.add("delayed_commands", self.delayed)
        report.add("updates_again", self.again)
        if self._late:
            report.error(self._overdue)

    def _go(self) -> bool:
        """Take the next step, if it has not been taken, and begin the one after that."""
        if not self._moved and not self._step():
            return False
        self._moved = False
        self._update = self._ahead = 0
        self._expect(self._known - {BROADCASTER})
        self._run.tick()
        return True

    def _update_again(self) -> None:
        """Wake the manager within this step, so that it passes on the last answer."""
        self._update += 1
        if self._update == self._updates - 1:  # the next step must be a whole period away
            self.delayed += 1
            self._answer, self._read = None, True
            self.look()
            return
        self.again += self._update > 1
        # nothing else is to be done, and effort_controller needs the processor
        time.sleep(_HANDED_OVER * 2.0 ** (self._update - 1))
        self._expect(self._known - {SERVO})
        self._ahead += self._fraction
        self._run.time.repeat(self._ahead)

    def _expect(self, names: set[str]) -> None:
        self._awaited = set(names)
        self._since = self._repeated = time.monotonic()
        self._late = False

    @property
    def _age(self) -> float:
        return time.monotonic() - self._since

    @property
    def _overdue(self) -> str:
        return f"no answer of {self.waiting_for} for {self._age:.3g} s: time stands still"

    def _wait(self, now: float) -> None:
        if now - self._repeated > _REPEAT:
            self._repeated = now
            self.repeat()
        if self._awaited == {BROADCASTER} and self._age > _DROPPED:
            self._awaited.clear()  # it drops a message while it sends another
            return
        if self._late or self._age <= self._settings["answer_timeout"]:
            return
        if self._awaited == {SERVO}:
            self._log.error(f"no answer of {SERVO} for {self._age:.3g} s: time goes on without it")
            self._leave()
            return
        self._late = True
        self._log.error(self._overdue)

    def _join(self, name: str, what: str) -> bool:
        """Whether it is heard for the first time; time stands still until all are quiet."""
        first = name not in self._known
        now = time.monotonic()
        if first:
            self._known.add(name)
            self._log.info(f"{name} answers: {what}")
        if first or now < self._settled:
            self._settled = now + _SETTLING
        return first

    def _leave(self) -> None:
        self._known.discard(SERVO)
        self._awaited.discard(SERVO)

    def _on_efforts(self, message: Float64MultiArray) -> None:
        self._answer = np.array(message.data)
        if not self._join(SERVO, "simulated time waits for its commands"):
            self._awaited.discard(SERVO)
            self.look()

    def _on_states(self, message: JointState) -> None:
        self._known.add(BROADCASTER)
        position = self._run.position
        self._read |= all(
            position[name] == value
            for name, value in zip(message.name, message.position, strict=True)
            if name in position
        )
        if BROADCASTER in self._awaited:
            self._awaited.discard(BROADCASTER)
            self.look()

    def _on_heartbeat(self, message: UInt64MultiArray) -> None:
        if list(message.data)[-1:] == [0] and SERVO in self._known:  # the last says: driving
            self._log.info(f"{SERVO} is inactive: simulated time goes on without it")
            self._leave()
            self.look()
