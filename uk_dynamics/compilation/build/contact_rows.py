# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks with standing contacts as C has them: with a row and a motor for each force of a point."""

from dataclasses import replace
from weakref import WeakKeyDictionary

from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import ActuatorSpec, ConstraintSpec

_COUNTED = WeakKeyDictionary[Tasks, Tasks | None]()


def with_contact_rows(tasks: Tasks) -> Tasks | None:
    """Tasks whose first rows are those of the contacts, and whose last motors push along them.

    None: contacts of spheres or with other surfaces than planes, or a mechanism with other values
    than its files.
    """
    if tasks not in _COUNTED:
        _COUNTED[tasks] = _with_contact_rows(tasks)
    return _COUNTED[tasks]


def counted(tasks: Tasks) -> Tasks:
    """Tasks as C has them: with rows and forces of contacts, where it knows those."""
    return tasks if tasks.standing is None else with_contact_rows(tasks) or tasks


def _with_contact_rows(tasks: Tasks) -> Tasks | None:
    standing, mechanism = tasks.standing, tasks.mechanism
    assert standing is not None
    by_name = {contact.name: contact for contact in mechanism.spec.contacts}
    contacts = [by_name[name] for name in standing.names]
    if mechanism.varied is not None or any(c.radius or c.surface is not None for c in contacts):
        return None
    rows = [
        ConstraintSpec(
            f"contact {k}", Frame(("z", "x", "y")), contact.parent, contact.child, priority=0
        )
        for k, contact in enumerate(contacts)
    ]
    own = [replace(task, while_lifted=None) for task in tasks.spec.tasks]
    count = 3 * len(contacts)
    forces = [ActuatorSpec(f"force {k}", ()) for k in range(count)]
    spec = replace(tasks.spec, tasks=(*rows, *own), contact_rows=count)
    return Tasks(spec, mechanism.with_actuators((*mechanism.spec.actuators, *forces)))
