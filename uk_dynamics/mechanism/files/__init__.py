# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanism and tasks files: YAML, schema, specifications."""

from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, StabilizationSpec
from uk_dynamics.mechanism.files.estimates_specification import EstimatesSpec
from uk_dynamics.mechanism.files.file_location import find_file
from uk_dynamics.mechanism.files.force_specification import ContactSpec, ForceSpec
from uk_dynamics.mechanism.files.frame_specification import FrameSpec
from uk_dynamics.mechanism.files.schema_check import check_schema, load_schema
from uk_dynamics.mechanism.files.solver_specification import SolverSpec
from uk_dynamics.mechanism.files.specification import ActuatorSpec, JointSpec, MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import RobustSpec, TasksSpec
from uk_dynamics.mechanism.files.yaml_file import place_text, read_yaml, yaml_text
