"""Mechanism files from what a user has already: a URDF, or another format that closes loops."""

from uk_dynamics.conversion.controller_package import controller_package, transmission_package
from uk_dynamics.conversion.importing import Import, import_file
from uk_dynamics.conversion.output_files import write_files
from uk_dynamics.conversion.ros2_control_files import controllers, hardware_block
from uk_dynamics.conversion.servo_files import servo_files

__all__ = [
    "Import",
    "controller_package",
    "controllers",
    "hardware_block",
    "import_file",
    "servo_files",
    "transmission_package",
    "write_files",
]
