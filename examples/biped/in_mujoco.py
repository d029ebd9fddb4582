#!/usr/bin/env python3
# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The biped in MuJoCo, behind ROS 2 topics: its physics, and efforts from servo_controller.

A node in a process of its own that knows nothing of uk_dynamics: it loads the exported MJCF, lets
the soles touch a floor with MuJoCo's default contact, publishes ``joint_states``, ``odom`` and
normal forces on ``contacts``, and takes ``joint_commands``. In lockstep: it waits for the efforts
that carry the stamp of its last state, and then goes on by a period. At the end it tells how far
the trunk is from where it began.

    uk_dynamics export biped.yaml --format mjcf --out mujoco
    python in_mujoco.py mujoco/biped.xml --duration 60
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import rclpy
import yaml
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

STEP = 0.001  # s, of MuJoCo
STIFF = 0.002, 1.0  # time constant and damping ratio of loops; the default 0.02 s gives way by cm
RIGID = 0.9999, 0.9999, 0.001, 0.5, 2.0  # impedance of loops
RETRY = 0.2  # s, of real time, after which a state is published again
FALLEN = 0.5  # m
HIGH = 0.1  # m above the trunk's origin, where it is pushed
LASTING = 0.1  # s, of a push


def load(file: str) -> mujoco.MjModel:
    """The exported machine, with a floor under its soles, by MuJoCo's default contact."""
    spec = mujoco.MjSpec.from_file(file)
    spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    for pair in list(spec.pairs):
        spec.delete(pair)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=1
    )
    for side in ("left", "right"):
        (sole,) = (geom for geom in spec.body(f"{side}_foot").geoms if not geom.name)
        sole.contype = sole.conaffinity = 1
    for loop in spec.equalities:
        loop.solref[:2], loop.solimp[:5] = STIFF, RIGID
    model = spec.compile()
    model.opt.timestep = STEP
    return model


class Machine:
    """The machine, and its topics."""

    def __init__(self, model: mujoco.MjModel, points: dict[str, tuple[int, Any]]) -> None:
        """``points``: body and place on it of each point that may touch, by name."""
        self.model, self.data, self.points = model, mujoco.MjData(model), points
        mujoco.mj_forward(model, self.data)
        hinges = [j for j in range(model.njnt) if model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE]
        self.names = [model.joint(j).name for j in hinges]
        self.positions, self.velocities = model.jnt_qposadr[hinges], model.jnt_dofadr[hinges]
        self.motors = {model.joint(model.actuator_trnid[i, 0]).name: i for i in range(model.nu)}
        self.node = rclpy.create_node("mujoco")
        self.joints = self.node.create_publisher(JointState, "joint_states", 10)
        self.base = self.node.create_publisher(Odometry, "odom", 10)
        self.touches = self.node.create_publisher(JointState, "contacts", 10)
        self.answered = False
        self.node.create_subscription(JointState, "joint_commands", self.command, 10)

    def command(self, message: JointState) -> None:
        """Take efforts that answer the last state."""
        if message.header.stamp == self.stamp:
            for name, effort in zip(message.name, message.effort, strict=True):
                self.data.ctrl[self.motors[name]] = effort
            self.answered = True

    def publish(self) -> None:
        """The state, forces first, so that all of it is there when the joints are."""
        self.stamp = rclpy.time.Time(nanoseconds=round(1e9 * self.data.time)).to_msg()
        forces = self.forces()
        touches = JointState(name=list(forces), effort=list(forces.values()))
        x, y, z, qw, qx, qy, qz = self.data.qpos[:7].tolist()
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, self.data.qpos[3:7])
        base = Odometry(child_frame_id="trunk")
        base.header.frame_id = "odom"
        pose, twist = base.pose.pose, base.twist.twist
        pose.position.x, pose.position.y, pose.position.z = x, y, z
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = qx, qy, qz, qw
        linear = turned.reshape(3, 3).T @ self.data.qvel[:3]  # of the trunk, in its axes (REP 105)
        twist.linear.x, twist.linear.y, twist.linear.z = linear.tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = self.data.qvel[3:6].tolist()
        joints = JointState(
            name=self.names,
            position=self.data.qpos[self.positions].tolist(),
            velocity=self.data.qvel[self.velocities].tolist(),
        )
        for message, publisher in (
            (touches, self.touches),
            (base, self.base),
            (joints, self.joints),
        ):
            message.header.stamp = self.stamp
            publisher.publish(message)

    def forces(self) -> dict[str, float]:
        """Normal forces, each at the nearest point of its sole, in N."""
        found = dict.fromkeys(self.points, 0.0)
        force = np.zeros(6)
        for number, contact in enumerate(self.data.contact):
            body = int(self.model.geom_bodyid[contact.geom].max())  # the floor is on body 0
            turned = self.data.xmat[body].reshape(3, 3)
            place = turned.T @ (contact.pos - self.data.xpos[body])
            own = [name for name, (on, _) in self.points.items() if on == body]
            nearest = min(own, key=lambda name: np.linalg.norm(self.points[name][1] - place))
            mujoco.mj_contactForce(self.model, self.data, number, force)
            found[nearest] += float(force[0])
        return found

    def step(self, push: float) -> None:
        """Move on by a step of MuJoCo, pushed sideways by a force in N."""
        trunk = self.model.body("trunk").id
        place = self.data.xpos[trunk] + [0.0, 0.0, HIGH]
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_applyFT(
            self.model, self.data, [0, push, 0], [0, 0, 0], place, trunk, self.data.qfrc_applied
        )
        mujoco.mj_step(self.model, self.data)


def main() -> int:
    """Run until the end, or until it has fallen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="exported MJCF")
    parser.add_argument("--mechanism", default="biped.yaml", help="whose contacts it has")
    parser.add_argument("--period", type=float, default=0.002, help="s, between two states")
    parser.add_argument("--duration", type=float, default=10.0, help="s")
    parser.add_argument("--push", type=float, default=0.0, help="N, to the left for 0.1 s")
    parser.add_argument("--at", type=float, default=1.0, help="s, when it is pushed")
    options = parser.parse_args()
    model = load(options.model)
    points = {
        f"{name}.{point}": (
            model.body(contact["child"]["link"]).id,
            np.array(contact["child"]["xyz"]) + place,
        )
        for name, contact in yaml.safe_load(Path(options.mechanism).read_text())["contacts"].items()
        for point, place in contact["points"].items()
    }
    rclpy.init(args=[])
    machine = Machine(model, points)
    data, furthest = machine.data, 0.0
    begin = data.qpos[:3].copy()
    while data.time < options.duration - 0.5 * STEP and data.qpos[2] > FALLEN:
        machine.publish()
        machine.answered = False
        while not machine.answered:
            rclpy.spin_once(machine.node, timeout_sec=RETRY)
            if not machine.answered:
                machine.publish()
        for _ in range(round(options.period / STEP)):
            pushed = options.at <= data.time < options.at + LASTING
            machine.step(options.push if pushed else 0.0)
        furthest = max(furthest, float(np.abs(data.qpos[:3] - begin).max()))
    fell = data.qpos[2] <= FALLEN
    away = float(np.abs(data.qpos[:3] - begin).max())
    sys.stdout.write(
        f"{'fell' if fell else 'stands'} at {data.time:.3f} s:"
        f" {1e3 * away:.3f} mm from where it began, {1e3 * furthest:.3f} mm at most\n"
    )
    return int(fell)


if __name__ == "__main__":
    sys.exit(main())
