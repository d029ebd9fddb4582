# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism and its tasks are made of at a state, traced: M, F, A, bias … as symbols.

Numbers of the robot may be symbols, too: parameters that stay inputs of compiled code.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.trace.symbolic_joints import constant, skew, zeros
from uk_dynamics.compilation.trace.symbolic_tree import Inertia, SymbolicTree, inertia_of
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import FrameKinematics
from uk_dynamics.core.equation import Instant, formulas
from uk_dynamics.forces import PassiveForces
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import (
    Array,
    ResolvedMechanism,
    Source,
    Varied,
    frame_origins,
    resolve_forces,
    with_values,
)
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Body, BodyFrame
from uk_dynamics.model.urdf import WORLD


class SymbolicTerms(NamedTuple):
    """Symbols in the inputs ``t``, ``q[i]``, ``v[i]``, ``followed[i]`` and, varied, ``p[i]``."""

    M: Objects  # mass matrix, (nv, nv)
    F: Objects  # all forces but motors, (nv,)
    A: Objects  # constraint matrix, (m, nv)
    bias: Objects  # ψ̈ at zero joint acceleration, (m,)
    residual: Objects  # ψ, (m,)
    rate: Objects  # ψ̇, (m,)
    graph: Graph  # where all of them are nodes
    # results with formulas, by name in the memory of C; of ``tau``, ``qdd`` and ``ideal_force`` too
    formulas: Mapping[str, Objects] = MappingProxyType({})
    # what of F is −h: Coriolis, centrifugal and gravitational forces, (nv,)
    h: Objects = as_objects([])
    # energies, kinetic and potential, and forces without a potential but motors', (2 + nv,)
    balance: Objects = as_objects([])


class SymbolicTasks(NamedTuple):
    """Symbols of the task rows, in the same inputs."""

    A: Objects  # task matrix, (mt, nv)
    bias: Objects  # second derivative without joint acceleration, (mt,)
    residual: Objects  # tracking error, (mt,)
    rate: Objects  # error of the rates, (mt,)


class StateInputs:
    """A state and references of some rows as inputs, and the tree there.

    Rows and forces are written over plain arrays: they do not see what the arrays hold.
    """

    def __init__(self, model: RobotModel, rows: int, varied: Varied | None = None) -> None:
        graph = self.graph = Graph()
        self.t = cast(float, graph.variable("t"))
        q, v = graph.variables("q", model.nq), graph.variables("v", model.nv)
        self.source = None
        if varied is None:
            self.tree = SymbolicTree(
                model.bodies, model.body_frames, q, v, model.gravity, model.armature
            )
        else:
            symbols = graph.variables("p", len(varied.names))
            self.source = with_values(varied.base, dict(zip(varied.names, symbols, strict=True)))
            robot = _robot(model, self.source)
            self.tree = SymbolicTree(
                robot.bodies, robot.frames, q, v, robot.gravity, robot.armature, robot.inertias
            )
        self.kinematics = cast(FrameKinematics, self.tree)
        self.q, self.v = cast(Array, q), cast(Array, v)
        self.reference = None
        if rows:
            parts = cast(Array, graph.variables("followed", 3 * rows).reshape(3, rows))
            self.reference = ReferenceSample(*parts)


def trace(mechanism: ResolvedMechanism) -> SymbolicTerms:
    """Run the interpreted code once on symbols, where nothing hinders compiling."""
    constraints, passive, forces = mechanism.constraints, mechanism.passive, mechanism.forces
    x = StateInputs(
        mechanism.model, mechanism.follows_references * len(constraints), mechanism.varied
    )
    if x.source is not None:
        passive = _passive(mechanism, x.source)
        spec = x.source.spec
        forces = resolve_forces(spec.forces, mechanism.model, spec.file)
    rows = constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    force = passive.force(x.q, x.v) - cast(Array, x.tree.bias)
    forces.add_to(force, x.kinematics, x.t, x.q, x.v)
    found = (force, rows.A, rows.bias, rows.residual, rows.rate)
    F, A, bias, residual, rate = cast(tuple[Objects, ...], found)
    nv, variables = mechanism.model.nv, x.graph.variables
    found_by: dict[str, Objects] = {}
    for result in formulas():
        assert result.formula is not None
        tau, qdd, ideal = (variables(name, nv) for name in ("tau", "qdd", "ideal_force"))
        known = (force + tau, x.tree.bias, qdd, ideal)
        at = Instant(x.t, x.q, x.v, *(cast(Array, array) for array in known))
        found_by[result.memory] = cast(Objects, result.formula(at))
    stored = passive.potential_energy(x.q) + forces.potential_energy(x.kinematics, x.q)
    unstored = forces.unstored(passive, x.kinematics, x.t, x.q, x.v)
    balance = as_objects([x.tree.kinetic, x.tree.potential + stored, *unstored])
    more = x.graph, found_by, x.tree.bias, balance
    return SymbolicTerms(x.tree.mass, F, A, bias, residual, rate, *more)


def trace_tasks(tasks: Tasks) -> SymbolicTasks:
    """Run the interpreted code of task rows once on symbols."""
    x = StateInputs(tasks.model, len(tasks.constraints), tasks.mechanism.varied)
    found = tasks.constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    return SymbolicTasks(*(cast(Objects, part) for part in found))


def trace_resistance(mechanism: ResolvedMechanism) -> Objects:
    """What friction and damping of the joints oppose to their motion, (nv,)."""
    x = StateInputs(mechanism.model, 0, mechanism.varied)
    passive = _passive(mechanism, x.source) if x.source is not None else mechanism.passive
    return cast(Objects, passive.resistance(x.v))


def as_inputs(terms: SymbolicTerms) -> SymbolicTerms:
    """The same terms as inputs ``M[i]``, ``F[i]`` …, row by row; constants stay what they are.

    F and the bias are inputs throughout: the projection puts right-hand sides of its own there.
    """
    graph = Graph()

    def read(name: str) -> Objects:
        array = getattr(terms, name)
        replaced = name in ("F", "bias")
        values = [
            graph.variable(f"{name}[{i}]") if replaced or isinstance(x, Symbol) else x
            for i, x in enumerate(array.reshape(-1))
        ]
        return as_objects(values).reshape(array.shape)

    M, F, A, bias, residual, rate = map(read, SymbolicTerms._fields[:6])
    for i in range(len(M)):  # only the lower triangle is written
        M[:i, i] = M[i, :i]
    return SymbolicTerms(M, F, A, bias, residual, rate, graph)


_MOVES = ("revolute", "prismatic", "floating", "planar")


class _Robot(NamedTuple):
    """What a tree is made from, with symbols in it."""

    bodies: tuple[Body, ...]
    frames: tuple[BodyFrame, ...]
    inertias: list[Inertia]
    gravity: Objects
    armature: Objects


class _Carrier(NamedTuple):
    """Where a link is."""

    body: int  # number of the body that it belongs to, -1 for the world
    translation: Objects  # in that body


def _robot(model: RobotModel, source: Source) -> _Robot:
    """The robot of a model with what a source with symbols says.

    Rotations and whatever does not depend on a symbol are those of the model.
    """
    bodies, frames = list(model.bodies), list(model.body_frames)
    carriers = {WORLD: _Carrier(-1, zeros(3))}
    rooted = model.bodies[0].kind in ("floating", "planar") if bodies else False
    carriers[source.description.root] = _Carrier(0 if rooted else -1, zeros(3))
    following = int(rooted)

    def behind(link: str, offset: Any) -> _Carrier:
        carrier = carriers[link]
        at = model.frame_index(link) if link in model.frame_names else None
        turn = np.eye(3) if at is None else frames[at].rotation
        return carrier._replace(
            translation=carrier.translation + constant(turn) @ as_objects(list(offset))
        )

    for joint in source.description.joints:
        placed = behind(joint.parent, joint.pose.translation.tolist())
        if joint.type in _MOVES:
            if _symbolic(placed.translation):
                bodies[following] = replace(
                    bodies[following], translation=cast(Array, placed.translation)
                )
            placed = _Carrier(following, zeros(3))
            following += 1
        carriers[joint.child] = placed
    moved = frame_origins(source)
    for frame in model.attached:
        carriers[frame.name] = behind(frame.link, moved.get(frame.name, frame.xyz))
    for name, carrier in carriers.items():
        if _symbolic(carrier.translation):
            at = model.frame_index(name)
            frames[at] = replace(frames[at], translation=cast(Array, carrier.translation))
    armature = model.armature.astype(object)
    for name, spec in source.spec.joints:
        if _symbolic(spec.armature):
            armature[model.velocity_index(name)] = spec.armature
    gravity = as_objects(list(source.spec.model.gravity))
    inertias = [_inertia(k, body, model, source, carriers) for k, body in enumerate(model.bodies)]
    return _Robot(tuple(bodies), tuple(frames), inertias, gravity, armature)


def _passive(mechanism: ResolvedMechanism, source: Source) -> PassiveForces:
    """Damping, friction and springs of joints with symbols in them."""
    urdf = {joint.name: joint for joint in source.description.joints}
    numbers: dict[tuple[str, int], Any] = {}
    for name, spec in source.spec.joints:
        joint = urdf[name]
        found = {
            "damping": joint.damping if spec.damping is None else spec.damping,
            "friction": joint.friction if spec.friction is None else spec.friction,
            "spring": spec.spring_stiffness,
            "rest": spec.spring_rest,
        }
        at = mechanism.model.velocity_index(name)
        numbers |= {(key, at): x for key, x in found.items() if _symbolic(x)}
    return mechanism.passive.replaced(numbers) if numbers else mechanism.passive


def _inertia(
    number: int, body: Body, model: RobotModel, source: Source, carriers: Mapping[str, _Carrier]
) -> Inertia:
    """Inertia of all links of a body in its frame; of the model where no symbol is in it."""
    links = [link for link in source.description.links if carriers[link.name].body == number]
    parts = [(link.mass, link.center_of_mass, link.inertia) for link in links]
    places = [carriers[link.name].translation for link in links]
    if not any(_symbolic(part) for group in (*parts, places) for part in group):
        return inertia_of(body)
    whole = Inertia(0.0, zeros(3), zeros(3, 3))
    for link, place in zip(links, places, strict=True):
        turn = constant(model.body_frames[model.frame_index(link.name)].rotation)
        center = place + turn @ as_objects(link.center_of_mass.tolist())
        about_center = turn @ as_objects(link.inertia.tolist()) @ turn.T
        offset = skew(center)
        matrix = about_center - offset @ offset * link.mass
        whole = whole + Inertia(link.mass, center * link.mass, matrix)
    return whole


def _symbolic(value: Any) -> bool:
    return any(isinstance(x, Symbol) for x in np.ravel(np.asarray(value, dtype=object)))
