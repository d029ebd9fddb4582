# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Fixtures for tests with nodes.

Every test process has a DDS domain of its own, so that runs in parallel never hear each other, and
every test a ROS context of its own. Nothing sleeps: what is waited for has a condition and a
deadline, long enough for discovery on a busy machine (a few seconds at worst).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.nodes.forked_process import ForkServer
from support.nodes.node_process import NodeProcess, node_command
from support.waiting import DEADLINE, wait_until

from uk_dynamics.ros.process.node_processes import reserved_domain

if TYPE_CHECKING:
    from rclpy.client import Client
    from rclpy.node import Node

# Shells start what they put in the background deaf to Ctrl-C, and so would be all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SILENCE = 15.0  # s, after which a response is lost
# On this computer alone, patient in discovery, and without shared memory: there what one process
# sends waits while another is suspended or killed, and tests do both.
PROFILE = Path(__file__).parents[3] / "config" / "dds" / "udp_loopback.xml"
# Most of what a node imports. Not rclpy: tracing in its libraries starts threads, and processes
# forked beside them crash when they end.
IMPORTS = (
    *(f"{name}.msg" for name in ("sensor_msgs", "std_msgs", "diagnostic_msgs", "rcl_interfaces")),
    *(f"{name}.msg" for name in ("lifecycle_msgs", "visualization_msgs", "action_msgs")),
    "rcl_interfaces.srv",
    "std_srvs.srv",
    "uk_dynamics.compilation.build.compiler",
    "uk_dynamics.control.servo.servo_modes",
    "uk_dynamics.control.estimation.state_completion",
    "uk_dynamics.simulation.simulate",
    "uk_dynamics.viewing.scene.marks",
)


@pytest.fixture(scope="session", autouse=True)
def ros_domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Reserve a domain id for this process, and keep messages and logs to this machine."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"  # or there is shared memory
    for dds in ("FASTRTPS", "FASTDDS"):  # until Jazzy, and since Kilted
        os.environ[f"{dds}_DEFAULT_PROFILES_FILE"] = str(PROFILE)
    os.environ["PYTHONFAULTHANDLER"] = "1"  # what is aborted says where it stood
    os.environ["ROS_LOG_DIR"] = str(tmp_path_factory.mktemp("ros_log"))
    for variable in ("ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"):
        os.environ.pop(variable, None)
    with reserved_domain() as domain:
        assert domain is not None, "no free ROS domain"
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        yield domain


class Ros:
    """The test's own side of the graph: nodes, spun by hand until something has happened."""

    def __init__(self) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        self._rclpy = rclpy
        rclpy.init()
        self._executor = SingleThreadedExecutor()
        self._nodes: list[Node] = []

    def add(self, node: Node) -> Node:
        """Spin a node along and destroy it at the end."""
        self._nodes.append(node)
        self._executor.add_node(node)
        return node

    def node(self, name: str = "tester", **options: Any) -> Node:
        """Return a new plain node to publish, subscribe and call from."""
        return self.add(self._rclpy.create_node(name, **options))

    def spin_once(self, timeout: float = 0.02) -> None:
        """Do what is due, waiting at most ``timeout`` s for it."""
        self._executor.spin_once(timeout_sec=timeout)

    def until(
        self, condition: Callable[[], object], what: str = "", timeout: float = DEADLINE
    ) -> None:
        """Spin until the condition holds; fail after ``timeout`` s, naming what was waited for."""
        wait_until(condition, what, timeout, meanwhile=self.spin_once)

    def call(self, client: Client, request: Any, timeout: float = DEADLINE) -> Any:
        """Call a service, also one that is only about to appear, and return its response.

        A node may hear a request before it has found who waits for the response; after 100 ms it
        drops the response (``rmw_fastrtps``), and a busy machine takes longer to find. So what is
        not answered is asked once more.
        """
        self.until(client.service_is_ready, f"service {client.srv_name}", timeout)
        futures = [client.call_async(request)]
        late = time.monotonic() + SILENCE

        def answered() -> bool:
            if len(futures) == 1 and time.monotonic() > late:
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.until(answered, f"the response of {client.srv_name}", timeout)
        return next(future.result() for future in futures if future.done())

    def close(self) -> None:
        """Destroy the nodes and the context."""
        self._executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        self._rclpy.try_shutdown()


@pytest.fixture
def ros(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ros]:
    """A ROS context for one test; nodes in its process report five times a second, not once."""
    monkeypatch.setattr("uk_dynamics.ros.diagnostics.publisher._PERIOD", 0.2)
    context = Ros()
    try:
        yield context
    finally:
        context.close()


StartProcess = Callable[..., NodeProcess]


@pytest.fixture
def start_process(tmp_path: Path) -> Iterator[StartProcess]:
    """Start commands as processes; those still running at the end are stopped as Ctrl-C would."""
    processes: list[NodeProcess] = []

    def start(command: list[str], **options: Any) -> NodeProcess:
        log = tmp_path / f"process_{len(processes)}.log"
        processes.append(NodeProcess(command, log, **options))
        return processes[-1]

    yield start
    obeyed = [process.end() for process in processes]
    for process in processes:
        print(process.report(f"exit code {process.exit_code}"))  # noqa: T201  with a failure
    assert all(obeyed), "a process did not end on SIGINT and was killed"


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """A process that has imported most of what nodes import."""
    server = ForkServer(IMPORTS)
    yield server
    server.close()


@pytest.fixture
def start_node(
    start_process: StartProcess, fork_server: ForkServer, tmp_path: Path
) -> StartProcess:
    """Start nodes of this package as processes of their own, forked where imports are done.

    ``start_node("simulator", parameters={"rate": 500.0}, remappings={"joint_states": "states"},
    namespace="left", name="arm")``; all but the executable may be left out.
    """

    def start(executable: str, **arguments: Any) -> NodeProcess:
        command = node_command(executable, directory=tmp_path, **arguments)
        return start_process(command, fork_server=fork_server)

    return start
