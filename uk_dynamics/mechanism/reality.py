# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that is not as its controller believes: other parameters, further forces, a delay."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.files.force_specification import ForceSpec
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.specification import read_forces
from uk_dynamics.mechanism.files.tasks_specification import EncoderSpec
from uk_dynamics.mechanism.files.yaml_file import read_yaml
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism

M = TypeVar("M", bound=ResolvedMechanism)


@dataclass(frozen=True)
class Reality:
    """In which way a machine differs from the model that its controller has.

    Attributes:
        parameters: True values by the names of :attr:`Mechanism.parameters`, in SI units.
        forces: What acts in addition to the forces of the mechanism file.
        encoders: What the controller knows of the machine; None: the exact state.
        delay: From a state until the efforts act that were computed from it, in s.
        file: Name of the file, for errors.
    """

    parameters: Mapping[str, float]
    forces: tuple[ForceSpec, ...] = ()
    encoders: EncoderSpec | None = None
    delay: float = 0.0
    file: str = "<data>"

    @classmethod
    def from_file(cls, path: str | Path) -> "Reality":
        """Read a reality file.

        Raises:
            MechanismFileError: The file is missing, unreadable or malformed.
        """
        shown = os.fspath(path)
        return cls._from_data(read_yaml(Path(path), shown), shown)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Reality":
        """Build it from what a file would contain, as Python's dicts; ``schema`` may be left out.

        Raises:
            MechanismFileError: As for a file, with the place.
        """
        return cls._from_data({"schema": 1, **data}, "<data>")

    @classmethod
    def _from_data(cls, raw: object, file: str) -> "Reality":
        data = check_schema(raw, "reality", file)
        return cls(
            data.get("parameters", {}),
            read_forces(data, file),
            EncoderSpec(**data["encoders"]) if "encoders" in data else None,
            float(data.get("delay", 0.0)),
            file,
        )

    def machine(self, mechanism: M) -> M:
        """The real machine, of the mechanism that its controller knows.

        Raises:
            UnknownNameError: There is no such parameter, joint or link.
            InputError: A value is not possible, or a force has the name of one of the mechanism.
        """
        known = mechanism.parameters
        expect_names("parameter", self.parameters, known, file=self.file, place="parameters")
        taken = {force.name for force in mechanism.spec.forces}
        for force in self.forces:
            if force.name in taken:
                problem = "the mechanism file has a force of this name; rename it"
                raise InputError(problem, file=self.file, place=f"forces.{force.name}")
        found, section = mechanism, "forces"
        try:
            if self.forces:
                spec = replace(found.spec, forces=(*found.spec.forces, *self.forces))
                found = type(found)(spec, found.model.description, nonideal=found.nonideal)
            section = "parameters"
            return found.with_parameters(self.parameters) if self.parameters else found
        except InputError as error:
            raise error.caused_by(self.file, section) from None
