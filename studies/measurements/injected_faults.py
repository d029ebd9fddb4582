# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Faults that can be injected into a driven machine, and what shall happen then."""

from __future__ import annotations

import math
import signal
import time
from array import array
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass

from fault_bench import PACE, POSITION_JUMP, RAMP_TIME, STOP_TIME, TAKEN_BACK, FaultBench
from sensor_msgs.msg import JointState
from state_relay import Fault

_AT_ONCE = 0.02  # s
_UNDER_WAY = 0.1  # s that a last command may need, which is another topic than the heartbeat
_FAST = 0.5  # rad/s, at least, when encoders get stuck
_STUCK = (POSITION_JUMP / _FAST + 0.5) / PACE + RAMP_TIME  # s; velocities are added up for 0.5 s
_RAMP = RAMP_TIME + _AT_ONCE
_GOES_ON = 1.0  # s for which the machine must be driven on


@dataclass(frozen=True)
class Injection:
    """One kind of fault.

    Attributes:
        inject: Brings it about.
        cause: What diagnostics of the controller say then; empty: it is driven on.
        within: Time after which motors have got zero efforts for good, in s.
        dead: Node that is killed by it.
        taken_back: Whether it is the watchdog that commands zero.
    """

    inject: Callable[[FaultBench], None]
    cause: str = ""
    within: float = 0.0
    dead: str = ""
    taken_back: bool = False


def _kill(name: str) -> Callable[[FaultBench], None]:
    return lambda bench: bench.processes[name].kill()


def _freeze(name: str) -> Callable[[FaultBench], None]:
    return lambda bench: bench.processes[name].send_signal(signal.SIGSTOP)


def _tell(fault: Callable[[], Fault]) -> Callable[[FaultBench], None]:
    def inject(bench: FaultBench) -> None:
        bench.relay.fault = fault()

    return inject


def _once(change: Callable[[JointState], Iterable[JointState]]) -> Callable[[], Fault]:
    """A fault of one message only."""

    def begin() -> Fault:
        done: list[bool] = []

        def fault(message: JointState) -> Iterable[JointState]:
            if done:
                return (message,)
            done.append(True)
            return change(message)

        return fault

    return begin


def _always(change: Callable[[JointState], Iterable[JointState]]) -> Callable[[], Fault]:
    return lambda: change


def _with(field: str, value: float) -> Callable[[JointState], Iterable[JointState]]:
    def change(message: JointState) -> Iterable[JointState]:
        setattr(message, field, array("d", [value] * len(message.name)))
        return (message,)

    return change


def _nothing(message: JointState) -> Iterable[JointState]:
    return ()


def _nameless(message: JointState) -> Iterable[JointState]:
    message.name = ["elsewhere"] * len(message.name)
    return (message,)


def _twice(message: JointState) -> Iterable[JointState]:
    return message, message


def _jumped(message: JointState) -> Iterable[JointState]:
    message.position = array("d", [value + 2.0 * POSITION_JUMP for value in message.position])
    return (message,)


def _shifted(seconds: int) -> Callable[[JointState], Iterable[JointState]]:
    def change(message: JointState) -> Iterable[JointState]:
        message.header.stamp.sec += seconds
        return (message,)

    return change


def _swapped() -> Fault:
    kept: list[JointState] = []

    def fault(message: JointState) -> Iterable[JointState]:
        kept.append(message)
        if len(kept) == 1:
            return ()
        return (message, kept[0]) if len(kept) == 2 else (message,)

    return fault


def _repeated() -> Fault:
    kept: list[JointState] = []

    def fault(message: JointState) -> Iterable[JointState]:
        kept.append(deepcopy(message))
        return (kept[0],)

    return fault


def _stuck(bench: FaultBench) -> None:
    bench.until(lambda: bench.relay.speed > _FAST, "a fast motion")
    kept: list[JointState] = []

    def fault(message: JointState) -> Iterable[JointState]:
        kept.append(message)
        message.position, message.velocity = kept[0].position, kept[0].velocity
        return (message,)

    bench.relay.fault = fault


def _leave(bench: FaultBench) -> None:
    bench.relay.leave()


def _press(bench: FaultBench) -> None:
    bench.trigger("servo_controller/emergency_stop")


_NAN = _with("position", math.nan)

INJECTIONS = {
    "simulator killed": Injection(_kill("simulator"), "stale_state", STOP_TIME, dead="simulator"),
    "completer killed": Injection(
        _kill("joint_state_completer"), "stale_state", STOP_TIME, dead="joint_state_completer"
    ),
    "controller killed": Injection(
        _kill("servo_controller"), "", TAKEN_BACK, dead="servo_controller", taken_back=True
    ),
    "controller frozen": Injection(
        _freeze("servo_controller"), "pause", TAKEN_BACK, taken_back=True
    ),
    "watchdog killed": Injection(_kill("command_watchdog"), dead="command_watchdog"),
    "states end": Injection(_tell(_always(_nothing)), "stale_state", STOP_TIME),
    "one state again and again": Injection(_tell(_repeated), "stale_state", STOP_TIME),
    "encoders stuck": Injection(_stuck, "position_jump", _STUCK),
    "one NaN": Injection(_tell(_once(_NAN))),
    "NaN from now on": Injection(_tell(_always(_NAN)), "stale_state", STOP_TIME),
    "one absurd number": Injection(_tell(_once(_with("position", 1e200)))),
    "joints without names": Injection(_tell(_always(_nameless)), "stale_state", STOP_TIME),
    "every state twice": Injection(_tell(_always(_twice))),
    "two states swapped": Injection(_tell(_swapped)),
    "clock back by 5 s": Injection(_tell(_always(_shifted(-5))), "time_backwards", _RAMP),
    "clock ahead by 5 s": Injection(_tell(_always(_shifted(5))), "time_jump", _RAMP),
    "position jumps": Injection(_tell(_once(_jumped)), "position_jump", _RAMP),
    "too fast": Injection(_tell(_once(_with("velocity", 1e4))), "over_speed", _RAMP),
    "encoders leave DDS": Injection(_leave, "stale_state", STOP_TIME),
    "emergency stop": Injection(_press, "emergency_stop", _AT_ONCE),
}


@dataclass(frozen=True)
class Outcome:
    """What happened after a fault.

    Attributes:
        name: Of the fault.
        stopped_after: When the motors got zero efforts, in s after the fault.
        problem: What was not as it shall be; empty when all was.
    """

    name: str
    stopped_after: float
    problem: str


def try_out(bench: FaultBench, name: str, slack: float) -> Outcome:
    """Inject a fault into the driven machine and see what happens.

    Args:
        bench: The machine; it is driven again afterwards.
        name: Of the fault.
        slack: What a busy computer may add to times, in s.
    """
    injection = INJECTIONS[name]
    bench.cause = ""
    began = time.monotonic()
    try:
        injection.inject(bench)
        if name == "encoders stuck":
            began = time.monotonic()
        problem = _watch(bench, injection, slack)
        stopped = bench.relieved(began) if injection.within else math.nan
        if injection.within and stopped > injection.within + slack:
            problem = problem or f"motors were driven for {stopped:.3f} s"
    except TimeoutError as error:
        problem, stopped = f"{error}; {bench.cause or 'no problem is told'}", math.nan
    if name == "controller frozen":
        bench.wait(STOP_TIME)
        bench.processes["servo_controller"].send_signal(signal.SIGCONT)
        problem = problem or _after_the_freeze(bench)
    if injection.dead:
        bench.active = bench.active and injection.dead != "servo_controller"
        bench.start(injection.dead)
    bench.drive()
    return Outcome(name, stopped, problem)


def _watch(bench: FaultBench, injection: Injection, slack: float) -> str:
    """See that what shall happen happens; say what did not."""
    if not injection.within:
        bench.wait(_GOES_ON)
        faults = ("stale", "pause", "long", "time", "position", "over", "solver", "open")
        if bench.cause.startswith(faults):
            return bench.cause
        return "" if bench.active and not bench.at_rest else "the machine is not driven on"
    patience = injection.within + slack + 5.0
    bench.until(lambda: bench.at_rest, "zero efforts", patience)
    if injection.taken_back:
        return ""
    bench.until(lambda: not bench.active, "the end of the control", patience)
    bench.wait(_UNDER_WAY)
    silent = time.monotonic()
    bench.until(lambda: bench.cause.startswith(injection.cause), injection.cause, patience)
    return _silence(bench, silent)


def _after_the_freeze(bench: FaultBench) -> str:
    """A controller that wakes up does not go on as if nothing had happened."""
    woken = time.monotonic()
    try:
        bench.until(lambda: not bench.active, "the end of the control")
        bench.until(lambda: bench.cause.startswith("pause"), "pause")
    except TimeoutError as error:
        return f"{error}; {bench.cause or 'no problem is told'}"
    driven = bench.efforts_since(woken)
    # one may have been on its way through DDS when the process was frozen
    return f"{driven} commands after the freeze" if driven > 1 else ""


def _silence(bench: FaultBench, since: float) -> str:
    """After the end of the control nothing is commanded."""
    bench.wait(0.1)
    late = bench.commands_since(since)
    return f"{late} commands after the end" if late else ""
