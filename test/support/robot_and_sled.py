# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robot that floats and a sled in a tilted plane."""

from __future__ import annotations

from pathlib import Path

BODY = """<inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>"""
# A slope of 0.3 rad whose normal is the sled's axis; the robot has an arm.
URDF = f"""<robot name="two">
  <link name="world"/>
  <link name="robot">{BODY}</link> <link name="arm">{BODY}</link> <link name="sled">{BODY}</link>
  <joint name="flight" type="floating"><parent link="world"/><child link="robot"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
  <joint name="shoulder" type="continuous"><parent link="robot"/><child link="arm"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="slope" type="planar"><parent link="world"/><child link="sled"/>
    <origin xyz="-1 0 0" rpy="0.3 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
MACHINE = """schema: 1
model: {urdf: two.urdf}
actuators: {motor: {joint: shoulder, effort_limit: 10.0}}
initial_velocity: {flight.wx: 1.0, flight.vy: 0.5, shoulder: 2.0, slope.wz: 1.5}
"""


def robot_and_sled(directory: Path) -> Path:
    """A mechanism file of both, which move from the start."""
    (directory / "two.urdf").write_text(URDF)
    file = directory / "two.yaml"
    file.write_text(MACHINE)
    return file
