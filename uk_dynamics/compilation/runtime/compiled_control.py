# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The control periods of a servo law in C, and the memory that Python shares with it."""

import ctypes
from collections.abc import Mapping

import numpy as np

from uk_dynamics.compilation.build.contact_rows import counted
from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.runtime.compiled_laws import flags
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.runtime.reference_table import reference_table, structural_table
from uk_dynamics.constraints.references import References, ReferenceSample
from uk_dynamics.core.servo import POWERS
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Law
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array


class ControlMemory:
    """The memory of a servo law, on which its steps in Python work and C, where it is compiled."""

    def __init__(self, tasks: Tasks) -> None:
        with_rows = counted(tasks)
        layout, contacts = ServoLayout(with_rows), with_rows.spec.contact_rows
        motors = layout.motors - contacts
        self.numbers = layout.memory()  # all of it, as :class:`ServoLayout` has it
        # views of it by name; of settings, without those for forces of contacts
        self.fields = layout.views(self.numbers)
        # view of what one control period leaves for the next
        self.remembered = self.numbers[layout.past]
        # view of what is known of estimates, for recordings
        self.learned = self.numbers[layout.learned]
        # whether the settings that evaluations in Python overwrite are those of its owner
        self.current = False
        fields = self.fields
        for name in ("weights", "preload"):
            fields[name] = fields[name][:motors]
        for name in ("task_damping", "task_stiffness"):
            fields[name] = fields[name][contacts:]
        fields["approach"] = fields["approach"][POWERS * contacts :]


class CompiledControl:
    """What ``uk_control`` needs, in the memory of a compiled servo law."""

    def __init__(self, servo: CompiledServo, tasks: Tasks) -> None:
        functions = servo.call.periods
        assert functions is not None
        self._tasks, self._layout = tasks, servo.layout
        self._counted = counted(tasks)
        memory = servo.call.memory
        control, self._track = functions
        self._track.argtypes = (ctypes.c_void_p, ctypes.c_longlong, *(ctypes.c_void_p,) * 4)
        self._call = structure("uk_controller")(memory=memory.ctypes.data)
        self._acting = memory[servo.layout["active"]]
        if tasks.standing is not None:
            self._closed = memory[servo.layout["contact_closed"]]
        self._tables: list[Array | None] = []  # live as long as C may read them
        self._declared: dict[str, Array] = {}  # entries of the tables of the tasks
        self.law = Law(
            ctypes.cast(control, ctypes.c_void_p).value or 0,
            ctypes.addressof(self._call),
            flags(tasks.mechanism.actuators.names, tasks.row_names),
            (self, servo),
            memory[servo.layout.learned],
        )

    def follow(
        self,
        # what replaces references of the mechanism file, by name
        structure: Mapping[str, ReferenceSample],
        # switchable constraints that are on; None: as in the mechanism file
        active: ActiveConstraints | None,
        # what replaces references of the tasks file, by name
        references: References | None = None,
    ) -> None:
        """Set what tasks and structure follow, and which constraints act; not objects of Python."""
        mechanism, tasks = self._tasks.mechanism, self._counted
        if (contacts := self._tasks.standing) is not None:
            self._closed[:] = contacts.closed(active)
            active = contacts.without(active)
        if references:
            tasks.references.sample(0.0, references)  # which checks names and sizes
        self._tables = tables = [
            reference_table(tasks.references, references, self._declared),
            structural_table(mechanism, structure, active),
        ]
        self._call.tasks, self._call.structure = (
            None if table is None else table.ctypes.data for table in tables
        )
        mask = mechanism.hierarchy.mask(active)
        self._acting[:] = 1.0 if mask is None else mask

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Errors of the task rows at K states, (K, mt), times the declared length; None: none."""
        errors = np.empty((len(t), self._layout.task_rows))
        arrays = [np.ascontiguousarray(array) for array in (t, q, v)] + [errors]
        places = (array.ctypes.data for array in arrays)
        failed = self._track(ctypes.addressof(self._call), len(t), *places)
        return None if failed else errors[:, self._counted.spec.contact_rows :]
