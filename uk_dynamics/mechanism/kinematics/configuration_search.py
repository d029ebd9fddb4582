# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Search for closed configurations that fulfil tasks, within the joint limits.

Tasks are led to their references through closed configurations (see
:mod:`uk_dynamics.mechanism.assembly`), and searched for from many starts where all branches are
wanted.
"""

from collections.abc import Iterable

import numpy as np

from uk_dynamics.exceptions import AssemblyError, InputError
from uk_dynamics.mechanism.assembly.assembly import assemble_on_tasks, free_velocities
from uk_dynamics.mechanism.assembly.assembly_search import Assembly, Search
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion, Positions, states_of
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.tasks import Tasks

POSE = ("x", "y", "z", "rx", "ry", "rz")
STARTS = 64
_SAME = 1e-5  # rad, or part of the machine's size
_OTHER_STARTS = 8  # of a single solution, before it is called out of reach
_OPEN = 1e-6  # of a motion that neither loops nor tasks hold
_SPREAD = 3.0  # machine sizes: of sliding joints without limits in random starts


class ConfigurationSearch:
    """Looks for configurations on loops and tasks, within the joint limits."""

    def __init__(
        self, mechanism: ResolvedMechanism, seed: Positions, hold: Iterable[str] = ()
    ) -> None:
        self._mechanism = mechanism
        (state, *_), many = states_of(mechanism, seed)
        if many:
            raise InputError("expected one configuration", place="seed")
        self.seed = state.q  # where the search for one solution begins, (nq,)
        self._hold = tuple(hold)
        self._free = free_velocities(mechanism, self._hold)

    def nearest(self, tasks: Tasks, problem: str) -> Array:
        """The solution on the branch of the seed, or one from other starts, or an AssemblyError."""
        mechanism = self._mechanism
        found = assemble_on_tasks(mechanism, tasks, self.seed, self._hold)
        if found.closed and not found.limit_violations:
            return found.q
        best = found
        search = Search(mechanism, self._free, 0.0, tasks)
        for start in self._starts(_OTHER_STARTS):
            other = search.run(start, mechanism.closure_tolerance, within_limits=True)
            if other.closed:
                return other.q
        self._raise(best, tasks, problem)
        raise AssertionError

    def branches(self, tasks: Tasks, starts: int) -> Array:
        """Isolated solutions found from many starts, nearest to the seed first, (k, nq)."""
        mechanism, model = self._mechanism, self._mechanism.model
        search = Search(mechanism, self._free, 0.0, tasks)
        first = self.nearest(tasks, "there is no solution")
        self.check_determined(first, tasks, "there are infinitely many solutions")
        found = [first]
        for start in self._starts(starts):
            other = search.run(start, mechanism.closure_tolerance, within_limits=True)
            if other.closed and not any(self._same(other.q, q) for q in found):
                found.append(other.q)
        ways = [np.linalg.norm(model.difference(self.seed, q)) for q in found]
        return np.array([found[k] for k in np.argsort(ways)])

    def check_determined(self, q: Array, tasks: Tasks, problem: str) -> None:
        """Refuse solutions that are not isolated; an InputError names the joints that move most."""
        motion = LoopMotion(self._mechanism)
        motion.update(q)
        free = motion.basis(of_positions=True)
        held = [self._mechanism.model.velocity_index(n) for n in self._hold]
        workspace = tasks.model.workspace()
        workspace.update_positions(q)
        A, _ = tasks.constraints.position(workspace, 0.0, q, tasks.sample(0.0))
        rows = np.vstack(
            [A[tasks.constraints.position_rows] * motion.unit, np.eye(len(free))[held]]
        )
        _, values, directions = np.linalg.svd(rows @ free)
        rank = int(np.count_nonzero(values > _OPEN * values.max(initial=1.0)))
        left = free.shape[1] - rank
        if not left:
            return
        moving = np.linalg.norm(free @ directions[rank:].T, axis=1)
        names = self._mechanism.model.velocity_names
        shown = ", ".join(names[k] for k in np.argsort(-moving)[:3] if moving[k] > _OPEN)
        rolling = "; rows of velocities, as of rolling, hold no position" * motion.nonholonomic
        raise InputError(
            f"{problem}: {left} freedom{'s' * (left > 1)} stay{'s' * (left == 1)} open"
            f" ({shown}){rolling}; hold joints, or give more",
            place=self._mechanism.name,
        )

    def _raise(self, found: Assembly, tasks: Tasks, problem: str) -> None:
        mechanism, violations = self._mechanism, dict(found.violations)
        parts = [name.rpartition(".")[2] for name in tasks.row_names]
        if set(violations) <= set(tasks.names) and set(parts) & set(POSE):
            workspace = tasks.model.workspace()
            workspace.update_positions(found.q)
            _, error = tasks.constraints.position(workspace, 0.0, found.q, tasks.sample(0.0))
            error = error / tasks.constraints.reference_scale
            turning = np.array([part in POSE[3:] for part in parts])
            missing = {"position": error[~turning], "orientation": error[turning]}
            violations = {n: float(np.linalg.norm(e)) for n, e in missing.items() if len(e)}
        raise AssemblyError(
            found.reason,
            violations,
            mechanism.model.positions_by_name(found.q),
            problem=problem,
            file=mechanism.spec.file,
        )

    def _starts(self, count: int) -> list[Array]:
        """Random configurations within limits; held joints stay as at the seed."""
        mechanism, model = self._mechanism, self._mechanism.model
        rng = np.random.default_rng(0)
        span = np.where(model.slides, 0.5 * _SPREAD * mechanism.size, np.pi)
        lower, upper = model.lower, model.upper
        bounded = np.isfinite(lower) & np.isfinite(upper)
        at = np.zeros(model.nv)
        at[model.velocity_of_joint] = self.seed[model.position_of_joint]
        low = np.where(bounded, lower - at, -span)
        high = np.where(bounded, upper - at, span)
        narrow = bounded & (high - low > 4.0 * span)  # a limit of many turns is none
        low, high = np.where(narrow, -span, low), np.where(narrow, span, high)
        ways = [np.where(self._free, rng.uniform(low, high), 0.0) for _ in range(count)]
        return [model.integrate(self.seed, way) for way in ways]

    def _same(self, a: Array, b: Array) -> bool:
        """Whether two configurations are one, full turns of unlimited joints aside."""
        model = self._mechanism.model
        way = model.difference(a, b)
        for body in model.bodies:
            if body.kind == "revolute" and not np.isfinite(model.lower[body.velocity]):
                angle = way[body.velocity]
                way[body.velocity] = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
        return bool(np.abs(way).max(initial=0.0) < _SAME * max(1.0, self._mechanism.size))
