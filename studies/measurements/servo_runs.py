# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine follows its tasks: computed in this process, or by two nodes in lockstep over DDS."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from servo_machines import Files

import uk_dynamics as ukd

if TYPE_CHECKING:
    from rclpy.node import Node

Array = NDArray[np.float64]

_START = 60.0  # s for nodes to start
_PATIENCE = 5.0  # longest silence of the nodes, s


@dataclass(frozen=True)
class Run:
    """What happened; one row per state.

    Attributes:
        t: Times, (K,), in s.
        error: Tracking error of each task row, (K, mt), in m or rad · length.
        residual: Of each structural row, (K, m), in m or rad · length.
        efforts: Motor efforts decided there, (K, motors), in N or N·m.
        limits: Effort limits, (motors,).
    """

    t: Array
    error: Array
    residual: Array
    efforts: Array
    limits: Array

    def worst(self, rows: NDArray[np.bool_] | slice = slice(None), after: float = 0.0) -> float:
        """Largest tracking error of some rows together from a time on."""
        error = np.linalg.norm(self.error[self.t >= after][:, rows], axis=1)
        return float(error.max(initial=0.0))

    def back(self, tolerance: float) -> float:
        """Time from which on the error is not above a tolerance any more, in s."""
        above = np.flatnonzero(np.linalg.norm(self.error, axis=1) > tolerance)
        if not len(above):
            return 0.0
        return float("inf") if above[-1] + 1 == len(self.t) else float(self.t[above[-1] + 1])

    @property
    def open(self) -> float:
        """Largest residual of a loop, in m or rad · length."""
        return float(np.abs(self.residual).max(initial=0.0))

    @property
    def load(self) -> float:
        """Largest effort in parts of its motor's limit."""
        return float((np.abs(self.efforts) / self.limits).max())


def computed(files: Files, duration: float, period: float, *, middle: bool = True) -> Run:
    """Let a machine move for a time, in this process.

    Args:
        files: Machine and tasks.
        duration: In s.
        period: Of the control, in s.
        middle: Whether efforts are made right for the middle of a period, or for its start.
    """
    mechanism, tasks = files.load()
    controller = ukd.ServoController(mechanism, tasks, control_period=period if middle else None)
    motion = ukd.simulate(
        mechanism,
        mechanism.start(),
        duration,
        controller=controller,
        control_period=period,
        sample_period=period,
    )
    limits = mechanism.actuators.effort_limits
    return Run(motion.t, motion.tracking_error, motion.residual, motion.efforts, limits)


def over_dds(files: Files, duration: float, period: float, directory: Path) -> Run:
    """The same by ``simulator`` and ``servo_controller``, two processes in lockstep.

    Args:
        files: Machine and tasks.
        duration: In s.
        period: Of the control, in s.
        directory: Where the nodes write their logs.

    Raises:
        RuntimeError: A node ended or fell silent.
    """
    import rclpy
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState
    from std_srvs.srv import SetBool

    from uk_dynamics.ros.process.node_processes import NodeProcesses
    from uk_dynamics.ros.process.run_node import make_executor
    from uk_dynamics.ros.timing.clock import nanoseconds

    states: dict[int, tuple[Array, Array]] = {}
    commands: dict[int, Array] = {}
    everything = QoSProfile(depth=10_000)
    common = {"mechanism": files.mechanism, "command_mode": "joint_state"}
    parameters: dict[str, dict[str, object]] = {
        "simulator": {**common, "rate": 1.0 / period, "lockstep": True, "paused": True},
        "servo_controller": {
            **common,
            "tasks": files.tasks,
            "update_rate": 1.0 / period,
            "autostart": True,
            "state_timeout": 100.0,  # in lockstep nothing is late
        },
    }
    mechanism, tasks = files.load()
    actuators = mechanism.actuators
    to_motors = np.linalg.pinv(actuators.matrix[actuators.matrix.any(axis=1)])
    last = [time.monotonic()]

    def keep_state(message: JointState) -> None:
        stamp = nanoseconds(message.header.stamp)
        states.setdefault(stamp, (np.array(message.position), np.array(message.velocity)))
        last[0] = time.monotonic()

    def keep_command(message: JointState) -> None:
        efforts = to_motors @ np.array(message.effort)
        commands.setdefault(nanoseconds(message.header.stamp), efforts)

    rclpy.init(args=[])
    node = rclpy.create_node("recorder")
    executor = make_executor()
    executor.add_node(node)
    try:
        with NodeProcesses(directory) as processes:
            for name, values in parameters.items():
                processes.start(name, values)

            def until(condition: Callable[[], bool], patience: float, what: str) -> None:
                last[0] = time.monotonic()
                while not condition():
                    executor.spin_once(timeout_sec=0.05)
                    if ended := processes.ended():
                        raise RuntimeError(processes.last_lines(ended[0]))
                    if time.monotonic() > last[0] + patience:
                        ends = _ends(node, [ear.topic_name for ear in heard])
                        raise RuntimeError(f"{files.mechanism}: {what}, {ends}")

            heard = [
                node.create_subscription(JointState, "joint_states", keep_state, everything),
                node.create_subscription(JointState, "joint_commands", keep_command, everything),
            ]
            pause = node.create_client(SetBool, "simulator/pause")

            def ready() -> bool:
                """Both nodes are there and hear each other."""
                return pause.service_is_ready() and all(
                    node.count_publishers(ear.topic_name) == 1
                    and node.count_subscribers(ear.topic_name) == 2
                    for ear in heard
                )

            until(ready, _START, "nodes did not find each other")
            pause.call_async(SetBool.Request(data=False))
            end = round(duration / period) * round(period * 1e9)
            until(lambda: max(states, default=0) >= end, _PATIENCE, "nodes fell silent")
            processes.stop()
    finally:
        executor.shutdown()  # lets go of what it waited for, or the node stays
        node.destroy_node()
        rclpy.try_shutdown()

    stamps = sorted(stamp for stamp in states.keys() & commands.keys() if stamp <= end)
    rows = [_rows(mechanism, tasks, stamp * 1e-9, *states[stamp]) for stamp in stamps]
    return Run(
        np.array(stamps) * 1e-9,
        np.array([error for error, _ in rows]),
        np.array([residual for _, residual in rows]),
        np.array([commands[stamp] for stamp in stamps]),
        actuators.effort_limits,
    )


def _ends(node: Node, topics: list[str]) -> str:
    """Which nodes publish and subscribe to some topics."""
    publishers = {name: node.get_publishers_info_by_topic(name) for name in topics}
    subscribers = {name: node.get_subscriptions_info_by_topic(name) for name in topics}
    return "; ".join(
        f"{name} from {[end.node_name for end in publishers[name]]}"
        f" to {[end.node_name for end in subscribers[name]]}"
        for name in topics
    )


def _rows(
    mechanism: ukd.Mechanism, tasks: ukd.Tasks, t: float, q: Array, v: Array
) -> tuple[Array, Array]:
    """Residuals of tasks and of loops at a state."""
    workspace = tasks.model.workspace()
    workspace.update(q, v)
    loops = mechanism.constraints.evaluate(workspace, t, q, v, mechanism.references.sample(t))
    return tasks.evaluate(workspace, q, v, t).residual, loops.residual
