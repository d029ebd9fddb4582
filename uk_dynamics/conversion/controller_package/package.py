# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A package with a controller of controller_manager for the tasks of a mechanism."""

import shlex
from collections.abc import Collection, Mapping

import numpy as np
import yaml

from uk_dynamics.compilation.build import completion_export, counted, servo_export
from uk_dynamics.compilation.runtime import reference_table
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.estimation import SLIDING, StateCompletion
from uk_dynamics.control.servo import known_of
from uk_dynamics.conversion.controller_package.floating import (
    base_words,
    check_contacts,
    on_fixed_base,
)
from uk_dynamics.conversion.controller_package.parts import (
    BLEND_TIME,
    c_number,
    filled,
    identifier,
    law_answers,
    listed,
    loop_tables,
    package_names,
    switch_words,
)
from uk_dynamics.conversion.ros2_control_files import complete_description, hardware_joints
from uk_dynamics.core.servo import LIMITS
from uk_dynamics.escaping import c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism

_ORDERS = {"position": "kPosition", "velocity": "kVelocity", "acceleration": "kAcceleration"}


def controller_package(
    tasks: Tasks,  # what the motors enforce; made for this mechanism
    # with loops, motors on single joints, and encoders that determine its state
    mechanism: Mechanism,
    *,
    plugin: str,  # hardware plugin of the generated URDF, ``package/Class``
    rate: int,  # of controller_manager, in Hz
    namespace: str = "",  # of controller_manager and topics
    maintainer: str = "",  # of the package, ``Name <address>``; empty: to be filled in
) -> dict[str, str]:
    """Texts of the package by their path in it; InputError: not for controller_manager."""
    check_contacts(tasks)
    fixed = on_fixed_base(mechanism)
    completion = _estimation(tasks, mechanism, fixed)
    name = identifier(mechanism.name)
    package = f"{name}_controller"
    controller, trajectory = f"{name}_servo", f"{name}_trajectory"
    base = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    names = completion.encoders.names
    loops = f"{name}_loops"  # what C calls it
    known = known_of(tasks, 1.0 / rate)
    own = None if fixed is not mechanism else loop_tables(completion)
    header, source = servo_export(tasks, loops, own, names, known)
    words = {
        **package_names(mechanism, package, loops, maintainer),
        "controller": controller,
        "trajectory": trajectory,
        "task_list": _in_one_line(list(tasks.names)),
        "readme_rows": "\n".join(f"- `{controller}/{path}/…`" for path in _row_paths(tasks)),
        "base": base,
        "manager": f" -c {base}/controller_manager" if base else "",
        "in_namespace": f"-r __ns:={base} " if base else "",
        "rate": str(rate),
    }
    words |= base_words(tasks, name, package)
    words |= _constants(tasks, fixed, completion) | switch_words(tasks, 1.0 / rate)
    words |= law_answers(tasks, mechanism, completion, BLEND_TIME, 1.0 / rate)
    commanded = _commanded(tasks, mechanism, controller)
    words["goal"] = _goal(commanded)
    words["readme_trajectory"] = filled("README_trajectory.md", words) if commanded else ""
    whole = ("CMakeLists.txt", "package.xml", "README.md", "controller_plugin.xml", "LICENSE")
    headers = ("closed_loop_tables.hpp", "closed_loop_servo.hpp", "closed_loop_controller.hpp")
    tests = (
        "law_answers.hpp",
        "test_closed_loop_servo.cpp",
        "test_closed_loop_controller.cpp",
        "test_load_controller.cpp",
    )
    texts = {}
    if own is None:
        of_encoders = f"{name}_encoders"
        tables = loop_tables(completion)
        texts = _c_files(
            package, of_encoders, *completion_export(fixed, tables, names, of_encoders), words
        )
    return {
        **texts,
        **{name: filled(name, words) for name in whole},
        **{f"test/{name}": filled(name, words) for name in tests},
        **_c_files(package, loops, header, source, words),
        **{f"include/{package}/{name}": filled(name, words) for name in headers},
        f"src/{name}_parameters.yaml": filled("parameters.yaml", words),
        "src/closed_loop_controller.cpp": filled("closed_loop_controller.cpp", words),
        "launch/controller.launch.py": filled("controller.launch.py", words),
        "config/controllers.yaml": _controllers(commanded, words, rate),
        f"config/{name}.urdf": complete_description(mechanism, plugin, namespace),
    }


def _c_files(
    package: str, name: str, header: str, source: str, words: Mapping[str, str]
) -> dict[str, str]:
    """Header and source of C in the package, with its licence."""
    source = source.replace(f'"{name}.h"', f'"{package}/{name}.h"')
    return {
        f"include/{package}/{name}.h": f"{words['licence_cpp']}\n{header}",
        f"src/{name}.c": f"{words['licence_cpp']}\n{source}",
    }


def _estimation(tasks: Tasks, mechanism: Mechanism, fixed: Mechanism) -> StateCompletion:
    """The estimation of joint states, of a mechanism that the package can be made for.

    ``fixed``: the mechanism on a fixed base.
    """
    file = mechanism.spec.file
    hardware_joints(mechanism)  # motors that ros2_control can command
    if fixed.follows_references:
        problem = "constraints that follow references cannot be controlled in controller_manager"
        raise InputError(f"{problem}; use servo_controller", file=file, place="constraints")
    if tasks.allocation.internal_forces:
        problem = "internal forces cannot be set in controller_manager; use servo_controller, or"
        place = "allocation.internal_forces"
        raise InputError(f"{problem} allocation.preload", file=tasks.spec.file, place=place)
    completion = StateCompletion(fixed)
    if not len(completion.rows.held):
        problem = "the mechanism has no loops; ros2_control's own controllers do for trees"
        raise InputError(problem, file=file, place="constraints")
    passive = set(fixed.model.velocity_names) - set(completion.encoders.names)
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
    """Elements of the arrays in the header of the servo law; of the joints on a fixed base."""
    actuators, rows, model = mechanism.actuators, tasks.constraints, mechanism.model
    speeds = np.where(model.velocity_limit > 0.0, model.velocity_limit, np.inf)
    preload = tasks.allocation.preload
    preload = np.zeros(len(actuators)) if preload is None else preload
    references = reference_table(counted(tasks).references)
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
        "friction": -mechanism.passive.resistance(np.full(model.nv, SLIDING)),
        "active": tasks.mechanism.hierarchy.acting(),
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
        f"{prefix}{controller}": {
            # for robot_state_publisher: no broadcaster publishes there
            "ros__parameters": {"blend_time": 0.5, "state_topic": "joint_states"}
        },
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
    return yaml.safe_dump(parameters, sort_keys=False, width=10**6)
