# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics ros2-control``: files for ros2_control."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import show, show_files
from uk_dynamics.exceptions import InputError

_MOST = 10000  # Hz

_HELP = """\
write hardware block and controllers for ros2_control

Write the <ros2_control> block of a mechanism (for xacro:include in its URDF) and the parameters of
its controllers: an effort command for every motor, states of the measured joints, nothing for
passive ones; a joint_state_broadcaster that publishes measured_joint_states, the input of
joint_state_completer; and an effort controller with the motors in the order of the mechanism
file (effort_controllers, up to Kilted; the file says what to write for Lyrical, which has none).

examples:
  uk_dynamics ros2-control stewart_platform
  uk_dynamics ros2-control my_robot.yaml --hardware my_drives/EtherCatSystem --out bringup
  uk_dynamics ros2-control five_bar --rate 1000 --namespace left --out bringup
  uk_dynamics ros2-control five_bar \\
      --hardware joint_state_topic_hardware_interface/JointStateTopicSystem
  uk_dynamics ros2-control stewart_platform --tasks stewart_platform_heave_roll \\
      --controller src/stewart_platform_controller
  uk_dynamics ros2-control four_bar --joints rocker --transmission src/four_bar_transmission

files in --out: NAME.ros2_control.xacro and NAME_controllers.yaml

With --controller: a package instead, with a chainable controller that estimates the joint state,
computes the servo law of the tasks and keeps the limits inside controller_manager. With
--transmission: a package with a transmission; other controllers command joints of the loops.
"""

_OPTIONS = f"""\
--hardware PLUGIN=mock_components/GenericSystem  hardware plugin, package/Class
--rate HZ=500  update rate of controller_manager
--namespace NS=  namespace of controller_manager and topics
--out DIR  output directory, created if necessary (default: print)
--tasks FILE  {common.TASKS}; for --controller
--controller DIR  write a ROS package with a controller for the tasks to this directory instead
--transmission DIR  write a ROS package with the loops as a transmission to this directory instead
--joints JOINT+  for --transmission: the joints that controllers command, as many as motors
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "ros2-control", _HELP, run)
    common.add_file(parser)
    common.add_options(parser, _OPTIONS, HZ=_rate)
    parser.add_argument(
        "--maintainer",
        metavar='"NAME <ADDRESS>"',
        default="",
        help="maintainer of the written package (default: to be filled in)",
    )
    common.add_json(parser, "the written files, or the texts,")


def run(arguments: argparse.Namespace) -> int:
    """Write or print both texts."""
    from uk_dynamics import Mechanism, Tasks
    from uk_dynamics.conversion import controllers, hardware_block

    plugin = arguments.hardware
    package, slash, kind = plugin.partition("/")
    if not (package and slash and kind) or any(c.isspace() or c in '<>&"' for c in plugin):
        raise InputError(
            f'"{plugin}" is not a plugin; write package/Class, such as'
            " mock_components/GenericSystem",
            place="--hardware",
        )
    mechanism = Mechanism.from_file(arguments.file)
    if (arguments.controller is None) != (arguments.tasks is None):
        raise InputError("--controller and --tasks belong together; give both or none")
    if (arguments.transmission is None) != (not arguments.joints):
        raise InputError("--transmission and --joints belong together; give both or none")
    if arguments.controller is not None:
        from uk_dynamics.conversion import controller_package

        tasks = Tasks.from_file(arguments.tasks, mechanism)
        package = controller_package(
            tasks,
            mechanism,
            plugin=plugin,
            rate=arguments.rate,
            namespace=arguments.namespace,
            maintainer=arguments.maintainer,
        )
        return _write(arguments, mechanism.name, arguments.controller, package)
    if arguments.transmission is not None:
        from uk_dynamics.conversion import transmission_package

        package = transmission_package(mechanism, arguments.joints, maintainer=arguments.maintainer)
        return _write(arguments, mechanism.name, arguments.transmission, package)
    namespace = arguments.namespace
    texts = {
        f"{mechanism.name}.ros2_control.xacro": hardware_block(mechanism, plugin, namespace),
        f"{mechanism.name}_controllers.yaml": controllers(mechanism, arguments.rate, namespace),
    }
    if arguments.out is None:
        named = {"mechanism": mechanism.name, "texts": texts}
        show(arguments, named, "\n".join(texts.values()).removesuffix("\n"))
        return 0
    return _write(arguments, mechanism.name, arguments.out, texts)


def _write(
    arguments: argparse.Namespace, mechanism: str, directory: Path, texts: Mapping[str, str]
) -> int:
    from uk_dynamics.conversion import write_files

    files = {directory / name: text for name, text in texts.items()}
    write_files(files, force=True)
    show_files(arguments, mechanism, list(files))
    return 0


def _rate(text: str) -> int:
    try:
        rate = int(text)
    except ValueError:
        rate = 0
    if not 1 <= rate <= _MOST:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from 1 to {_MOST}')
    return rate
