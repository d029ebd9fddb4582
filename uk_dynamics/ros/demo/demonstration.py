# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism under servo control, with nodes in separate processes, and its evaluation."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool

from uk_dynamics.cli.output import log_on_stderr, summarize
from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.compilation.build import side_by_side
from uk_dynamics.control.servo import ServoController, servo_controllability
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.demo.motion_observer import LiveTable, MotionObserver
from uk_dynamics.ros.process.node_processes import STACK_LINES, NodeProcesses, own_domain
from uk_dynamics.ros.process.run_node import make_executor
from uk_dynamics.ros.topics.topic_recorder import TopicRecorder
from uk_dynamics.simulation import Trajectory
from uk_dynamics.viewing import LOOPBACK

_START_DEADLINE = 180.0  # s; the first start compiles, which takes long on a busy computer
_SLOWEST = 4.0  # longest real time per expected time
_LIVE_PERIOD = 0.2  # s
_KEPT = 5  # each fifth of these lines stays
_SETTLED = 0.5  # fraction of the motion after which the tracking error is evaluated


class DemonstrationError(UkDynamicsError):
    """The demonstration failed."""


class Demonstration:
    """A mechanism that moves over ROS 2, under servo control where there are tasks."""

    def __init__(self, arguments: Namespace, tasks: str | None) -> None:
        """Read the files of the command ``demo``, and its tasks file, if there is one."""
        self._asked, self._tasks_file = arguments, tasks
        self._mechanism = Mechanism.from_file(arguments.file)
        self._tasks = Tasks.from_file(tasks, self._mechanism) if tasks else None
        start = self._mechanism.start(tasks=self._tasks if arguments.start_on_tasks else None)
        wait = Selection(unready="wait")
        work: list[Callable[[], Any]] = [lambda: select_backend(self._mechanism, wait)]
        if self._tasks:
            work.append(lambda: ServoController(self._mechanism, self._tasks, backend=wait))
        # a compiler that works while the mechanism moves would take the processors of its nodes
        with log_on_stderr():
            _, *laws = side_by_side(work)
        self._warnings = _warnings(laws[0], start) if laws else ()
        files: dict[str, object] = {"mechanism": arguments.file, "tasks": tasks or ""}
        self._parameters = {
            "simulator": {
                **files,
                "rate": arguments.rate,
                "real_time_factor": arguments.real_time_factor,
                "paused": True,
                "start_on_tasks": arguments.start_on_tasks,
            },
            "forward_dynamics": {"mechanism": arguments.file},
        }
        if tasks:
            control = {"update_rate": arguments.rate, "autostart": True}
            # a busy computer is not a fault of the mechanism
            self._parameters["servo_controller"] = {**files, **control, "state_timeout": 5.0}
        if arguments.view is not None:
            self._parameters["viewer"] = {**files, "port": arguments.view}

    def run(self) -> int:
        """Run for ``duration`` in simulated s and write the results; return the exit code.

        It is 0 when the tracking error of the second half (without tasks: the largest violation
        of a constraint) is at most ``tolerance``, in m or rad, and no node ended early; else 1.
        """
        duration, directory = self._asked.duration, self._asked.out
        name = self._mechanism.name
        with own_domain() as domain, NodeProcesses(directory) as processes:
            print(f"{name}: {', '.join(self._parameters)} on ROS_DOMAIN_ID={domain}")
            if "viewer" in self._parameters:
                port = self._parameters["viewer"]["port"]
                print(f"in the browser: http://{LOOPBACK}:{port}")
            print(
                f"to look at the topics: ROS_DOMAIN_ID={domain} {_command()} topic echo"
                " /joint_states (or topic hz, topic list, lifecycle get; ros2 where installed)"
            )
            for node, parameters in self._parameters.items():
                processes.start(node, parameters)
            # rclpy's own handlers would close the context, and this process would wait for nothing
            rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
            observer = MotionObserver(self._mechanism, self._tasks)
            recorder = None
            try:
                if self._asked.record:
                    recorder = TopicRecorder(observer, self._mechanism, directory / f"{name}.mcap")
                wall_time = self._observe(observer, processes)
            except DemonstrationError as error:
                print(str(error))
                return 1
            finally:
                observer.destroy_node()
                if recorder is not None:
                    recorder.close()
                rclpy.try_shutdown()
            try:
                exit_codes = processes.stop()
            except TimeoutError as hanging:
                print(str(hanging))
                exit_codes = processes.stop()
        trajectory = observer.trajectory(wall_time)
        error = self._error(trajectory, duration)
        self._write(trajectory, observer, error, exit_codes)
        good = error <= self._asked.tolerance
        if self._tasks:
            verdict, what = "followed", "tracking error at most {:.2e} m or rad in the second half"
        else:
            verdict, what = "constraints satisfied", "violation at most {:.2e} m or rad"
        print(f"{verdict if good else 'NOT ' + verdict}: {what.format(error)}")
        for sentence in () if good else self._warnings:
            print(f"at the start: {sentence}")
        for node, code in exit_codes.items():
            if code:
                said = processes.last_lines(node, STACK_LINES)
                print(f"{node} ended with exit code {code}:\n{said}")
        print(f"picture, numbers and logs: {directory}/")
        motion = directory / f"{name}.npz"
        shown = (self._asked.file, *(("--tasks", self._tasks_file) if self._tasks_file else ()))
        print(f"a report of the motion: {_command()} plot {motion}")
        print(f"see it again: {_command()} view {self._asked.file} --recording {motion}")
        print(f"move it by hand: {_command()} view {' '.join(shown)}")
        return 0 if good and not any(exit_codes.values()) else 1

    def _observe(self, observer: MotionObserver, processes: NodeProcesses) -> float:
        """Let the mechanism move and observe it; return the duration in real s."""
        executor = make_executor()
        executor.add_node(observer)

        def spin_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
            deadline = time.monotonic() + seconds
            while not condition():
                if ended := processes.ended():
                    lines = processes.last_lines(ended[0])
                    raise DemonstrationError(f"{ended[0]} ended early:\n{lines}")
                if time.monotonic() > deadline:
                    raise DemonstrationError(f"waited {seconds:g} s without success for {what}")
                executor.spin_once(timeout_sec=0.05)

        pause = observer.create_client(SetBool, "simulator/pause")
        spin_until(pause.service_is_ready, _START_DEADLINE, "the simulator")
        spin_until(lambda: observer.ready, _START_DEADLINE, "all nodes to be connected")
        answer = pause.call_async(SetBool.Request(data=False))
        spin_until(answer.done, _START_DEADLINE, "the simulator to run")
        start = time.perf_counter()
        table = LiveTable()
        observer.glance()
        looks = 1
        duration = self._asked.duration

        def finished() -> bool:
            nonlocal looks
            if time.perf_counter() >= start + looks * _LIVE_PERIOD:
                table.show(observer.glance(), keep=looks % _KEPT == 0)
                looks += 1
            return observer.samples[-1].state.t >= duration

        try:
            patience = duration / self._asked.real_time_factor * _SLOWEST + _START_DEADLINE
            spin_until(finished, patience, "the end of the motion")
        finally:
            table.end()
        executor.remove_node(observer)
        executor.shutdown()
        return time.perf_counter() - start

    def _error(self, trajectory: Trajectory, duration: float) -> float:
        """Criterion of success: settled tracking error, or violation of constraints."""
        if self._tasks:
            errors = trajectory.tracking_error[trajectory.t >= _SETTLED * duration]
        else:
            errors = trajectory.residual
        return float(np.max(np.abs(errors), initial=0.0))

    def _write(
        self,
        trajectory: Trajectory,
        observer: MotionObserver,
        error: float,
        exit_codes: dict[str, int],
    ) -> None:
        base = self._asked.out / trajectory.name
        trajectory.save(base.with_suffix(".npz"))
        numbers = {
            **summarize(trajectory, conservative=False),
            "states_heard": trajectory.statistics.steps,
            "settled_tracking_error" if self._tasks else "largest_residual": error,
            "exit_codes": exit_codes,
            "diagnostics": observer.diagnostics,
        }
        base.with_suffix(".json").write_text(json.dumps(numbers, indent=2) + "\n")
        try:
            trajectory.plot(base.with_suffix(".png"))
        except InputError as problem:
            print(str(problem))


def _command() -> str:
    """The command as the user can type it, also where its environment is not active."""
    own = Path(sys.argv[0])
    if own.name == "uk_dynamics" and own.is_relative_to(Path.cwd()):
        return str(own.relative_to(Path.cwd()))
    return "uk_dynamics"


def _warnings(law: ServoController, start: State) -> tuple[str, ...]:
    """Why the motors cannot follow the tasks from the start; empty: they can."""
    examination = servo_controllability(law, start)
    return () if examination.controllable else examination.sentences()
