# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""PlaCo's dynamics solver in a process of its own: this file is run by a Python that has placo.

It imports nothing of uk_dynamics. The first line of the input describes the mechanism, and each
further one a request, as JSON; each is answered with one line.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np


class Machine:
    """A mechanism whose loops are relative tasks that must be kept, with their forces."""

    def __init__(self, description: dict[str, Any]) -> None:
        import placo

        self.robot = robot = placo.RobotWrapper(
            "", placo.Flags.ignore_collisions, description["urdf"]
        )
        robot.set_gravity(np.array(description["gravity"]))
        self.joints = description["joints"]
        for name, inertia in zip(self.joints, description["armature"], strict=True):
            robot.set_rotor_inertia(name, inertia)
        self.places = [robot.get_joint_offset(name) for name in self.joints]
        self.velocities = [robot.get_joint_v_offset(name) for name in self.joints]
        self.solver = solver = placo.DynamicsSolver(robot)
        solver.mask_fbase(True)
        solver.enable_torque_limits(True)
        for number, loop in enumerate(description["loops"]):
            ends = f"parent_{number}", f"child_{number}"
            tasks = [solver.add_relative_position_task(*ends, np.zeros(3))]
            tasks[0].mask.set_axises(loop["axes"])
            if loop["weld"]:
                tasks.append(solver.add_relative_orientation_task(*ends, np.eye(3)))
            for part, task in enumerate(tasks):
                task.kp = task.kd = 0.0
                task.configure(f"loop_{number}_{part}", "hard")
                solver.add_task_contact(task)
        passive = solver.add_torque_task()
        for name in description["passive"]:
            passive.set_torque(name, 0.0)
        passive.configure("passive", "hard")
        for name, limit in description["limits"].items():
            robot.set_torque_limit(name, limit)
        self.driven = description["driven"]
        self.task = solver.add_joints_task()
        self.task.kp, self.task.kd = 1.0, 0.0
        self.task.configure("motion", "hard")

    def set(self, request: dict[str, Any]) -> None:
        """Positions and velocities, and the accelerations that are asked of some joints."""
        q, v = self.robot.state.q.copy(), np.zeros_like(self.robot.state.qd)
        q[self.places], v[self.velocities] = request["q"], request["v"]
        self.q, self.v = q, v
        force = np.zeros(len(v))
        force[self.velocities] = request["force"]
        self.solver.extra_force = -force  # it stands on the side of the inertia
        self.wanted = [
            (n, q[self.robot.get_joint_offset(n)] + a) for n, a in request["qdd"].items()
        ]

    def solve(self) -> Any:
        """What has to be done for each state."""
        state = self.robot.state
        state.q, state.qd = self.q, self.v
        self.robot.update_kinematics()
        for name, target in self.wanted:  # with a gain of one the error is the acceleration
            self.task.set_joint(name, target)
        return self.solver.solve(False)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        if "q" in request:
            self.set(request)
        if "calls" in request:
            begin = time.process_time()
            for _ in range(request["calls"]):
                self.solve()
            return {"seconds": time.process_time() - begin}
        result = self.solve()
        if not result.success:  # and nothing else of it may be read
            return {"success": False}
        tau = result.tau_dict(self.robot)
        return {
            "success": True,
            "efforts": [float(tau[name]) for name in self.driven],
            "mass": self.robot.mass_matrix()[np.ix_(self.velocities, self.velocities)].tolist(),
        }


def main() -> None:
    """Answer until the input ends."""
    machine: Machine | None = None
    for line in sys.stdin:
        try:
            if machine is None:
                machine = Machine(json.loads(line))
                answer = {"version": getattr(sys.modules["placo"], "__version__", "")}
            else:
                answer = machine.answer(json.loads(line))
        except (RuntimeError, ValueError, KeyError) as error:
            answer = {"problem": f"{type(error).__name__}: {error}".splitlines()[0]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
