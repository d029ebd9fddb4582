# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the view costs: pictures painted per second, and the simulator's rate without and with it.

Phases of some seconds follow each other in rounds, so that other work on the computer falls on all
of them alike: the nodes alone, with a viewer that a browser looks at, and with a viewer that nobody
looks at. The browser is a headless Chromium, which without a graphics card draws in software; its
processes have a low priority, since they would do their work elsewhere. A picture counts as painted
when the page drew its scene between two of its animation frames.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from playwright.sync_api import sync_playwright
from std_srvs.srv import SetBool

from uk_dynamics.ros.process.node_processes import NodeProcesses, own_domain
from uk_dynamics.ros.process.run_node import make_executor

_START = 60.0  # s
_PORT = 8091
_SETTLE = 3.0  # s at the beginning of a phase that do not count
_OPTIONS = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
    # without a screen nothing paces the pictures, and on a busy computer they may stop altogether
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
)
# Draw calls of WebGL mark the animation frame in which they happen.
_COUNTER = """
window.painted = 0;
window.drawn = false;
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced"]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) {
    window.drawn = true;
    return draw.apply(this, given);
  };
}
const count = () => {
  if (window.drawn) window.painted += 1;
  window.drawn = false;
  requestAnimationFrame(count);
};
requestAnimationFrame(count);
"""


def main() -> int:
    """Run the phases and print what came of them."""
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory() as directory,
        own_domain(),
        NodeProcesses(Path(directory)) as processes,
    ):
        _start(processes, arguments)
        measured = _rounds(processes, arguments)
    _print(measured)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mechanism", default="stewart_platform")
    parser.add_argument("--tasks", default="stewart_platform_heave_roll")
    parser.add_argument("--rate", type=float, default=500.0, help="of the simulator, in Hz")
    parser.add_argument("--controlled", action="store_true", help="with servo_controller")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--phase", type=float, default=10.0, help="in s")
    parser.add_argument("--chromium", default=os.environ.get("CHROMIUM"), help="its executable")
    parser.add_argument("--size", default="1280x720", help="of the page")
    parser.add_argument("--dpr", type=float, default=1.0, help="points painted per point of it")
    parser.add_argument("--nice", type=int, default=19, help="priority of the browser")
    return parser.parse_args()


def _start(processes: NodeProcesses, arguments: argparse.Namespace) -> None:
    files = {"mechanism": arguments.mechanism}
    processes.start("simulator", {**files, "rate": arguments.rate, "paused": True})
    if arguments.controlled:
        control = {"update_rate": arguments.rate, "autostart": True, "state_timeout": 5.0}
        processes.start("servo_controller", {**files, "tasks": arguments.tasks, **control})


def _rounds(
    processes: NodeProcesses, arguments: argparse.Namespace
) -> dict[str, list[dict[str, float]]]:
    """Measurements of each phase by its name."""
    measured: dict[str, list[dict[str, float]]] = defaultdict(list)
    with _Rates() as rates, sync_playwright() as play:
        rates.run(processes, arguments.controlled)
        chromium = play.chromium.launch(
            executable_path=arguments.chromium or None, args=list(_OPTIONS)
        )
        _step_back(arguments.nice)
        files = {"mechanism": arguments.mechanism, "tasks": arguments.tasks}
        for _ in range(arguments.rounds):
            measured["nodes alone"].append(rates.during(arguments.phase))
            processes.start("viewer", {**files, "port": _PORT})
            with _page(chromium, arguments) as page:
                rates.during(0.0)
                page.evaluate("window.painted = 0")
                began, worked = time.monotonic(), _processor_time("chrom", "headless")
                seen = rates.during(arguments.phase)
                count, elapsed = page.evaluate("window.painted"), time.monotonic() - began
                worked = _processor_time("chrom", "headless") - worked
                seen |= {"painted": count / elapsed, "work": worked / max(count, 1)}
                measured["with a viewer and a browser"].append(seen)
            measured["with a viewer, no browser"].append(rates.during(arguments.phase))
            processes["viewer"].kill()
        chromium.close()
    return measured


def _step_back(priority: int) -> None:
    """Give the browser's processes a priority."""
    for pid in _children("chrom", "headless"):
        os.setpriority(os.PRIO_PROCESS, pid, priority)


def _children(*names: str) -> list[int]:
    """Running descendants of this process whose names begin so."""
    parents: dict[int, int] = {}
    called: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            head, _, rest = path.read_text().rpartition(") ")
            pid = int(path.parent.name)
            called[pid], parents[pid] = head.partition("(")[2], int(rest.split()[1])

    def descends(pid: int) -> bool:
        while pid in parents:
            pid = parents[pid]
            if pid == os.getpid():
                return True
        return False

    return [pid for pid, name in called.items() if name.startswith(names) and descends(pid)]


def _processor_time(*names: str) -> float:
    """User and system time of running descendants whose names begin so, in s."""
    total = 0.0
    for pid in _children(*names):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


@contextmanager
def _page(chromium: Any, arguments: argparse.Namespace) -> Iterator[Any]:
    width, _, height = arguments.size.partition("x")
    page = chromium.new_page(viewport={"width": int(width), "height": int(height)})
    page.set_default_timeout(_START * 1e3)
    page.add_init_script(_COUNTER)
    _await_server()
    page.goto(f"http://127.0.0.1:{_PORT}/?fixedDpr={arguments.dpr}")
    page.get_by_text("total energy").wait_for()
    _step_back(arguments.nice)
    try:
        yield page
    finally:
        page.close()


def _await_server() -> None:
    deadline = time.monotonic() + _START
    with socket.socket() as probe:
        while probe.connect_ex(("127.0.0.1", _PORT)):
            if time.monotonic() > deadline:
                raise SystemExit("the viewer does not serve")
            time.sleep(0.2)


class _Rates:
    """Listens to what the simulator says of its rate."""

    def __enter__(self) -> _Rates:
        rclpy.init()
        self._node = rclpy.create_node("rates")
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)
        self._executor = make_executor()
        self._executor.add_node(self._node)
        self._rates: list[float] = []
        self._driving = False
        return self

    def __exit__(self, *reason: object) -> None:
        self._executor.shutdown()  # lets go of what it waited for, or the node stays
        self._node.destroy_node()
        rclpy.try_shutdown()

    def run(self, processes: NodeProcesses, controlled: bool) -> None:
        """Let the simulation run as soon as everybody is there."""
        pause = self._node.create_client(SetBool, "simulator/pause")
        deadline = time.monotonic() + _START
        while not (pause.service_is_ready() and (self._driving or not controlled)):
            if time.monotonic() > deadline or processes.ended():
                raise SystemExit("the nodes did not start")
            self._executor.spin_once(timeout_sec=0.1)
        pause.call_async(SetBool.Request(data=False))

    def during(self, seconds: float) -> dict[str, float]:
        """Mean and lowest rate of the simulator, in Hz, and the computer's load."""
        self._spin(_SETTLE)
        self._rates.clear()
        self._spin(seconds)
        if not self._rates:
            return {}
        rates = np.array(self._rates)
        return {
            "rate": float(rates.mean()),
            "lowest": float(rates.min()),
            "load": os.getloadavg()[0],
        }

    def _spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.1)

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {value.key: value.value for value in status.values}
            if status.name.startswith("simulator:") and values.get("paused") == "false":
                self._rates.append(float(values["rate"]))
            if status.name.startswith("servo_controller:"):
                self._driving = values.get("active") == "true"


def _print(measured: dict[str, list[dict[str, float]]]) -> None:
    alone = np.mean([seen["rate"] for seen in measured["nodes alone"]])
    head = f"{'phase':30} {'rate [Hz]':>10} {'of alone':>9} {'painted [Hz]':>13}"
    sys.stdout.write(f"{head} {'work per picture [ms]':>22}  load\n")
    for name, phases in measured.items():
        rate = np.mean([seen["rate"] for seen in phases])
        painted = [seen["painted"] for seen in phases if "painted" in seen]
        shown = " " * 36
        if painted:
            work = 1e3 * np.mean([seen["work"] for seen in phases])
            shown = f"{np.mean(painted):13.1f} {work:22.1f}"
        load = np.mean([seen["load"] for seen in phases])
        sys.stdout.write(f"{name:30} {rate:10.1f} {rate / alone:9.3f} {shown}  {load:.1f}\n")


if __name__ == "__main__":
    raise SystemExit(main())
