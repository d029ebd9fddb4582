# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From and to other formats: what a user has already, and what other programs read."""

from uk_dynamics.conversion.c_programs import c_programs
from uk_dynamics.conversion.controller_package import controller_package, transmission_package
from uk_dynamics.conversion.export.exporting import FORMATS, KINDS_OF, Export, export_mechanism
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.conversion.output_files import check_new, write_files
from uk_dynamics.conversion.robot.imported_robot import Remark
from uk_dynamics.conversion.ros2_control_files import controllers, hardware_block
from uk_dynamics.conversion.updated_files import updated_files
