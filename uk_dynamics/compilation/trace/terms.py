# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism and its tasks are made of at a state, traced: M, F, A, bias … as symbols."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

from uk_dynamics.compilation.trace.symbolic_robot import (
    symbolic_forces,
    symbolic_passive,
    symbolic_robot,
)
from uk_dynamics.compilation.trace.symbolic_tree import SymbolicTree
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import FrameKinematics
from uk_dynamics.core.equation import Instant, formulas
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, Varied, with_values
from uk_dynamics.model import RobotModel


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
            robot = symbolic_robot(model, self.source)
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
        passive = symbolic_passive(mechanism, x.source)
        forces = symbolic_forces(mechanism, x.source)
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
    return SymbolicTerms(x.tree.mass, F, A, bias, residual, rate, x.graph, found_by)


def trace_tasks(tasks: Tasks) -> SymbolicTasks:
    """Run the interpreted code of task rows once on symbols."""
    x = StateInputs(tasks.model, len(tasks.constraints), tasks.mechanism.varied)
    found = tasks.constraints.evaluate(x.kinematics, x.t, x.q, x.v, x.reference)
    return SymbolicTasks(*(cast(Objects, part) for part in found))


def trace_resistance(mechanism: ResolvedMechanism) -> Objects:
    """What friction and damping of the joints oppose to their motion, (nv,)."""
    x = StateInputs(mechanism.model, 0, mechanism.varied)
    passive = mechanism.passive
    if x.source is not None:
        passive = symbolic_passive(mechanism, x.source)
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
