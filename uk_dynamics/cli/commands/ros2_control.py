# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics ros2-control``: files for ros2_control."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.cli.output.printing import show, show_files
from uk_dynamics.conversion import controllers, hardware_block, write_files
from uk_dynamics.exceptions import InputError


def run(arguments: argparse.Namespace) -> int:
    """Write or print both texts."""
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

        package = controller_package(
            Tasks.from_file(arguments.tasks, mechanism),
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

    files = {directory / name: text for name, text in texts.items()}
    write_files(files, force=True)
    show_files(arguments, mechanism, list(files))
    return 0
