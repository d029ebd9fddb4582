# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time per servo command: closed form, for the middle of a period, and within limits.

python studies/measurements/servo_control.py
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np

import uk_dynamics as ukd
from uk_dynamics.core.servo import LimitedAllocation
from uk_dynamics.mechanism.resolution.state import State

TASKS = {
    "parallel_2dof_line": "parallel_2dof",
    "coordinated_robots_lift": "coordinated_robots",
    "stewart_platform_heave_roll": "stewart_platform",
    "dual_panda_load": "dual_panda",
}
PERIOD = 5e-3  # s
COLUMNS = (
    "closed form",
    "mid-period",
    "+ limits 1.0001",
    "+ limits 0.7",
    "+ limits 0.3",
    "inverse",
)


def median(call: Callable[[int], object], count: int) -> float:
    """Median time of a call on this thread, in µs."""
    times = []
    for index in range(count):
        began = time.thread_time_ns()
        call(index)
        times.append(time.thread_time_ns() - began)
    return float(np.median(times)) * 1e-3


def measure(task_file: str, name: str) -> list[float]:
    """Times of one machine along its motion, in µs; limits in parts of its peak efforts."""
    machine = ukd.Mechanism.from_file(name)
    tasks = ukd.Tasks.from_file(task_file, machine)
    plain = ukd.ServoController(machine, tasks)
    middle = ukd.ServoController(machine, tasks, control_period=PERIOD)
    run = ukd.simulate(
        machine,
        machine.start(),
        0.5,
        controller=middle,
        control_period=PERIOD,
        sample_period=PERIOD,
    )
    states = [State(*sample) for sample in zip(run.t.tolist(), run.q, run.v, strict=True)]
    commands = [plain.command(state) for state in states]
    peak = np.abs([command.requested for command in commands]).max(axis=0)
    count = len(states)

    def limited(part: float) -> float:
        allocation = LimitedAllocation(
            tasks.priorities, plain.weights, machine.spec.solver.task_rank_tolerance
        )

        def solve(index: int) -> None:
            servo = commands[index].servo
            allocation.solve(servo.map, servo.wanted, -part * peak, part * peak, servo.efforts)

        return median(solve, count)

    def inverse(index: int) -> None:
        ukd.inverse_dynamics(machine, states[index], run.qdd[index])

    return [
        median(lambda index: plain.command(states[index]), count),
        median(lambda index: middle.command(states[index]), count),
        *(limited(part) for part in (1.0001, 0.7, 0.3)),
        median(inverse, count),
    ]


def main() -> None:
    """Print the table."""
    gc.disable()
    print(f"{'µs':28}" + "".join(f"{column:>17}" for column in COLUMNS))
    for task_file, name in TASKS.items():
        print(f"{task_file:28}" + "".join(f"{value:17.0f}" for value in measure(task_file, name)))


if __name__ == "__main__":
    main()
