# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files for ros2_control: hardware description and controller parameters of a mechanism."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import yaml

from uk_dynamics.escaping import xacro_text
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism

MOCK = "mock_components/GenericSystem"
TOPIC = "joint_state_topic_hardware_interface/JointStateTopicSystem"

EFFORT_CONTROLLER = "effort_controller"
BROADCASTER = "joint_state_broadcaster"
CONTROLLER_TYPES = {
    BROADCASTER: "joint_state_broadcaster/JointStateBroadcaster",
    EFFORT_CONTROLLER: "forward_command_controller/ForwardCommandController",
}
# the same, and leaves zero at the drives when it is deactivated; up to Kilted
ZEROING_CONTROLLER = "effort_controllers/JointGroupEffortController"
_ON_ZEROING = f"""\
# {ZEROING_CONTROLLER} writes zero when any program deactivates it. Lyrical and
# later have no effort_controllers: write
# type: {CONTROLLER_TYPES[EFFORT_CONTROLLER]}
# there, which takes the same parameters, and leaves the last effort at the drives.
"""
# publishes in every update of a manager that has several per state
UPDATE_BROADCASTER = "update_broadcaster"
UPDATE_STATES = "update_joint_states"
MEASURED_STATES = "measured_joint_states"
COMMANDS_TOPIC = "joint_commands"
MACHINE_STATES_TOPIC = "machine_joint_states"

_STATES = ("position", "velocity", "effort")


@dataclass(frozen=True)
class HardwareJoint:
    """A joint with a motor or an encoder."""

    name: str
    # of its motor, in N or N·m, infinite where none is declared; None: no motor
    effort_limit: float | None
    measured: bool  # whether it has an encoder
    # whether it is a mimic joint of the URDF; its position is that of its encoder
    mimics: bool = False
    # whether limits of the URDF apply; not where one is 0, a placeholder limit
    limited: bool = True

    @property
    def driven(self) -> bool:
        """Whether a motor drives it."""
        return self.effort_limit is not None

    def states(self, plugin: str) -> tuple[str, ...]:
        """State interfaces; every command interface has one of the same name."""
        if plugin == TOPIC:
            return _STATES  # the plugin fills all three of every joint that a message names
        return (*_STATES[: 2 * self.measured], *_STATES[2 : 2 + self.driven])


def hardware_joints(mechanism: Mechanism) -> tuple[HardwareJoint, ...]:
    """Driven joints in the order of the motors, then those that only have an encoder."""
    file, measured = mechanism.spec.file, set(mechanism.measured.names)
    followers = {mimic.joint: mimic.source for mimic in mechanism.model.mimic}
    undeclared = _zero_limits(mechanism)
    owner: dict[str, str] = {}
    joints = []
    limits = mechanism.actuators.effort_limits
    for motor, limit in zip(mechanism.spec.actuators, limits, strict=True):
        joint, problem = motor.joints[0][0], ""
        if len(motor.joints) > 1 or motor.joints[0][1] != 1.0:
            factors = ", ".join(f"{joint}: {factor:g}" for joint, factor in motor.joints)
            factor = motor.joints[0][1]
            remedy = f"write joint: {joint}, and give the factor {factor:g} to its drive"
            if len(motor.joints) > 1:
                remedy = "give it one joint with factor 1, and let a transmission of the hardware"
                remedy += " plugin do the coupling"
            problem = (
                f"the motor drives {{{factors}}}, but ros2_control commands single joints by their"
                f" own effort; {remedy}"
            )
        elif joint in owner:
            problem = f'"{joint}" is driven by {owner[joint]} already, and ros2_control gives a'
            problem += " joint one effort; combine them into one motor"
        elif joint in followers:
            problem = f'"{joint}" mimics "{followers[joint]}", and ros2_control gives mimic joints'
            problem += f" no command; drive {followers[joint]}"
        if problem:
            raise InputError(problem, file=file, place=f"actuators.{motor.name}")
        owner[joint] = motor.name
        limited = joint not in undeclared
        joints.append(HardwareJoint(joint, float(limit), joint in measured, limited=limited))
    if not joints:
        problem = "the mechanism has no motors to command; add actuators"
        raise InputError(problem, file=file, place="actuators")
    encoders = (
        HardwareJoint(name, None, measured=True, mimics=name in followers)
        for name in mechanism.measured.names
        if name not in owner
    )
    return (*joints, *encoders)


def _zero_limits(mechanism: Mechanism) -> set[str]:
    """Joints with an effort or velocity limit of 0 in the URDF."""
    return {
        joint.get("name", "")
        for joint in ET.fromstring(mechanism.model.description.text).findall("joint")
        for limit in joint.findall("limit")
        if any(float(limit.get(of, "1")) == 0.0 for of in ("effort", "velocity"))
    }


def hardware_block(mechanism: Mechanism, plugin: str, namespace: str = "") -> str:
    """The ``<ros2_control>`` elements in a ``<robot>``, for ``xacro:include``; as xacro reads it.

    Passive joints are left out; each motor has to be commanded through one joint. Mock hardware
    starts where the loops are closed: it reports what it was given, which by itself is 0 for all
    joints, where loops are often open.
    """
    robot = _hardware(mechanism, plugin, namespace)
    for node in robot.iter():
        node.text = xacro_text(node.text) if node.text else None
        node.attrib.update({key: xacro_text(value) for key, value in node.attrib.items()})
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode", xml_declaration=True) + "\n"


def _hardware(mechanism: Mechanism, plugin: str, namespace: str) -> ET.Element:
    joints = hardware_joints(mechanism)
    robot = ET.Element("robot", name=mechanism.model.name)
    if plugin == TOPIC:
        # Its commands name every joint of the block, but contain efforts of driven ones only.
        _system(robot, mechanism.name, plugin, [j for j in joints if j.driven], namespace)
        encoders = [j for j in joints if not j.driven]
        if encoders:
            name = f"{mechanism.name}_encoders"
            _system(robot, name, plugin, encoders, namespace, "encoders_")
        return robot
    at = mechanism.model.positions_by_name(mechanism.start().q) if plugin == MOCK else {}
    start = {name: at[name] for name in mechanism.measured.names if at}
    _system(robot, mechanism.name, plugin, joints, namespace, start=start)
    return robot


def _system(
    robot: ET.Element,
    name: str,
    plugin: str,
    joints: Iterable[HardwareJoint],
    namespace: str,
    prefix: str = "",
    start: Mapping[str, float] = MappingProxyType({}),
) -> None:
    system = ET.SubElement(robot, "ros2_control", name=name, type="system")
    hardware = ET.SubElement(system, "hardware")
    ET.SubElement(hardware, "plugin").text = plugin
    if plugin == TOPIC:
        base = f"/{namespace.strip('/')}/" if namespace.strip("/") else "/"
        _param(hardware, "joint_commands_topic", f"{base}{prefix}{COMMANDS_TOPIC}")
        _param(hardware, "joint_states_topic", f"{base}{MACHINE_STATES_TOPIC}")
        _param(hardware, "trigger_joint_command_threshold", "-1")
    for joint in joints:
        element = ET.SubElement(system, "joint", name=joint.name)
        if joint.mimics:
            element.set("mimic", "false")
        if not joint.limited:
            # with enforce_command_limits, the default from Kilted on, efforts would be cut to 0
            ET.SubElement(element, "limits", enable="false")
        if joint.effort_limit is not None:
            command = ET.SubElement(element, "command_interface", name="effort")
            if np.isfinite(joint.effort_limit):
                _param(command, "min", f"{-joint.effort_limit!r}")
                _param(command, "max", f"{joint.effort_limit!r}")
        for state in joint.states(plugin):
            interface = ET.SubElement(element, "state_interface", name=state)
            if state == "position" and joint.name in start:
                _param(interface, "initial_value", repr(start[joint.name]))


def _param(parent: ET.Element, name: str, value: str) -> None:
    ET.SubElement(parent, "param", name=name).text = value


# Thresholds of controller_manager's diagnostics (Hz, µs) in lockstep: time comes as fast as it is
# answered, so that no rate or jitter is a fault.
_ANY_PACE = {
    part: {
        of: {
            statistic: {"warn": 1e9, "error": 1e9}
            for statistic in ("mean_error", "standard_deviation")
        }
        for of in measured
    }
    for part, measured in (
        ("controller_manager", ("periodicity",)),
        ("controllers", ("periodicity", "execution_time")),
        ("hardware_components", ("periodicity", "execution_time")),
    )
}


def controllers(
    mechanism: Mechanism,  # whose motors are commanded
    rate: int = 500,  # states per second
    namespace: str = "",  # namespace of all nodes
    # updates of controller_manager per state, as the lockstep of the simulator needs them; with
    # more than one another broadcaster publishes in every update
    updates: int = 1,
    # type of the controller of the motors. Where it is the default, a comment says what to write
    # for distributions that do not have it.
    effort_type: str = ZEROING_CONTROLLER,
) -> str:
    """Parameters of controller_manager and its controllers, as YAML; each motor is of one joint."""
    driven = [joint.name for joint in hardware_joints(mechanism) if joint.driven]
    base = f"/{namespace.strip('/')}/" if namespace.strip("/") else ""

    def broadcaster(topic: str) -> dict[str, object]:
        renamed = ["--ros-args", "-r", f"joint_states:={topic}"]
        return {"type": CONTROLLER_TYPES[BROADCASTER], "node_options_args": renamed}

    manager = {
        "update_rate": rate * updates,
        # joint_states itself has all joints and is published by joint_state_completer
        BROADCASTER: broadcaster(MEASURED_STATES),
        EFFORT_CONTROLLER: {"type": effort_type},
    }
    parameters = {
        f"{base}controller_manager": {"ros__parameters": manager},
        f"{base}{EFFORT_CONTROLLER}": {
            "ros__parameters": {"joints": driven, "interface_name": "effort"}
        },
    }
    if updates > 1:
        manager[UPDATE_BROADCASTER] = broadcaster(UPDATE_STATES)
        manager["diagnostics"] = {"threshold": _ANY_PACE}
        parameters[f"{base}{BROADCASTER}"] = {"ros__parameters": {"update_rate": rate}}
    text: str = yaml.safe_dump(parameters, sort_keys=False)
    return _ON_ZEROING + text if effort_type == ZEROING_CONTROLLER else text


def complete_description(mechanism: Mechanism, plugin: str, namespace: str = "") -> str:
    """The URDF of a mechanism with its ``<ros2_control>`` elements, for robot_description."""
    robot = ET.fromstring(mechanism.model.description.text)
    if robot.find("ros2_control") is not None:
        raise InputError(
            "the URDF already has a <ros2_control> element; use that one, or remove it",
            file=mechanism.model.description.source,
        )
    robot.extend(_hardware(mechanism, plugin, namespace))
    return ET.tostring(robot, encoding="unicode")
