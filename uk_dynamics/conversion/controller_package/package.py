# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""ROS packages for one mechanism: a controller for its tasks, or its loops as a transmission."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import yaml

from uk_dynamics.compilation.build import completion_export, servo_export
from uk_dynamics.compilation.runtime import reference_table
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion.controller_package.parts import (
    c_number,
    filled,
    identifier,
    listed,
    loop_tables,
)
from uk_dynamics.conversion.ros2_control_files import complete_description, hardware_joints
from uk_dynamics.core.servo import LIMITS
from uk_dynamics.escaping import c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism

_ORDERS = {"position": "kPosition", "velocity": "kVelocity", "acceleration": "kAcceleration"}


def controller_package(
    tasks: Tasks, mechanism: Mechanism, *, plugin: str, rate: int, namespace: str = ""
) -> dict[str, str]:
    """Texts of the package by their path in it.

    Args:
        tasks: What the motors enforce; made for this mechanism.
        mechanism: With loops, motors on single joints, and encoders that determine its state.
        plugin: Hardware plugin of the generated URDF, ``package/Class``.
        rate: Of controller_manager, in Hz.
        namespace: Of controller_manager and topics.

    Raises:
        InputError: Something is not possible in controller_manager, or not in C; says what.
        AssemblyError: The loops do not close at the initial guess.
    """
    completion = _estimation(tasks, mechanism)
    name = identifier(mechanism.name)
    package = f"{name}_controller"
    controller, trajectory = f"{name}_servo", f"{name}_trajectory"
    base = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    names = completion.encoders.names
    header, source = servo_export(tasks, name, loop_tables(completion), names)
    words = {
        **_names(mechanism, package),
        "controller": controller,
        "trajectory": trajectory,
        "task_list": _in_one_line(list(tasks.names)),
        "readme_rows": "\n".join(f"- `{controller}/{path}/…`" for path in _row_paths(tasks)),
        "base": base,
        "manager": f" -c {base}/controller_manager" if base else "",
        "in_namespace": f"-r __ns:={base} " if base else "",
        "rate": str(rate),
    }
    words |= _constants(tasks, mechanism, completion)
    commanded = _commanded(tasks, mechanism, controller)
    words["goal"] = _goal(commanded)
    words["readme_trajectory"] = filled("README_trajectory.md", words) if commanded else ""
    whole = ("CMakeLists.txt", "package.xml", "README.md", "controller_plugin.xml")
    return {
        **{name: filled(name, words) for name in whole},
        f"include/{package}/{name}.h": header,
        f"include/{package}/closed_loop_servo.hpp": filled("closed_loop_servo.hpp", words),
        f"src/{name}.c": source.replace(f'#include "{name}.h"', f'#include "{package}/{name}.h"'),
        f"src/{name}_parameters.yaml": filled("parameters.yaml", words),
        "src/controller.cpp": filled("controller.cpp", words),
        "launch/controller.launch.py": filled("controller.launch.py", words),
        "config/controllers.yaml": _controllers(commanded, words, rate),
        f"config/{name}.urdf": complete_description(mechanism, plugin, namespace),
    }


def _names(mechanism: Mechanism, package: str) -> dict[str, str]:
    """Words of every template: the names of mechanism and package."""
    name = identifier(mechanism.name)
    return {
        "id": name,
        "ID": name.upper(),
        "GUARD": package.upper(),
        "package": package,
        "space": f"{name}_loops",
        "mechanism": name,
        "mechanism_xml": escape(mechanism.name),
    }


def _estimation(tasks: Tasks, mechanism: Mechanism) -> StateCompletion:
    """The estimation of joint states, of a mechanism that the package can be made for."""
    file = mechanism.spec.file
    hardware_joints(mechanism)  # motors that ros2_control can command
    if mechanism.model.nq != mechanism.model.nv:
        problem = "a floating base has no encoder; the controller needs a fixed one"
        raise InputError(problem, file=file)
    if mechanism.follows_references:
        problem = "constraints that follow references cannot be controlled in controller_manager"
        raise InputError(f"{problem}; use servo_controller", file=file, place="constraints")
    if tasks.allocation.internal_forces:
        problem = "internal forces cannot be set in controller_manager; use servo_controller, or"
        place = "allocation.internal_forces"
        raise InputError(f"{problem} allocation.preload", file=tasks.spec.file, place=place)
    completion = StateCompletion(mechanism)
    if not len(completion.rows.held):
        problem = "the mechanism has no loops; ros2_control's own controllers do for trees"
        raise InputError(problem, file=file, place="constraints")
    passive = set(mechanism.model.velocity_names) - set(completion.encoders.names)
    if clash := passive.intersection(_row_paths(tasks)):
        raise InputError(
            f'the task has the name of the joint "{min(clash)}", and both would export a state '
            "interface of that name; give it another name",
            file=tasks.spec.file,
            place=f"tasks.{min(clash)}",
        )
    return completion


def _row_paths(tasks: Tasks) -> tuple[str, ...]:
    """Rows as parts of the names of interfaces."""
    return tuple(name.replace(".", "/") for name in tasks.row_names)


def _constants(tasks: Tasks, mechanism: Mechanism, completion: StateCompletion) -> dict[str, str]:
    """Elements of the arrays in the header of the servo law."""
    actuators, rows, model = mechanism.actuators, tasks.constraints, mechanism.model
    speeds = np.where(model.velocity_limit > 0.0, model.velocity_limit, np.inf)
    preload = tasks.allocation.preload
    preload = np.zeros(len(actuators)) if preload is None else preload
    references = reference_table(tasks.references)
    numbers = {
        "file_references": [0.0] if references is None else references,
        "scales": rows.reference_scale,
        "frequencies": [c.frequency for c in rows.constraints],
        "damping_ratios": [c.damping_ratio for c in rows.constraints],
        "weights": tasks.allocation.weights,
        "preload": preload,
        "effort_limits": actuators.effort_limits,
        "limits": actuators.limits.ravel(),
        "limit_orders": np.array(list(LIMITS.values()), dtype=float),
        "speed_limits": speeds,
        "active": mechanism.hierarchy.acting(),
    }
    strings = {
        "joint_names": model.velocity_names,
        "task_names": tasks.names,
        "row_names": _row_paths(tasks),
    }
    sizes = [len(c.rows) for c in rows.constraints]
    return {
        "tasks": str(len(tasks.names)),
        "limit_count": str(len(LIMITS)),
        "file_size": str(len(numbers["file_references"])),
        "measured": listed(completion.split.measured),
        "turning": listed(str(bool(x)).lower() for x in completion.encoders.turning),
        "motor_joints": listed(np.abs(actuators.matrix).argmax(axis=0)),
        "task_of_row": listed(np.repeat(np.arange(len(sizes)), sizes)),
        "orders": listed(f"Order::{_ORDERS[order]}" for order in rows.orders),
        **{key: listed(map(c_number, values)) for key, values in numbers.items()},
        **{key: listed(map(c_string, names)) for key, names in strings.items()},
    }


def _commanded(tasks: Tasks, mechanism: Mechanism, controller: str) -> dict[str, float]:
    """Rows of positions, the joints of a controller above, with their values at the start."""
    rows, workspace, state = tasks.constraints, tasks.model.workspace(), mechanism.start()
    workspace.update(state.q, state.v)
    zero = np.zeros(len(rows.row_names))
    terms = rows.evaluate(workspace, 0.0, state.q, state.v, ReferenceSample(zero, zero, zero))
    values = terms.residual / rows.reference_scale
    return {
        f"{controller}/{path}": float(value)
        for path, order, value in zip(_row_paths(tasks), rows.orders, values, strict=True)
        if order == "position"
    }


def _goal(commanded: Mapping[str, float]) -> str:
    """A goal of FollowJointTrajectory to the start, as an argument of ``ros2 action send_goal``."""
    point = {
        "positions": [round(value, 4) + 0.0 for value in commanded.values()],
        "velocities": [0.0] * len(commanded),
        "time_from_start": {"sec": 2},
    }
    goal = {"trajectory": {"joint_names": list(commanded), "points": [point]}}
    return shlex.quote(_in_one_line(goal))


def _in_one_line(value: object) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6)
    return text.strip()


def _controllers(rows: Collection[str], words: Mapping[str, str], rate: int) -> str:
    """Parameters of controller_manager, of the controller, and of the one above it."""
    base, controller, trajectory = words["base"], words["controller"], words["trajectory"]
    manager: dict[str, object] = {
        "update_rate": rate,
        controller: {"type": f"{words['package']}/ClosedLoopController"},
    }
    prefix = f"{base}/" if base else ""
    parameters: dict[str, object] = {
        f"{prefix}controller_manager": {"ros__parameters": manager},
        f"{prefix}{controller}": {"ros__parameters": {"blend_time": 0.5}},
    }
    if rows:
        manager[trajectory] = {"type": "joint_trajectory_controller/JointTrajectoryController"}
        parameters[f"{prefix}{trajectory}"] = {
            "ros__parameters": {
                "joints": list(rows),
                "command_interfaces": ["position", "velocity", "acceleration"],
                "state_interfaces": ["position", "velocity"],
            }
        }
    text: str = yaml.safe_dump(parameters, sort_keys=False, width=10**6)
    return text


def transmission_package(mechanism: Mechanism, joints: Sequence[str]) -> dict[str, str]:
    """Texts of the package by their path in it.

    Args:
        mechanism: With loops, and motors on single joints that determine its state.
        joints: What controllers command instead, as many as motors.

    Raises:
        UnknownNameError: A joint does not exist.
        InputError: Motors and joints do not determine each other; something cannot be C.
    """
    file = mechanism.spec.file
    driven = tuple(joint.name for joint in hardware_joints(mechanism) if joint.driven)
    sides = StateCompletion(mechanism, driven), StateCompletion(mechanism, joints)
    if len(joints) != len(driven) or any(side.redundant for side in sides):
        raise InputError(
            f"{len(driven)} motors and {len(joints)} joints ({', '.join(joints)}) do not determine "
            "each other one to one; a transmission needs as many of both as the mechanism can move",
            file=file,
            place="--joints",
        )
    if mechanism.model.nq != mechanism.model.nv or sides[0].rows.moving:
        problem = "a floating base and constraints that change in time have no transmission"
        raise InputError(problem, file=file, place="constraints")
    if not len(sides[0].rows.held):
        problem = "the mechanism has no loops; ros2_control's own transmissions do"
        raise InputError(problem, file=file, place="constraints")
    name = identifier(mechanism.name)
    package = f"{name}_transmission"
    words = {
        **_names(mechanism, package),
        "size": str(len(driven)),
        "joint_names": listed(map(c_string, joints)),
        "actuators": listed(sides[0].split.measured),
        "joints": listed(sides[1].split.measured),
        "urdf": _urdf(package, name, driven, joints),
    }
    texts = {
        "CMakeLists.txt": filled("transmission_CMakeLists.txt", words),
        "package.xml": filled("transmission_package.xml", words),
        "README.md": filled("transmission_README.md", words),
        "transmission_plugin.xml": filled("transmission_plugin.xml", words),
        f"include/{package}/loop_transmission.hpp": filled("loop_transmission.hpp", words),
        "src/transmission.cpp": filled("transmission.cpp", words),
    }
    for side, of in zip(sides, ("actuators", "joints"), strict=True):
        part = f"{name}_from_{of}"
        header, source = completion_export(mechanism, loop_tables(side), side.encoders.names, part)
        texts[f"include/{package}/{part}.h"] = header
        texts[f"src/{part}.c"] = source.replace(f'"{part}.h"', f'"{package}/{part}.h"')
    return texts


def _urdf(package: str, name: str, driven: Sequence[str], joints: Sequence[str]) -> str:
    """The element that a <ros2_control> block needs."""
    reduction = "<mechanical_reduction>1.0</mechanical_reduction>"
    lines = [
        f'<transmission name="{name}_loops">',
        f"  <plugin>{package}/LoopTransmission</plugin>",
    ]
    for k, actuator in enumerate(map(quoteattr, driven), 1):
        lines.append(f'  <actuator name={actuator} role="actuator{k}">{reduction}</actuator>')
    for k, joint in enumerate(map(quoteattr, joints), 1):
        lines.append(f'  <joint name={joint} role="joint{k}"/>')
    return "\n".join([*lines, "</transmission>"])
