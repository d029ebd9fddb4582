# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is drawn over a mechanism: closure errors, forces in its joints, targets of tasks."""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.references import References
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, Flags, Indices, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.scene.contact_marks import ContactMarker, ContactMarks

_NONE = np.zeros((0, 2), dtype=np.intp)  # frames


@dataclass(frozen=True)
class Marks:
    """Points and vectors in world axes, a row for each constraint (or task) that has frames."""

    parents: Array  # origins of the frames on the parents, (k, 3), in m
    children: Array  # origins of the frames on the children, (k, 3), in m
    parent_axes: Array  # axes of these frames, as columns, (k, 3, 3)
    child_axes: Array
    closure_errors: Array
    forces: Array  # force on each child at its frame, (k, 3), in N; its opposite acts on the parent
    torques: Array  # torque on each child, (k, 3), in N·m
    determined: Flags  # whether force and torque are unique, (k,)
    task_points: Array  # origins of the frames that tasks move, (n, 3), in m
    task_targets: Array  # where tasks want them, (n, 3), in m
    contacts: ContactMarks


class Marker:
    """Finds the marks of a mechanism, in memory of its own."""

    def __init__(self, mechanism: Mechanism, tasks: Tasks | None = None) -> None:
        """Look up the frames."""
        self._mechanism = mechanism
        self._workspace = mechanism.model.workspace()
        # names of the constraints that have frames, (k,), and these
        self.constraints, self._frames = _framed(mechanism.constraints)
        #: Of its contacts, which are none of these.
        self.contacts = ContactMarker(mechanism)
        self._tasks = tasks
        self._task_workspace = tasks.model.workspace() if tasks else None
        # the same of tasks, (n,)
        self.tasks, self._task_frames = _framed(tasks.constraints) if tasks else ((), _NONE)

    def marks(
        self,
        state: State,
        residual: Array,
        solution: Solution | None,
        task_time: float | None = None,
        followed: References | None = None,
        inputs: Inputs | None = None,
    ) -> Marks:
        """Everything to be drawn at a state.

        Args:
            state: Where the mechanism is.
            residual: ψ of all rows there, 0 where they do not act, (m,).
            solution: Its dynamics there; None: no forces.
            task_time: Time of references, in s; None: that of the state.
            followed: What replaces references of tasks, by name.
            inputs: Those of the solution, where the mechanism has contacts.
        """
        constraints = self._mechanism.constraints
        self._workspace.update_positions(state.q)
        wrenches = constraints.wrenches(self._workspace)
        origins, axes = self._workspace.translation, self._workspace.rotation
        parent, child = self._frames.T
        children, count = origins[child], len(child)
        closure_errors, forces, torques = (np.zeros((count, 3)) for _ in range(3))
        determined = np.ones(count, dtype=bool)
        missing = _missing(wrenches, residual * constraints.position_rows)
        for k, name in enumerate(self.constraints):
            rows = constraints.slices[name]
            closure_errors[k] = missing[rows].sum(axis=0)
            if solution is not None:
                total = (solution.joint_multipliers[rows, None] * wrenches[rows]).sum(axis=0)
                forces[k] = total[:3]
                torques[k] = total[3:] - np.cross(children[k], total[:3])
                determined[k] = solution.determined[rows].all()
        points, targets = self._task_marks(state, task_time, followed)
        return Marks(
            parents=origins[parent],
            children=children,
            parent_axes=axes[parent],
            child_axes=axes[child],
            closure_errors=closure_errors,
            forces=forces,
            torques=torques,
            determined=determined,
            task_points=points,
            task_targets=targets,
            contacts=self.contacts.marks(state, inputs or Inputs(), solution),
        )

    def tracking_error(
        self, state: State, task_time: float | None = None, followed: References | None = None
    ) -> Array:
        """Error of each task row, (mt,), in m or rad."""
        t = state.t if task_time is None else task_time
        if self._tasks is None or self._task_workspace is None:
            return np.zeros(0)
        self._task_workspace.update(state.q, state.v)
        rows = self._tasks.evaluate(self._task_workspace, state.q, state.v, t, followed)
        return self._tasks.lacking(rows.residual) / self._tasks.constraints.reference_scale

    def _task_marks(
        self, state: State, task_time: float | None, followed: References | None
    ) -> tuple[Array, Array]:
        if self._tasks is None or self._task_workspace is None:
            return np.zeros((0, 3)), np.zeros((0, 3))
        residual = self.tracking_error(state, task_time, followed)  # updates the workspace
        constraints = self._tasks.constraints
        points = self._task_workspace.translation[self._task_frames[:, 1]]
        wrenches = constraints.wrenches(self._task_workspace)
        missing = _missing(wrenches, residual * constraints.position_rows)
        targets = points.copy()
        for k, name in enumerate(self.tasks):
            targets[k] += missing[constraints.slices[name]].sum(axis=0)
        return points, targets


def _framed(constraints: ConstraintSet) -> tuple[tuple[str, ...], Indices]:
    """Names of the constraints that have frames, and the frames of parent and child, (k, 2)."""
    framed = [
        c
        for c in constraints.constraints
        if None not in (c.parent, c.child) and c.kind != "contact"
    ]
    frames = np.array([(c.parent, c.child) for c in framed], dtype=np.intp).reshape(-1, 2)
    return tuple(c.name for c in framed), frames


def _missing(wrenches: Array, residual: Array) -> Array:
    """Translation that would take the residual of each row away, (m, 3), in m."""
    forces = wrenches[:, :3]
    lengths = np.einsum("ij,ij->i", forces, forces)
    return -forces * (residual / np.where(lengths > 0.0, lengths, 1.0))[:, None]
