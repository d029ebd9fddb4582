# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time from a state to the command that answers it, through servo_controller and over DDS.

States of the machine on its path are sent at a fixed rate; half a period later the same state goes
to a bare rclpy node that answers at once. Both are processes of their own.

    python studies/measurements/ros_latency.py
    python studies/measurements/ros_latency.py --rate 1000 --duration 300
    python studies/measurements/ros_latency.py --backend interpreted
    chrt -f 1 python studies/measurements/ros_latency.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

import uk_dynamics as ukd
from uk_dynamics.ros.process.node_processes import NodeProcesses, own_domain
from uk_dynamics.ros.process.run_node import freeze_memory, make_executor
from uk_dynamics.ros.timing.clock import nanoseconds, write_stamp

Array = NDArray[np.float64]

_START = 60.0  # s
_WARM = 2.0  # s that do not count
_LAST = 1.0  # s for the last answers
_ROUTES = {"servo_controller": "", "bare rclpy echo": "echo/"}


class Route:
    """States that go out and commands that come back.

    Attributes:
        sent: When each state left, (count,), in s of the steady clock; NaN: not yet.
        heard: When its answer came, (count,).
    """

    def __init__(self, node: Node, prefix: str, names: list[str], count: int) -> None:
        """Prepare.

        Args:
            node: Who sends and listens.
            prefix: Of the topics.
            names: Of the joints.
            count: Largest number of states.
        """
        self.sent, self.heard = np.full(count, np.nan), np.full(count, np.nan)
        self._places: dict[int, int] = {}
        self._message = JointState(name=names)
        self._publisher: Publisher = node.create_publisher(JointState, f"{prefix}joint_states", 10)
        node.create_subscription(JointState, f"{prefix}joint_commands", self._hear, 10)

    @property
    def joined(self) -> bool:
        """Whether somebody listens."""
        return bool(self._publisher.get_subscription_count())

    def send(self, index: int, stamp: int, q: Array, v: Array) -> None:
        """Send a state."""
        message = self._message
        write_stamp(message.header.stamp, stamp)
        message.position, message.velocity = array("d", q), array("d", v)
        self._places[stamp] = index
        self.sent[index] = time.perf_counter()
        self._publisher.publish(message)

    def _hear(self, message: JointState) -> None:
        now = time.perf_counter()
        index = self._places.pop(nanoseconds(message.header.stamp), None)
        if index is not None:
            self.heard[index] = now


def main() -> int:
    """Measure each rate and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mechanism", default="five_bar")
    parser.add_argument("--tasks", default="five_bar_sweep", help="of 0.5 Hz, or its multiples")
    parser.add_argument("--rate", type=float, nargs="+", default=[500.0, 1000.0], help="in Hz")
    parser.add_argument("--duration", type=float, default=60.0, help="of each rate, in s")
    parser.add_argument("--backend", default="auto", help="of the servo law, as of the node")
    arguments = parser.parse_args()
    policy = {os.SCHED_FIFO: "SCHED_FIFO", os.SCHED_RR: "SCHED_RR"}
    print(
        f"{arguments.mechanism}, {os.cpu_count()} cores, "
        f"{policy.get(os.sched_getscheduler(0), 'ordinary priority')}, "
        f"load of the computer before: {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{'rate':>8} {'route':18}{'states':>8}{'p50':>9}{'p99':>9}{'p99.9':>9}{'largest':>9}"
        f"{'missed':>8}{'lost':>6}"
    )
    for rate in arguments.rate:
        with tempfile.TemporaryDirectory() as directory, own_domain():
            measure(arguments, rate, Path(directory))
    return 0


def measure(arguments: argparse.Namespace, rate: float, directory: Path) -> None:
    """Print the two lines of one rate."""
    names, motion = _motion(arguments.mechanism, arguments.tasks, rate)
    count = int((arguments.duration + _WARM) * rate)
    rclpy.init(args=[])
    node = rclpy.create_node("latency")
    routes = {label: Route(node, prefix, names, count) for label, prefix in _ROUTES.items()}
    executor = make_executor()
    executor.add_node(node)
    freeze_memory()
    echo = subprocess.Popen([sys.executable, Path(__file__).with_name("echo_node.py")])
    with NodeProcesses(directory) as processes:
        processes.start(
            "servo_controller",
            {
                "mechanism": arguments.mechanism,
                "tasks": arguments.tasks,
                "update_rate": rate,
                "command_mode": "joint_state",
                "backend": arguments.backend,
                "autostart": True,
                "state_timeout": 5.0,
                "listener_timeout": 30.0,
            },
        )
        end = time.monotonic() + _START
        while not all(route.joined for route in routes.values()):
            executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > end or processes.ended():
                raise SystemExit(f"no answer: {processes.last_lines('servo_controller')}")
        sender = threading.Thread(target=_send, args=(list(routes.values()), motion, rate, count))
        sender.start()
        while sender.is_alive():
            executor.spin_once(timeout_sec=0.1)
        end = time.monotonic() + _LAST
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        for label, route in routes.items():
            print(_line(label, route, rate), flush=True)
        echo.terminate()
        echo.wait()
    executor.shutdown()  # lets go of what it waited for, or the node stays
    node.destroy_node()
    rclpy.try_shutdown()


def _motion(mechanism: str, tasks: str, rate: float) -> tuple[list[str], tuple[Array, Array]]:
    """Joint names, and positions and velocities of a period of 2 s on the path."""
    machine = ukd.Mechanism.from_file(mechanism)
    controller = ukd.ServoController(
        machine, ukd.Tasks.from_file(tasks, machine), control_period=1e-3
    )
    run = ukd.simulate(
        machine,
        machine.start(),
        4.0,
        controller=controller,
        control_period=1e-3,
        sample_period=1.0 / rate,
    )
    one = slice(int(2.0 * rate), int(4.0 * rate))
    return list(machine.joint_names), (run.q[one], run.v[one])


def _send(routes: list[Route], motion: tuple[Array, Array], rate: float, count: int) -> None:
    """Send states at a fixed rate that does not drift, by turns to each route."""
    positions, velocities = motion
    pause = 1.0 / rate / len(routes)
    begin = time.time_ns()
    due = time.perf_counter()
    for index in range(count):
        at = index % len(positions)
        stamp = begin + round(index * 1e9 / rate)
        for route in routes:
            due += pause
            if (left := due - time.perf_counter()) > 0.0:
                time.sleep(left)
            route.send(index, stamp, positions[at], velocities[at])


def _line(label: str, route: Route, rate: float) -> str:
    taken = (route.heard - route.sent)[int(_WARM * rate) :]
    answered = taken[np.isfinite(taken)]
    lost = len(taken) - len(answered)
    if not len(answered):
        return f"{rate:8.0f} {label:18} said nothing"
    p50, p99, p999 = np.percentile(answered, [50.0, 99.0, 99.9]) * 1e3
    missed = lost + int(np.sum(answered > 1.0 / rate))
    return (
        f"{rate:8.0f} {label:18}{len(taken):8d}{p50:9.3f}{p99:9.3f}{p999:9.3f}"
        f"{answered.max() * 1e3:9.3f}{missed:8d}{lost:6d}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
