"""Task rows of a mechanism as symbols."""

from __future__ import annotations

from typing import NamedTuple, cast

from uk_dynamics.compilation.trace.symbolic_tree import SymbolicTree
from uk_dynamics.compilation.trace.symbols import Graph, Objects
from uk_dynamics.compilation.trace.terms import SymbolicTerms
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.tasks import Tasks


class SymbolicTasks(NamedTuple):
    """Symbols in the inputs ``t``, ``q[i]``, ``v[i]`` and ``followed[i]``.

    Attributes:
        A: Task matrix, (mt, nv).
        bias: Second derivative without joint acceleration, (mt,).
        residual: Tracking error, (mt,).
        rate: Error of the rates, (mt,).
    """

    A: Objects
    bias: Objects
    residual: Objects
    rate: Objects


def trace_tasks(tasks: Tasks) -> SymbolicTasks:
    """Run the interpreted code once on symbols.

    Args:
        tasks: Of a mechanism without obstacles to compiling.
    """
    model = tasks.model
    graph = Graph()
    t = cast(float, graph.variable("t"))
    q, v = graph.variables("q", model.nq), graph.variables("v", model.nv)
    tree = SymbolicTree(model.bodies, model.body_frames, q, v, model.gravity, model.armature)
    rows = len(tasks.constraints)
    followed = cast(Array, graph.variables("followed", 3 * rows).reshape(3, rows))
    found = tasks.constraints.evaluate(
        cast(FrameKinematics, tree), t, cast(Array, q), cast(Array, v), ReferenceSample(*followed)
    )
    return SymbolicTasks(*(cast(Objects, part) for part in found))


def targets(tasks: SymbolicTasks) -> list[tuple[str, object]]:
    """Places of what the law needs: the rows themselves, entries that are zero included."""
    return [
        *((f"A[{i}]", x) for i, x in enumerate(tasks.A.reshape(-1))),
        *((f"bias[{i}]", x) for i, x in enumerate(tasks.bias)),
    ]


def error_targets(tasks: SymbolicTasks) -> list[tuple[str, object]]:
    """Places of the tracking error and its rate."""
    return [
        *((f"residual[{i}]", x) for i, x in enumerate(tasks.residual)),
        *((f"rate[{i}]", x) for i, x in enumerate(tasks.rate)),
    ]


def closure_error_targets(structure: SymbolicTerms, scale: Array) -> list[tuple[str, object]]:
    """Places of the residuals of the structure, in m or rad; scale as of the ConstraintSet."""
    residual = zip(structure.residual, scale.tolist(), strict=True)
    errors = [x if unit == 1.0 else x * (1.0 / unit) for x, unit in residual]
    return [(f"residual[{i}]", x) for i, x in enumerate(errors)]
