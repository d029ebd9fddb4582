"""From a state to the command that answers it, over DDS, beside a node that only echoes.

States of a motion go out at a fixed rate; servo_controller answers them, and so does a bare rclpy
node in the same run. What the echo takes is the middleware's and the scheduler's part.

    python benchmarks/ros_latency.py
    python benchmarks/ros_latency.py --rate 1000 --duration 300
    chrt -f 50 python benchmarks/ros_latency.py --rate 1000
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

import uk_dynamics as ukd
from uk_dynamics.ros.clock import nanoseconds, write_stamp
from uk_dynamics.ros.domain import own_domain
from uk_dynamics.ros.inputs import COMMAND_QOS, STATE_QOS
from uk_dynamics.ros.messages import JointStateMessage
from uk_dynamics.ros.node_processes import NodeProcesses
from uk_dynamics.ros.run_node import make_executor, run_node, settle_memory

ANSWERS = {"servo_controller": "joint_commands", "echo": "echoed"}


class Echo(Node):
    """Answers each state with its stamp."""

    def __init__(self) -> None:
        super().__init__("echo")
        self._message = JointStateMessage(["crank"], effort=True)
        self._answers = self.create_publisher(JointState, ANSWERS["echo"], COMMAND_QOS)
        self.create_subscription(JointState, "joint_states", self._answer, STATE_QOS)

    def _answer(self, message: JointState) -> None:
        self._message.message.header.stamp = message.header.stamp
        self._answers.publish(self._message.message)


def main() -> int:
    """Run the nodes and print how long answers took."""
    arguments = _arguments()
    if arguments.echo:
        return run_node(Echo, [])
    period = 1.0 / arguments.rate
    mechanism = ukd.Mechanism.from_file(arguments.mechanism)
    motion = _motion(mechanism, arguments.tasks, arguments.cycle, period)
    parameters = {
        "mechanism": arguments.mechanism,
        "tasks": arguments.tasks,
        "update_rate": arguments.rate,
        "command_mode": "joint_state",
        "state_timeout": 5.0,
        "position_jump": 10.0,
        "autostart": True,
    }
    with (
        tempfile.TemporaryDirectory() as directory,
        own_domain(),
        NodeProcesses(Path(directory)) as processes,
    ):
        echo = subprocess.Popen([sys.executable, __file__, "--echo"])
        try:
            processes.start("servo_controller", parameters)
            rclpy.init()
            delays = _exchange(mechanism, motion, arguments)
        finally:
            echo.terminate()
            echo.wait()
        processes.stop()
        rclpy.try_shutdown()
    sent = round(arguments.duration * arguments.rate)
    print(f"{sent} states at {arguments.rate:g} Hz, {arguments.mechanism}; in ms")
    print(f"{'':18} {'p50':>8} {'p99':>8} {'p99.9':>8} {'max':>8} {'not answered':>13}")
    for name, seen in delays.items():
        quantiles = np.percentile(seen, [50, 99, 99.9, 100]) * 1e3 if seen else [np.nan] * 4
        cells = " ".join(f"{value:8.3f}" for value in quantiles)
        print(f"{name:18} {cells} {sent - len(seen):13d}")
    return 0


def _motion(
    mechanism: ukd.Mechanism, tasks: str, cycle: float, period: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities of the second cycle of the tasks."""
    law = ukd.ServoController(
        mechanism, ukd.Tasks.from_file(tasks, mechanism), control_period=period
    )
    run = ukd.simulate(
        mechanism,
        mechanism.start(),
        2.0 * cycle,
        controller=law,
        control_period=period,
        sample_period=period,
    )
    count = round(cycle / period)
    return run.q[count : 2 * count], run.v[count : 2 * count]


def _exchange(
    mechanism: ukd.Mechanism,
    motion: tuple[np.ndarray, np.ndarray],
    arguments: argparse.Namespace,
) -> dict[str, list[float]]:
    """Send states and collect the delays of the answers, in s."""
    node = rclpy.create_node("bench")
    executor = make_executor()
    executor.add_node(node)
    delays: dict[str, list[float]] = {name: [] for name in ANSWERS}
    from_now_on = [2**63]

    def hear(name: str, message: JointState) -> None:
        stamp = nanoseconds(message.header.stamp)
        if stamp >= from_now_on[0]:
            delays[name].append((time.time_ns() - stamp) * 1e-9)

    for name, topic in ANSWERS.items():
        node.create_subscription(JointState, topic, lambda m, name=name: hear(name, m), COMMAND_QOS)
    state = JointStateMessage(mechanism.joint_names, position=True, velocity=True)
    publisher = node.create_publisher(JointState, "joint_states", COMMAND_QOS)
    while publisher.get_subscription_count() < 2:
        executor.spin_once(timeout_sec=0.01)
    settle_memory()
    warming = round(arguments.rate)
    begin, period = time.perf_counter(), 1.0 / arguments.rate
    for k in range(warming + round(arguments.duration * arguments.rate)):
        due = begin + k * period
        while (left := due - time.perf_counter()) > 0.0:
            executor.spin_once(timeout_sec=left)
        now = time.time_ns()
        if k == warming:
            from_now_on[0] = now
        q, v = (part[k % len(part)] for part in motion)
        state.position[:], state.velocity[:] = q, v
        write_stamp(state.message.header.stamp, now)
        publisher.publish(state.message)
    end = time.perf_counter() + 1.0
    while time.perf_counter() < end:
        executor.spin_once(timeout_sec=0.01)
    node.destroy_node()
    return delays


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mechanism", default="five_bar")
    parser.add_argument("--tasks", default="five_bar_sweep")
    parser.add_argument("--cycle", type=float, default=2.0, help="period of the tasks, in s")
    parser.add_argument("--rate", type=float, default=500.0, help="in Hz")
    parser.add_argument("--duration", type=float, default=60.0, help="in s")
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
