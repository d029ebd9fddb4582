# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches on whatever device JAX has, a GPU above all."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from uk_dynamics.compilation.build.compilable import check
from uk_dynamics.compilation.emit.tape import record
from uk_dynamics.compilation.jax import jax_solve
from uk_dynamics.compilation.jax.jax_tape import Arrays, double_precision, jax_modules, run
from uk_dynamics.compilation.runtime.batch_call import CommonInputs
from uk_dynamics.compilation.runtime.fallback import Fallback
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import (
    InterpretedDynamics,
    StructuralRows,
    empty,
    put,
)
from uk_dynamics.mechanism.resolution import Array, BatchSolution, Inputs, ResolvedMechanism, States

_TERMS = ("M", "F", "A", "bias", "residual", "rate")
_MEMORY = 2**30  # bytes of intermediate values at a time
_FEWEST = 64  # states; fewer are filled up, so that few sizes are compiled


class JaxDynamics(Fallback):
    """Evaluates batches in JAX, in float64; everything else is interpreted.

    States where the mass matrix is singular, and inputs with non-ideal forces, are left to the
    interpreted evaluator as well.

    Attributes:
        tape: What computes the terms.
        block: States that are evaluated at a time.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Trace the mechanism; JAX compiles it when the first batch comes.

        Raises:
            CompilationError: Some part cannot be traced.
            InputError: JAX is not installed.
        """
        jax_modules()
        check(mechanism, straight=True)
        super().__init__(InterpretedDynamics(mechanism))
        self._mechanism = mechanism
        self._structure = StructuralRows(mechanism)
        model, m = mechanism.model, len(mechanism.constraints)
        self._follows = mechanism.follows_references
        names = [("q", model.nq), ("v", model.nv), ("followed", 3 * m * self._follows)]
        inputs = ["t", *(f"{name}[{i}]" for name, count in names for i in range(count))]
        terms = trace(mechanism.settled())
        self.tape = record(inputs, {name: getattr(terms, name) for name in _TERMS})
        self.block = max(_FEWEST, 2 ** int(np.log2(_MEMORY / (8 * self.tape.size))))
        solver = mechanism.spec.solver
        self._rule = jax_solve.Rule(
            mechanism.natural_scale, solver.rank_tolerance, solver.consistency_tolerance
        )

    @property
    def device(self) -> str:
        """What JAX computes on."""
        jax, _ = jax_modules()
        device = jax.devices()[0]
        return f"{device.platform}: {device.device_kind}"

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """Many states at once; see :meth:`Dynamics.evaluate_batch`.

        JAX chooses its threads itself. The first call of a size compiles for some seconds; sizes
        are rounded up to powers of two.
        """
        if inputs.nonideal is not None or (inputs.references and not self._follows):
            return super().evaluate_states(given, inputs, forces=forces, threads=threads)
        found = empty(len(given.q), self._mechanism.model.nv, self.rows, forces=forces)
        for first in range(0, len(given.q), self.block):
            part = slice(first, min(first + self.block, len(given.q)))
            self._evaluate_block(given, part, inputs, found)
        return found

    def _evaluate_block(
        self, given: States, part: slice, inputs: Inputs, found: BatchSolution
    ) -> None:
        """Answers of some states into their places."""
        count = part.stop - part.start
        size = max(_FEWEST, 2 ** int(np.ceil(np.log2(count))))
        common = CommonInputs.sample(self._structure, given.t, inputs, follows=self._follows)
        many = len(given.t) > 1
        times = given.t[part] if many else given.t
        followed = np.zeros((1, 0)) if common.followed is None else common.followed
        tau = np.zeros((1, self._mechanism.model.nv)) if given.tau is None else given.tau[part]
        arrays = [
            _filled(array, size)
            for array in (
                times,
                given.q[part],
                given.v[part],
                tau,
                followed[part if many else slice(None)],
            )
        ]
        forces = found.multipliers is not None
        with double_precision():
            answers = self._function(*arrays, common.active, common.stabilize, forces=forces)
            arrays_found = {name: np.asarray(x)[:count] for name, x in answers.items()}
        failed = arrays_found.pop("failed")
        for name, array in arrays_found.items():
            getattr(found, name)[part] = array
        for k in np.flatnonzero(failed):
            single = self.fallback.evaluate(*given.at(part.start + int(k), inputs))
            put(found, part.start + int(k), single)

    @cached_property
    def _function(self) -> Any:
        jax, _ = jax_modules()
        return jax.jit(self.function, static_argnames="forces")

    def accelerations(
        self, q: Arrays, v: Arrays, tau: Arrays, t: float = 0.0, *, stabilize: bool = True
    ) -> Arrays:
        """Constrained accelerations at K states for programs in JAX, (K, nv).

        To be called, and compiled by ``jax.jit``, where JAX computes in float64. Where M is
        singular they are not numbers.

        Args:
            q: (K, nq).
            v: (K, nv).
            tau: Generalized forces, (K, nv), in N or N m.
            t: In s.
            stabilize: Whether b contains the stabilisation.

        Raises:
            InputError: The mechanism follows references, which are sampled outside JAX.
        """
        if self._follows:
            raise InputError("follows references, or may; only evaluate_batch can do that")
        _, jnp = jax_modules()
        count = len(q)
        times, followed = jnp.full(count, t), jnp.zeros((count, 0))
        answers = self.function(times, q, v, tau, followed, np.ones(self.rows), stabilize)
        return answers["qdd"]

    def function(
        self,
        t: Arrays,
        q: Arrays,
        v: Arrays,
        tau: Arrays,
        followed: Arrays,
        active: Arrays,
        stabilize: Arrays,
        *,
        forces: bool = False,
    ) -> dict[str, Arrays]:
        """What JAX compiles: answers at K states.

        Args:
            t: (K,), in s.
            q: (K, nq).
            v: (K, nv).
            tau: (K, nv).
            followed: References of the rows, values, rates, accelerations, (K, 3 m); (K, 0) where
                the mechanism has none.
            active: 1 for rows that act, (m,).
            stabilize: Whether b contains the stabilisation.
            forces: Whether forces, multipliers and residuals are wanted.

        Returns:
            Arrays named as in :class:`BatchSolution`, and ``failed``.
        """
        jax, jnp = jax_modules()
        inputs = jnp.concatenate((t[:, None], q, v, followed), axis=1).T
        terms = {name: jnp.moveaxis(x, -1, 0) for name, x in run(self.tape, inputs).items()}
        constraints = self._mechanism.constraints
        damping, stiffness = constraints.damping, constraints.stiffness
        stabilization = damping * terms["rate"] + stiffness * terms["residual"]
        b = -active * (terms["bias"] + stabilize * stabilization)
        A = terms["A"] * active[:, None]
        solve = partial(jax_solve.motion, rule=self._rule)
        found = jax.vmap(solve)(terms["M"], terms["F"] + tau, A, b)
        answers = {
            "qdd": found.qdd,
            "rank": found.rank,
            "status": found.status,
            "failed": found.failed,
        }
        if not forces:
            return answers
        regular = jax.vmap(partial(jax_solve.forces, redundant=False))
        redundant = jax.vmap(partial(jax_solve.forces, redundant=True))
        every = jnp.all(found.rank == self.rows)
        force, multipliers, determined = jax.lax.cond(every, regular, redundant, found)
        return answers | {
            "constraint_force": force,
            "multipliers": multipliers,
            "determined": determined,
            "residual": found.violation,
        }


def _filled(array: Array, size: int) -> Array:
    """As many rows as wanted, by repeating the last one."""
    return np.concatenate((array, np.repeat(array[-1:], size - len(array), axis=0)))
