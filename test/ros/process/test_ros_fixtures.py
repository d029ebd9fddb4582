# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fixtures that tests with nodes rely on."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from support.nodes.forked_process import ForkServer
from support.nodes.node_process import NodeProcess
from support.nodes.ros_fixtures import Ros, StartProcess
from support.waiting import wait_until

from uk_dynamics.ros.process.node_processes import DOMAINS, reserved_domain

pytestmark = pytest.mark.ros

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("up", child.pid, "", flush=True)
time.sleep(60)
"""

LISTENER = """
from rclpy.node import Node
from std_msgs.msg import String

from uk_dynamics.ros.process.run_node import run_node


class Echo(Node):
    def __init__(self):
        super().__init__("echo")
        publisher = self.create_publisher(String, "answer", 1)
        self.create_subscription(String, "question", publisher.publish, 1)
        print("ready", flush=True)


code = run_node(Echo)
print("done", flush=True)
raise SystemExit(code)
"""

PROBE = """
import atexit, json, os, signal, sys, threading
facts = {
    "name": __name__,
    "arguments": sys.argv,
    "directory": os.getcwd(),
    "path": sys.path[0],
    "flags": list(sys.flags),
    "greeting": os.environ.get("GREETING"),
    "variables": len(os.environ),
    "leads session": os.getsid(0) == os.getpid(),
    "descriptors": sorted(os.listdir("/proc/self/fd")),
    "input": sys.stdin.read(),
    "signals": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
    "threads": threading.active_count(),
}
print(json.dumps(facts))
atexit.register(print, "handler of the exit")
print("ready", flush=True)
if sys.argv[1] == "pause":
    signal.pause()
exec(sys.argv[1])
"""


def runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_process_has_a_domain_that_no_other_test_process_takes(ros_domain: int) -> None:
    assert ros_domain in DOMAINS
    with reserved_domain() as other:
        assert other in set(DOMAINS) - {ros_domain}
        with reserved_domain() as third:
            assert third in set(DOMAINS) - {ros_domain, other}


CONTEXTS: list[Any] = []


@pytest.mark.parametrize("repetition", [1, 2])
def test_every_test_has_its_own_context(ros: Ros, repetition: int) -> None:
    context = ros.node().context
    assert context.ok()
    assert not any(earlier is context or earlier.ok() for earlier in CONTEXTS)
    CONTEXTS.append(context)


def test_message_to_a_process_and_back(ros: Ros, start_process: StartProcess) -> None:
    from std_msgs.msg import String

    process = start_process([sys.executable, "-c", LISTENER])
    process.wait_for_output("ready")
    node = ros.node()
    answers: list[str] = []
    node.create_subscription(String, "answer", lambda message: answers.append(message.data), 1)
    question = node.create_publisher(String, "question", 1)
    ros.until(lambda: question.get_subscription_count() and node.count_publishers("answer"), "echo")
    # the way back may be known here before it is known there
    ros.until(lambda: question.publish(String(data="hello")) or answers, "an answer")
    assert answers[0] == "hello"
    assert process.stop() == 0
    assert "done" in process.output


def test_process_that_ignores_the_signal_is_killed_with_its_children(tmp_path: Path) -> None:
    process = NodeProcess([sys.executable, "-c", STUBBORN], tmp_path / "log")
    process.wait_for_output("up")
    child = int(process.output.split()[1])
    with pytest.raises(AssertionError, match="still runs"):
        process.stop(timeout=0.2)
    assert runs(child)
    assert not process.end(timeout=0.2)
    assert process.exit_code == -signal.SIGABRT
    assert 'File "<string>", line 6 in <module>' in process.output, "where it stood"
    wait_until(lambda: not runs(child), "the end of the child")


def test_waiting_for_the_output_of_a_process_that_fails(start_process: StartProcess) -> None:
    process = start_process([sys.executable, "-c", "raise SystemExit('broken')"])
    with pytest.raises(AssertionError, match="broken"):
        process.wait_for_output("ready")
    assert process.wait() == 1


@pytest.mark.slow
@pytest.mark.parametrize("new_session", [False, True])
@pytest.mark.parametrize(
    ("what", "signum", "code"),
    [
        ("pass", None, 0),
        ("raise SystemExit(3)", None, 3),
        ("raise SystemExit('broken')", None, 1),
        ("1 / 0", None, 1),
        ("pause", signal.SIGTERM, -signal.SIGTERM),
        ("pause", signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_forked_process_is_like_one_that_was_started(
    fork_server: ForkServer, tmp_path: Path, what: str, signum: int, code: int, new_session: bool
) -> None:
    (tmp_path / "probe.py").write_text(PROBE)
    options = {"cwd": tmp_path, "env": os.environ | {"GREETING": "hi"}, "new_session": new_session}
    outputs = []
    for server in (None, fork_server):
        command = [sys.executable, "-m", "probe", what]
        process = NodeProcess(command, tmp_path / "log", fork_server=server, **options)
        process.wait_for_output("ready")
        if signum:
            process.send_signal(signum)
        assert process.wait() == code
        process.send_signal(signal.SIGKILL)  # without effect on anybody
        outputs.append([line for line in process.output.splitlines() if "File" not in line])
    assert outputs[1][0] == outputs[0][0], "the facts"
    assert outputs[1][-1] == outputs[0][-1], "the last words"
    assert ("handler of the exit" in outputs[1]) == ("handler of the exit" in outputs[0])
