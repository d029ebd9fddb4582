# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The package's reading of a model of the zoo, beside an independent one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from support.zoo.maximal import Maximal, Motion, Pose, Reading
from support.zoo.reading_mujoco import MujocoReading
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.files.constraint_specification import StabilizationSpec
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

_STILL = 1e-6  # J: a machine without mobility stays where it is


def imported(path: Path, *, fixed: bool = False) -> Mechanism:
    """As a user has it, but without damping, friction and stops: energy is kept."""
    if path.suffix == ".urdf":
        machine = Mechanism.from_file(path)
        spec, text = machine.spec, machine.model.description.text
    else:
        found = import_file(path, fixed=fixed)
        spec = MechanismSpec.from_text(found.mechanism, file=f"{found.name}.yaml")
        text = found.urdf
    text = re.sub(r"<dynamics[^>]*/>|<dynamics[^>]*>.*?</dynamics>", "", text, flags=re.DOTALL)
    calm = {"damping": None, "friction": None, "stop_stiffness": 0.0, "stop_damping": 0.0}
    joints = tuple((name, dataclasses.replace(data, **calm)) for name, data in spec.joints)
    # Nor stabilisation: where a file closes its loops to 1e-8 m only, it would pull with 1e-5 m/s².
    still = StabilizationSpec(frequency=0.0)
    rows = tuple(dataclasses.replace(row, stabilization=still) for row in spec.constraints)
    if path.suffix == ".urdf":
        rows = ()  # they are those of the URDF
    spec = dataclasses.replace(spec, joints=joints, constraints=rows)
    return Mechanism.from_spec(spec, robot_description=text)


def moved(path: Path, *, fixed: bool = False) -> Mechanism:
    """A machine that can accelerate.

    Raises:
        InputError: It is none.
        UndeterminedMotionError: It has no inertia.
    """
    machine = imported(path, fixed=fixed)
    machine.dynamics().evaluate(machine.state(v=np.ones(machine.model.nv)))
    return machine


def motions(
    machine: Mechanism, state: State, inside: dict[str, Pose], centers: dict[str, np.ndarray]
) -> dict[str, Motion]:
    """Of bodies, named as their links.

    Args:
        machine: The mechanism.
        state: Its state.
        inside: Where the frame of the file is in that of the link.
        centers: Centres of mass in the frame of the file.
    """
    model = machine.model
    workspace = model.workspace()
    workspace.update(state.q, state.v)
    found = {}
    for name, center in centers.items():
        frame = model.frame_index(name)
        link = Pose(workspace.rotation[frame].copy(), workspace.translation[frame].copy())
        pose = link @ inside.get(name, Pose())
        twist = (workspace.jacobian * model.ancestor_mask[frame]) @ state.v
        point = pose.p + pose.R @ center
        velocity = twist[:3] + np.cross(twist[3:], point)
        found[name] = Motion(pose, point, velocity, twist[3:])
    return found


def accelerations(
    machine: Mechanism, state: State, qdd: np.ndarray, bodies: dict[str, Motion]
) -> dict[str, np.ndarray]:
    """Of the centres of mass and angular, (6,), by body."""
    model = machine.model
    workspace = model.workspace()
    workspace.update(state.q, state.v)
    found = {}
    for name, motion in bodies.items():
        mask = model.ancestor_mask[model.frame_index(name)]
        spatial = (workspace.jacobian * mask) @ qdd + (workspace.jacobian_rate * mask) @ state.v
        linear = spatial[:3] + np.cross(spatial[3:], motion.center)
        linear += np.cross(motion.spin, motion.velocity)
        found[name] = np.concatenate([linear, spatial[3:]])
    return found


@dataclass
class Compared:
    """The largest differences at closed states."""

    nv: int
    rows: int
    rank: int
    mobility: int
    their_mobility: int
    residual: float  # of their rows at our closed states, in m, rad or 1
    difference: float  # of accelerations, relative to the largest, at least 1 m/s² or rad/s²
    condition: float = 0.0


def random_states(machine: Mechanism, count: int, seed: int = 0) -> Iterator[State]:
    """Closed states, far from each other where the machine can move far."""
    rng = np.random.default_rng(seed)
    dynamics, model = machine.dynamics(), machine.model
    here = State(0.0, machine.assemble(), np.zeros(model.nv))
    for _ in range(count):
        for _ in range(3):  # along a motion: a random jump may end on another branch, at its end
            q = model.integrate(here.q, 0.1 * here.v)
            v = rng.standard_normal(model.nv)
            try:
                here = dynamics.project(State(0.0, q, v))
            except SimulationError:  # a dead end: another direction
                here = dynamics.project(State(0.0, here.q, v))
        yield here


def compare(machine: Mechanism, reading: Reading | MujocoReading, count: int = 5) -> Compared:
    """Accelerations at random closed states, ours and theirs."""
    judge: Callable[..., tuple[dict[str, np.ndarray], int, float]]
    judge = _by_mujoco if isinstance(reading, MujocoReading) else _by_bodies
    worst, residual, ranks, theirs = 0.0, 0.0, [], []
    for state in random_states(machine, count):
        solution = machine.dynamics().evaluate(state)
        expected, mobility, error, bodies = judge(machine, state, reading)
        found = accelerations(machine, state, solution.qdd, bodies)
        size = max(1.0, *(float(np.abs(a).max()) for a in expected.values()))
        for name, a in expected.items():
            worst = max(worst, float(np.abs(found[name] - a).max()) / size)
        residual = max(residual, error)
        ranks.append(solution.rank)
        theirs.append(mobility)
    nv = machine.model.nv
    return Compared(
        nv, len(machine.constraints), max(ranks), nv - max(ranks), min(theirs), residual, worst
    )


def _by_bodies(machine: Mechanism, state: State, reading: Reading):
    inside = {}
    if reading.drawn:
        workspace = machine.model.workspace()
        workspace.update_positions(machine.initial_guess)
        for name, drawn in reading.drawn.items():
            frame = machine.model.frame_index(name)
            link = Pose(workspace.rotation[frame].copy(), workspace.translation[frame].copy())
            inside[name] = link.inverse() @ drawn
    if reading.apart:  # frames of links are moved to their joints, without turning
        for link in machine.model.description.links:
            if link.name in reading.bodies:
                moved = link.center_of_mass - reading.bodies[link.name].center
                inside[link.name] = Pose(p=moved)
    centers = {name: body.center for name, body in reading.bodies.items()}
    bodies = motions(machine, state, inside, centers)
    peer = Maximal(reading, bodies)
    speed = float(np.abs(peer.A @ peer.velocities).max(initial=0.0))
    error = max(speed, float(np.abs(peer.residual).max(initial=0.0)))
    return peer.accelerations(), peer.mobility, error, bodies


def _by_mujoco(machine: Mechanism, state: State, reading: MujocoReading):
    model, mujoco = reading.model, reading.mujoco
    inside, centers = {}, {}
    reading.data.qpos[:] = model.qpos0
    mujoco.mj_kinematics(model, reading.data)
    workspace = machine.model.workspace()
    workspace.update_positions(machine.initial_guess)
    for body in range(1, model.nbody):
        name = reading.body(body)
        frame = machine.model.frame_index(name)
        link = Pose(workspace.rotation[frame].copy(), workspace.translation[frame].copy())
        drawn = Pose(reading.data.xmat[body].reshape(3, 3).copy(), reading.data.xpos[body].copy())
        inside[name] = link.inverse() @ drawn
        centers[name] = np.array(model.body_ipos[body])
    bodies = motions(machine, state, inside, centers)
    bodies["world"] = Motion(Pose(), np.zeros(3), np.zeros(3), np.zeros(3))
    positions = dict(zip(machine.model.position_names, state.q, strict=True))
    reading.place(bodies, positions)
    reading.solve()
    del bodies["world"]
    return (
        reading.accelerations(),
        reading.mobility,
        max(reading.residual, reading.misplaced),
        bodies,
    )


def energy_drift(machine: Mechanism, span: float) -> float:
    """Of a passive motion from a closed state, relative to the largest kinetic energy."""
    state = next(random_states(machine, 1))
    start = State(0.0, state.q, 0.3 * state.v)
    path = simulate(machine, start, span, sample_period=span / 50.0)
    drift = float(np.abs(path.energy - path.energy[0]).max())
    return drift / max(float(np.abs(path.kinetic).max()), _STILL)
