# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Drake with the same bodies and joints, loops closed by its ball and weld constraints.

Drake has such constraints in discrete time only: its SAP solver finds velocities after a step, and
accelerations are those that lead there. SAP's constraints are regularised, and yield by a share
of their force that does not depend on the step: accelerations are off by 0.03 to 40 %.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from uk_dynamics.constraints.rows import Constraint
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import Body
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closures, load, single_joints

_LEAST_MASS = 1e-13  # kg, of bodies without: Drake divides inertias by it


class DrakePeer:
    """One mechanism in Drake."""

    def __init__(self, mechanism: Mechanism, *, step: float = 1e-3, check: bool = True) -> None:
        """Convert the mechanism."""
        load("pydrake.multibody.plant", "Drake")
        self._mechanism = mechanism
        self.plant, joints = _convert(mechanism, step)
        self._context = self.plant.CreateDefaultContext()
        nv = mechanism.model.nv
        order = np.empty(nv, int)
        for body, joint in zip(mechanism.model.bodies, joints, strict=True):
            order[body.velocity] = joint.velocity_start()
        #: Where our velocities stand in Drake's.
        self._order = order
        self._force = self.plant.get_applied_generalized_force_input_port()
        self._accelerations = self.plant.get_generalized_acceleration_output_port()
        if check:
            self._check(step)

    def _check(self, step: float) -> None:
        """Ask for an acceleration in a process apart, which Drake 1.51 may end."""
        given = self._mechanism.spec, self._mechanism.model.description.text, step
        tried = subprocess.run(
            [sys.executable, "-m", __name__],
            input=pickle.dumps(given),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )
        name = self._mechanism.name
        if tried.returncode < 0:  # by a signal
            raise PeerError(f"Drake crashes in the solution of {name}")
        if tried.returncode:
            said = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise PeerError(f"Drake fails in the solution of {name}: {said}")

    def set(self, state: State, tau: Array) -> None:
        """Positions, velocities and forces, passive ones included."""
        force = tau + self._mechanism.passive.force(state.q, state.v)
        self.plant.SetPositions(self._context, self._in_drake(state.q))
        self.plant.SetVelocities(self._context, self._in_drake(state.v))
        self._force.FixValue(self._context, self._in_drake(force))

    def mass_matrix(self, state: State) -> Array:
        """M, (nv, nv)."""
        self.set(state, np.zeros(len(self._order)))
        M: Array = self.plant.CalcMassMatrix(self._context)[np.ix_(self._order, self._order)]
        return M

    def bias(self, state: State) -> Array:
        """Coriolis, centrifugal and gravity forces, (nv,)."""
        self.set(state, np.zeros(len(self._order)))
        gravity = self.plant.CalcGravityGeneralizedForces(self._context)
        h: Array = (self.plant.CalcBiasTerm(self._context) - gravity)[self._order]
        return h

    def acceleration(self, state: State, tau: Array) -> Array:
        """Constrained acceleration under generalized forces, (nv,)."""
        self.set(state, tau)
        found: Array = self._accelerations.Eval(self._context)[self._order]
        return found

    def forward(self) -> None:
        """The acceleration at what was set, recomputed."""
        self.plant.SetVelocities(self._context, self.plant.GetVelocities(self._context))
        self._accelerations.Eval(self._context)

    def _in_drake(self, x: Array) -> Array:
        moved = np.empty_like(x)
        moved[self._order] = x
        return moved


def _convert(mechanism: Mechanism, step: float) -> tuple[Any, list[Any]]:
    """A plant and its joints in our order."""
    plants: Any = importlib.import_module("pydrake.multibody.plant")
    plant = plants.MultibodyPlant(step)
    joints = add_bodies(plant, mechanism)
    add_loops(plant, mechanism, closures(mechanism))
    plant.Finalize()
    return plant, joints


def add_bodies(plant: Any, mechanism: Mechanism) -> list[Any]:
    """Bodies named ``body_N``, and their joints in our order."""
    tree: Any = importlib.import_module("pydrake.multibody.tree")
    plants: Any = importlib.import_module("pydrake.multibody.plant")
    plant.SetUseSampledOutputPorts(False)  # accelerations at the state as it is now
    plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector(mechanism.model.gravity)
    places, joints = [plant.world_body()], []
    for number, body in enumerate(single_joints(mechanism, "Drake")):
        added = plant.AddRigidBody(f"body_{number}", _inertia(tree, body))
        frame = tree.FixedOffsetFrame(
            f"frame_{number}",
            places[body.parent + 1].body_frame(),
            pose(body.rotation, body.translation),
        )
        kind = tree.RevoluteJoint if body.kind == "revolute" else tree.PrismaticJoint
        joint = kind(f"joint_{number}", plant.AddFrame(frame), added.body_frame(), body.axis)
        joints.append(plant.AddJoint(joint))
        rotor = float(mechanism.model.armature[body.velocity])
        if rotor:
            plant.AddJointActuator(f"motor_{number}", joints[-1]).set_default_rotor_inertia(rotor)
        places.append(added)
    return joints


def add_loops(plant: Any, mechanism: Mechanism, loops: Iterable[tuple[str, Constraint]]) -> None:
    """Ball and weld constraints."""
    frames = mechanism.model.body_frames
    for kind_of_loop, constraint in loops:
        ends = [frames[f] for f in (constraint.parent, constraint.child) if f is not None]
        (first, at), (second, there) = ((body_of(plant, end.body), end) for end in ends)
        if kind_of_loop == "point":
            plant.AddBallConstraint(first, at.translation, second, there.translation)
        else:
            X, Y = (pose(end.rotation, end.translation) for end in ends)
            plant.AddWeldConstraint(first, X, second, Y)


def body_of(plant: Any, body: int) -> Any:
    """Drake's body of one of ours; -1 is the world."""
    return plant.world_body() if body < 0 else plant.GetBodyByName(f"body_{body}")


def _inertia(tree: Any, body: Body) -> Any:
    mass = max(body.mass, _LEAST_MASS)
    arm = body.center
    about = body.inertia + mass * (np.dot(arm, arm) * np.eye(3) - np.outer(arm, arm))
    unit = tree.UnitInertia(*np.diag(about) / mass, *about[[0, 0, 1], [1, 2, 2]] / mass)
    return tree.SpatialInertia(mass, arm, unit, skip_validity_check=True)


def pose(rotation: Array, translation: Array) -> Any:
    """A rotation (3, 3) and a place (3,) as Drake has them."""
    math: Any = importlib.import_module("pydrake.math")
    # as exactly orthonormal as Drake wants it
    nearest = math.RotationMatrix.ProjectToRotationMatrix(rotation)
    return math.RigidTransform(nearest, translation)


def _solve() -> None:
    """One acceleration of the mechanism that stdin describes."""
    spec, robot, step = pickle.load(sys.stdin.buffer)
    mechanism = Mechanism.from_spec(spec, robot_description=robot)
    peer = DrakePeer(mechanism, step=step, check=False)
    peer.acceleration(mechanism.start(), np.zeros(mechanism.model.nv))


if __name__ == "__main__":
    _solve()
