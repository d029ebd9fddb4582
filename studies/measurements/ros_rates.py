# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How regularly simulator, forward_dynamics and servo_controller run on this computer.

The nodes report once per second on /diagnostics; nothing else listens, so that the measurement
does not disturb what it measures. With --echo a bare rclpy node answers messages of this process in
the same run and at the same rate: what it misses, the computer and DDS miss.

    chrt -f 1 python studies/measurements/ros_rates.py
    chrt -f 1 python studies/measurements/ros_rates.py --rate 1000 \
        --nodes simulator servo_controller --echo
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from ros_latency import Route
from std_srvs.srv import SetBool

from uk_dynamics.ros.process.node_processes import NodeProcesses, own_domain
from uk_dynamics.ros.process.run_node import make_executor

NODES = ("simulator", "forward_dynamics", "servo_controller")
_START = 60.0  # s


def main() -> int:
    """Run the nodes and print what they reported."""
    arguments = _arguments()
    files = {"mechanism": arguments.mechanism}
    parameters = {
        "simulator": {
            **files,
            "rate": arguments.rate,
            "integrator": arguments.integrator,
            "paused": True,
        },
        "forward_dynamics": files,
        "servo_controller": {
            **files,
            "tasks": arguments.tasks,
            "update_rate": arguments.rate,
            "autostart": True,
        },
    }
    with (
        tempfile.TemporaryDirectory() as directory,
        own_domain(),
        NodeProcesses(Path(directory)) as processes,
    ):
        for node in arguments.nodes:
            processes.start(node, parameters[node])
        reports, echo = _listen(processes, arguments)
    for line in [*_table(reports), *([] if echo is None else [_echo_line(echo, arguments.rate)])]:
        sys.stdout.write(f"{line}\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mechanism", default="five_bar")
    parser.add_argument("--tasks", default="five_bar_sweep")
    parser.add_argument("--rate", type=float, default=500.0, help="in Hz")
    parser.add_argument("--duration", type=float, default=60.0, help="in s")
    parser.add_argument("--integrator", default="rk4")
    parser.add_argument("--nodes", nargs="+", choices=NODES, default=NODES)
    parser.add_argument("--echo", action="store_true", help="measure a bare node in the same run")
    return parser.parse_args()


def _listen(
    processes: NodeProcesses, arguments: argparse.Namespace
) -> tuple[dict[str, list[dict[str, float]]], Route | None]:
    """Values of each report of each node while the mechanism moves, and answers of the echo."""
    nodes, duration = arguments.nodes, arguments.duration
    reports: dict[str, list[dict[str, float]]] = defaultdict(list)
    start = [float("inf")]
    solving: set[str] = set()

    def hear(message: DiagnosticArray) -> None:
        for status in message.status:
            node = status.name.partition(":")[0]
            values = {value.key: value.value for value in status.values}
            if "rank" in values:
                solving.add(node)
            # the first second holds the start
            if node not in nodes or "rate" not in values or time.monotonic() < start[0] + 1.5:
                continue
            report = {key: float(values[key]) for key in ("rate", "period_error_p99")}
            report["missed_ticks"] = float(values["missed_ticks"])
            report["real_time_factor"] = float(values.get("real_time_factor", "nan"))
            report["cpu"] = _processor_time(processes[node].pid)
            report["at"] = time.monotonic()
            reports[node].append(report)

    rclpy.init()
    node = rclpy.create_node("rates")
    node.create_subscription(DiagnosticArray, "/diagnostics", hear, 10)
    pause = node.create_client(SetBool, "simulator/pause")
    executor = make_executor()
    executor.add_node(node)
    deadline = time.monotonic() + _START
    while not pause.service_is_ready() or not solving.issuperset(nodes):
        if time.monotonic() > deadline or processes.ended():
            raise SystemExit("the nodes did not start")
        executor.spin_once(timeout_sec=0.1)
    route, bare = None, None
    if arguments.echo:
        count = int((duration + 1.5) * arguments.rate)
        route = Route(node, "echo/", ["motor"], count)
        bare = subprocess.Popen([sys.executable, Path(__file__).with_name("echo_node.py")])
        while not route.joined:
            executor.spin_once(timeout_sec=0.1)
    pause.call_async(SetBool.Request(data=False))
    start[0] = time.monotonic()
    if route is not None:
        threading.Thread(target=_send, args=(route, arguments.rate)).start()
    while time.monotonic() < start[0] + 1.5 + duration:
        executor.spin_once(timeout_sec=0.1)
    if bare is not None:
        bare.terminate()
        bare.wait()
    executor.shutdown()  # lets go of what it waited for, or the node stays
    node.destroy_node()
    rclpy.try_shutdown()
    return reports, route


def _send(route: Route, rate: float) -> None:
    """Send to the echo at a fixed rate that does not drift."""
    nothing = np.zeros(1)
    begin, due = time.time_ns(), time.perf_counter()
    for index in range(len(route.sent)):
        due += 1.0 / rate
        if (left := due - time.perf_counter()) > 0.0:
            time.sleep(left)
        route.send(index, begin + round(index * 1e9 / rate), nothing, nothing)


def _echo_line(route: Route, rate: float) -> str:
    """Whole periods without an answer, counted as the nodes do."""
    heard = np.sort(route.heard[int(1.5 * rate) :])
    heard = heard[np.isfinite(heard)]
    periods = np.diff(heard)
    missed = np.sum(np.maximum(np.round(periods * rate) - 1, 0))
    error = np.percentile(np.abs(periods - 1.0 / rate), 99) * 1e3
    mean = len(periods) / (heard[-1] - heard[0])
    return f"{'bare rclpy echo':18} {mean:10.1f} {'':8} {error:22.3f} {'':7} {missed:7.0f}"


def _processor_time(pid: int) -> float:
    """User and system time of a process, in s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _table(reports: dict[str, list[dict[str, float]]]) -> list[str]:
    head = (
        f"{'node':18} {'rate [Hz]':>10} {'lowest':>8} {'p99 period error [ms]':>22}"
        f" {'worst':>7} {'missed':>7} {'processor':>10} {'real-time factor':>17}"
    )
    lines = [head]
    for node, seen in reports.items():
        if len(seen) < 2:
            lines.append(f"{node:18} said nothing")
            continue
        rates = [report["rate"] for report in seen]
        errors = [report["period_error_p99"] * 1e3 for report in seen]
        missed = seen[-1]["missed_ticks"] - seen[0]["missed_ticks"]
        span = seen[-1]["at"] - seen[0]["at"]
        load = (seen[-1]["cpu"] - seen[0]["cpu"]) / span
        factor = np.mean([report["real_time_factor"] for report in seen])
        lines.append(
            f"{node:18} {np.mean(rates):10.1f} {np.min(rates):8.1f} {np.median(errors):22.3f}"
            f" {np.max(errors):7.2f} {missed:7.0f} {load:10.0%} {factor:17.4f}"
        )
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
