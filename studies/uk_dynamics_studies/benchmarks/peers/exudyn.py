# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Exudyn with the same bodies and joints as a kinematic tree, loops closed by its joints.

It gives accelerations only where an implicit solver starts, right to 1e-13 to 2e-8.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closures, load, single_joints


class ExudynPeer:
    """One mechanism in Exudyn."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Convert the mechanism."""
        exudyn = load("exudyn", "Exudyn")
        if not hasattr(exudyn.SimulationSettings(), "linearSolver"):
            raise PeerError("Exudyn is older than 1.13")
        exudyn.config.printToConsole = False
        self._exudyn = exudyn
        self._mechanism = mechanism
        #: Which of our velocities each of Exudyn's is.
        self._order = np.array([body.velocity for body in mechanism.model.bodies])
        self._container = exudyn.SystemContainer()
        self._system = self._container.AddSystem()
        self._tree = _convert(exudyn, self._system, mechanism)
        self._system.Assemble()
        self._settings = exudyn.SimulationSettings()
        self._settings.solution.file.write = False
        self._settings.timeIntegration.verboseMode = 0
        # redundant rows are usual, and dense matrices quick at these sizes
        self._settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
        self._settings.linearSolver.ignoreSingularJacobian = True
        self._solver = exudyn.MainSolverImplicitSecondOrder()

    def set(self, state: State, tau: Array) -> None:
        """Positions, velocities and forces, passive ones included."""
        self._put(state, tau + self._mechanism.passive.force(state.q, state.v))

    def mass_matrix(self, state: State) -> Array:
        """M, (nv, nv)."""
        self._put(state, np.zeros(len(self._order)))
        self.forward()
        self._solver.ComputeMassMatrix(self._system)
        found = np.asarray(self._solver.GetSystemMassMatrix())
        M = np.empty((len(self._order),) * 2)
        M[np.ix_(self._order, self._order)] = found[: len(M), : len(M)]
        return M

    def bias(self, state: State) -> Array:
        """Coriolis, centrifugal and gravity forces, (nv,)."""
        self._put(state, np.zeros(len(self._order)))
        self.forward()
        self._solver.ComputeODE2RHS(self._system)
        return -self._in_ours(self._solver.GetSystemResidual()[: len(self._order)])

    def acceleration(self, state: State, tau: Array) -> Array:
        """Constrained acceleration under generalized forces, (nv,)."""
        self.set(state, tau)
        self.forward()
        data, current = self._system.systemData, self._exudyn.ConfigurationType.Current
        return self._in_ours(data.GetODE2Coordinates_tt(current))

    def forward(self) -> None:
        """Start a solver at what was set: it begins with the acceleration."""
        self._solver.InitializeSolver(self._system, self._settings)

    def motion_from(self, state: State, tau: Array, steps: int) -> Callable[[], None]:
        """A function that integrates so many steps of 1 ms, each time from the same state."""
        integrate = self._plan(1e-3 * steps, steps)
        self.set(state, tau)
        return integrate

    def samples(self, state: State, duration: float, steps: int, parts: int = 100) -> list[State]:
        """States along a motion without forces, which is integrated in so many parts."""
        integrate = self._plan(duration / parts, steps // parts)
        data, current = self._system.systemData, self._exudyn.ConfigurationType.Current
        path = [state]
        for k in range(1, parts + 1):
            self.set(path[-1], np.zeros(len(self._order)))
            integrate()
            q, v = data.GetODE2Coordinates(current), data.GetODE2Coordinates_t(current)
            path.append(State(k * duration / parts, self._in_ours(q), self._in_ours(v)))
        return path

    def _plan(self, duration: float, steps: int) -> Callable[[], None]:
        """By the trapezoidal rule, which keeps energies best, with constraints on velocities."""
        times = self._settings.timeIntegration
        times.endTime, times.numberOfSteps = duration, steps
        times.adaptiveStep = False
        times.generalizedAlpha.useNewmark = times.generalizedAlpha.useIndex2Constraints = True
        return lambda: self._solver.SolveSystem(self._system, self._settings)

    def _put(self, state: State, force: Array) -> None:
        data, initial = self._system.systemData, self._exudyn.ConfigurationType.Initial
        data.SetODE2Coordinates(state.q[self._order], initial)
        data.SetODE2Coordinates_t(state.v[self._order], initial)
        self._system.SetObjectParameter(self._tree, "jointForceVector", force[self._order])

    def _in_ours(self, x: Any) -> Array:
        moved = np.empty(len(self._order))
        moved[self._order] = x
        return moved


def _convert(exudyn: Any, system: Any, mechanism: Mechanism) -> Any:
    """Fill a system; the tree in it."""
    items: Any = importlib.import_module("exudyn.itemInterface")
    chain = single_joints(mechanism, "Exudyn")
    loops = closures(mechanism)
    count, types = len(chain), exudyn.JointType
    # joints turn about z: links have frames turned to that; the last of them is the ground's
    turned = [*(_turn_to(body.axis) for body in chain), np.eye(3)]
    node = system.AddNode(
        items.NodeGenericODE2(
            numberOfODE2Coordinates=count,
            referenceCoordinates=[0.0] * count,
            initialCoordinates=[0.0] * count,
            initialCoordinates_t=[0.0] * count,
        )
    )
    own = list(zip(chain, turned, strict=False))
    before = [turned[body.parent].T for body in chain]
    tree = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[
                types.RevoluteZ if body.kind == "revolute" else types.PrismaticZ for body in chain
            ],
            linkParents=[body.parent for body in chain],
            jointTransformations=exudyn.Matrix3DList(
                [P @ body.rotation @ R for P, (body, R) in zip(before, own, strict=True)]
            ),
            jointOffsets=exudyn.Vector3DList(
                [P @ body.translation for P, body in zip(before, chain, strict=True)]
            ),
            linkInertiasCOM=exudyn.Matrix3DList([R.T @ body.inertia @ R for body, R in own]),
            linkCOMs=exudyn.Vector3DList([R.T @ body.center for body, R in own]),
            linkMasses=[body.mass for body in chain],
            gravity=list(mechanism.model.gravity),
            jointForceVector=[0.0] * count,
        )
    )
    armature = np.array([mechanism.model.armature[body.velocity] for body in chain])
    if armature.any():
        rotors = items.ObjectGenericODE2(nodeNumbers=[node], massMatrix=np.diag(armature))
        system.AddObject(rotors)
    ground = system.AddObject(items.ObjectGround())
    frames = mechanism.model.body_frames
    for kind, constraint in loops:
        ends = [frames[f] for f in (constraint.parent, constraint.child) if f is not None]
        markers, rotations = [], []
        for end in ends:
            place = turned[end.body].T @ end.translation
            rotations.append(turned[end.body].T @ end.rotation)
            if end.body < 0:
                marker = items.MarkerBodyRigid(bodyNumber=ground, localPosition=place)
            else:
                marker = items.MarkerKinematicTreeRigid(
                    objectNumber=tree, linkNumber=end.body, localPosition=place
                )
            markers.append(system.AddMarker(marker))
        if kind == "point":
            system.AddObject(items.ObjectJointSpherical(markerNumbers=markers))
        else:
            first, second = rotations
            system.AddObject(
                items.ObjectJointGeneric(
                    markerNumbers=markers, rotationMarker0=first, rotationMarker1=second
                )
            )
    return tree


def _turn_to(axis: Array) -> Array:
    """A rotation that takes z to an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))
