# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole-body inverse dynamics of PlaCo or TSID: run by a Python that has the engine named.

It imports nothing of uk_dynamics. The first line of the input describes the machine, and each
further one a request, as JSON; each is answered with one line. Both engines get the same tasks with
the same gains, all of them hard: feet that stand, centre of mass, attitude of the trunk.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

import numpy as np

_DRAWN = 1e-5  # weight of forces where nothing else decides, as in TSID's demonstrations
_STRONG = 1e6  # N: of pins, which pull as they push


class Placo:
    """Loops and feet are hard tasks with forces; each sole is one planar contact."""

    def __init__(self, machine: dict[str, Any]) -> None:
        import placo

        self.robot = robot = placo.RobotWrapper("", placo.Flags.ignore_collisions, machine["urdf"])
        robot.set_gravity(np.array(machine["gravity"]))
        for name, inertia in zip(machine["joints"], machine["armature"], strict=True):
            robot.set_rotor_inertia(name, inertia)
        places = [robot.get_joint_offset(name) for name in machine["joints"]]
        velocities = [robot.get_joint_v_offset(name) for name in machine["joints"]]
        self.places, self.velocities = [*range(7), *places], [*range(6), *velocities]
        self.driven = [robot.get_joint_v_offset(name) for name in machine["driven"]]
        self.solver = solver = placo.DynamicsSolver(robot)
        solver.enable_torque_limits(True)
        for name, limit in machine["limits"].items():
            robot.set_torque_limit(name, limit)
        for number, axes in enumerate(machine["loops"]):
            ends = f"parent_{number}", f"child_{number}"
            task = solver.add_relative_position_task(*ends, np.zeros(3))
            task.mask.set_axises(axes)
            task.kp = task.kd = 0.0
            task.configure(f"loop_{number}", "hard")
            solver.add_task_contact(task)
        passive = solver.add_torque_task()
        for name in machine["passive"]:
            passive.set_torque(name, 0.0)
        passive.configure("passive", "hard")
        omega = machine["omega"]
        self.contacts = []
        for number, sole in enumerate(machine["soles"]):
            task = solver.add_frame_task(f"sole_{number}", np.eye(4))
            task.configure(f"sole_{number}", "hard", 1.0, 1.0)
            for part in (task.position(), task.orientation()):
                part.kp, part.kd = 0.0, machine["damping"]
            contact = solver.add_planar_contact(task)
            contact.length, contact.width = sole["size"]
            contact.mu = sole["friction"]
            contact.weight_forces = contact.weight_moments = _DRAWN
            self.contacts.append(contact)
        self.com = solver.add_com_task(np.zeros(3))
        self.trunk = solver.add_orientation_task(machine["trunk"], np.eye(3))
        for name, task in (("com", self.com), ("trunk", self.trunk)):
            task.kp, task.kd = omega**2, 2.0 * omega
            task.configure(name, "hard")

    def solve(self, q: Any, v: Any, com: Any) -> Any:
        """What has to be done for each state."""
        state = self.robot.state
        at, moving = state.q.copy(), np.zeros(len(v))
        at[self.places], moving[self.velocities] = q, v
        state.q, state.qd = at, moving
        self.robot.update_kinematics()
        self.com.target_world, self.com.dtarget_world, self.com.ddtarget_world = com
        result = self.solver.solve(False)
        return result if result.success else None

    def read(self, result: Any) -> tuple[Any, Any, Any]:
        """Efforts of motors, accelerations, and normal forces with moments x, y of soles."""
        wrenches = [np.asarray(contact.wrench).ravel() for contact in self.contacts]
        return result.tau[self.driven], result.qdd[self.velocities], wrenches


class Tsid:
    """Loops are contacts of two frames, as in TSID's demonstration, at priority 0.

    Its solver wants independent equations: pins of planar linkages get an end that slides.
    """

    def __init__(self, machine: dict[str, Any]) -> None:
        pinocchio = importlib.import_module("pinocchio")  # its own, of that Python
        tsid = importlib.import_module("tsid.tsid_pywrap")
        model = pinocchio.buildModelFromXML(machine["urdf"], pinocchio.JointModelFreeFlyer())
        model.gravity.linear = np.array(machine["gravity"])
        joints = [model.joints[model.getJointId(name)] for name in machine["joints"]]
        self.places = [*range(7), *(joint.idx_q for joint in joints)]
        self.velocities = [*range(6), *(joint.idx_v for joint in joints)]
        armature = np.zeros(model.nv)
        armature[self.velocities[6:]] = machine["armature"]
        model.armature = armature
        self.robot = robot = tsid.RobotWrapper(
            model, tsid.RootJointType.FLOATING_BASE_SYSTEM, False
        )
        self.driven = [model.joints[model.getJointId(name)].idx_v - 6 for name in machine["driven"]]
        self.problem = problem = tsid.InverseDynamicsFormulationAccForce("biped", robot, False)
        q, v = pinocchio.neutral(model), np.zeros(model.nv)
        problem.computeProblemData(0.0, q, v)
        omega = machine["omega"]
        self.kept = []  # tasks that the formulation refers to
        for number in range(len(machine["loops"])):
            ends = f"parent_{number}", f"child_{number}"
            pin = tsid.ContactTwoFramePositions(f"loop_{number}", robot, *ends, -_STRONG, _STRONG)
            pin.setKp(np.zeros(3))
            pin.setKd(np.zeros(3))
            problem.addRigidContact(pin, _DRAWN, 1.0, 0)
            self.kept.append(pin)
        self.soles = []
        for number, sole in enumerate(machine["soles"]):
            contact = tsid.Contact6d(
                f"sole_{number}",
                robot,
                f"sole_{number}",
                np.array(sole["points"]).T,
                np.array([0.0, 0.0, 1.0]),
                sole["friction"],
                0.0,
                _STRONG,
            )
            contact.setKp(np.zeros(6))
            contact.setKd(machine["damping"] * np.ones(6))
            contact.setReference(pinocchio.SE3.Identity())
            problem.addRigidContact(contact, _DRAWN, 1.0, 0)
            self.soles.append((contact, np.array(sole["points"])))
        bounds = np.zeros(model.nv - 6)
        bounds[self.driven] = [machine["limits"][name] for name in machine["driven"]]
        efforts = tsid.TaskActuationBounds("efforts", robot)
        efforts.setBounds(-bounds, bounds)
        problem.addActuationTask(efforts, 1.0, 0, 0.0)
        self.com = tsid.TaskComEquality("com", robot)
        self.com.setKp(omega**2 * np.ones(3))
        self.com.setKd(2.0 * omega * np.ones(3))
        problem.addMotionTask(self.com, 1.0, 0, 0.0)
        self.sample = tsid.TrajectorySample(3)
        trunk = tsid.TaskSE3Equality("trunk", robot, machine["trunk"])
        trunk.setKp(omega**2 * np.ones(6))
        trunk.setKd(2.0 * omega * np.ones(6))
        trunk.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
        upright = tsid.TrajectorySample(12, 6)
        upright.value(np.concatenate([np.zeros(3), np.eye(3).ravel()]))
        trunk.setReference(upright)
        problem.addMotionTask(trunk, 1.0, 0, 0.0)
        self.kept += [efforts, trunk]
        self.solver = tsid.SolverHQuadProgFast("solver")
        self.solver.resize(problem.nVar, problem.nEq, problem.nIn)

    def solve(self, q: Any, v: Any, com: Any) -> Any:
        """What has to be done for each state."""
        at, moving = np.zeros(self.robot.nq), np.zeros(self.robot.nv)
        at[self.places], moving[self.velocities] = q, v
        self.sample.value(com[0])
        self.sample.derivative(com[1])
        self.sample.second_derivative(com[2])
        self.com.setReference(self.sample)
        problem = self.problem.computeProblemData(0.0, at, moving)
        solution = self.solver.solve(problem)
        return solution if solution.status == 0 else None

    def read(self, result: Any) -> tuple[Any, Any, Any]:
        """As :meth:`Placo.read`."""
        wrenches = []
        for contact, points in self.soles:
            forces = np.asarray(self.problem.getContactForce(contact.name, result)).reshape(-1, 3)
            moment = np.cross(points, forces).sum(axis=0)
            wrenches.append(np.concatenate([forces.sum(axis=0), moment]))
        efforts = self.problem.getActuatorForces(result)[self.driven]
        return efforts, self.problem.getAccelerations(result)[self.velocities], wrenches


class Answers:
    """Requests, by what they hold."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.states: list[tuple[Any, Any, Any]] = []

    def to(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer: to ``states`` nothing yet, to ``time`` seconds of each, else one solution."""
        if "states" in request:
            self.states = [self._state(state) for state in request["states"]]
            return {"solutions": [self._solution(state) for state in self.states]}
        if "time" in request:
            seconds = []
            for state in self.states:
                begin = time.perf_counter()
                self.engine.solve(*state)
                seconds.append(time.perf_counter() - begin)
            return {"seconds": seconds}
        return {"solutions": [self._solution(self._state(request))]}

    @staticmethod
    def _state(state: dict[str, Any]) -> tuple[Any, Any, Any]:
        return np.array(state["q"]), np.array(state["v"]), np.array(state["com"])

    def _solution(self, state: tuple[Any, Any, Any]) -> dict[str, Any] | None:
        result = self.engine.solve(*state)
        if result is None:
            return None
        efforts, acceleration, wrenches = self.engine.read(result)
        return {
            "efforts": efforts.tolist(),
            "qdd": acceleration.tolist(),
            "wrenches": [wrench.tolist() for wrench in wrenches],
        }


def main() -> None:
    """Answer until the input ends."""
    answers: Answers | None = None
    for line in sys.stdin:
        try:
            if answers is None:
                engine = {"placo": Placo, "tsid": Tsid}[sys.argv[1]]
                answers = Answers(engine(json.loads(line)))
                answer: dict[str, Any] = {}
            else:
                answer = answers.to(json.loads(line))
        except (ImportError, RuntimeError, ValueError, KeyError) as error:
            answer = {"problem": f"{type(error).__name__}: {error}".splitlines()[0]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
