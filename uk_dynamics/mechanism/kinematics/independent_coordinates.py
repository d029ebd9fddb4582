# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Coordinates that determine all others at a configuration, and maps from and to them."""

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Values
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.assembly.assembly import assemble, closed_configuration
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, State
from uk_dynamics.model import named_numbers

_KIND = "independent coordinate"
_DEPENDENT = 1e-8  # smallest part of a motion that chosen coordinates must see
_TOGETHER = 0.05  # of a motion: a joint with several freedoms that sees more is taken as a whole
_STEP = 0.2  # rad or m: positions are led in steps no longer than this, so that they keep a branch


class IndependentCoordinates:
    """As many joint coordinates as the mechanism has freedoms, by which the others are known best.

    Attributes:
        positions: Names of the coordinates that determine the configuration around here.
        velocities: Names of those that determine velocities; the same ones, unless rows constrain
            velocities alone, as rolling does: then fewer.
        q: The configuration at which they were chosen, (nq,).
    """

    def __init__(
        self, mechanism: ResolvedMechanism, q: Array, names: Sequence[str] | None = None
    ) -> None:
        """Choose them.

        Args:
            mechanism: Whose coordinates.
            q: A configuration that closes the loops, (nq,).
            names: Of velocity coordinates; None: those by which the motion is determined best, by
                QR with pivoting of a basis of the admissible velocities (Wehage and Haug's
                partition by rank; review, section 4).

        Raises:
            UnknownNameError: A coordinate does not exist.
            InputError: They do not determine the motion.
        """
        self.mechanism, self.q = mechanism, q
        self.motion = LoopMotion(mechanism)
        self.motion.update(q)
        model = mechanism.model
        whole = [
            slice(body.velocity, body.velocity + {"floating": 6, "planar": 3}[body.kind])
            for body in model.bodies
            if body.kind in ("floating", "planar")
        ]
        self._v = choose(self.motion.basis(), model.velocity_names, names, whole)
        self._q = self._v
        if self.motion.nonholonomic:
            allowed = self.motion.basis(of_positions=True)
            self._q = choose(allowed, model.velocity_names, None, whole)
        self.positions = tuple(model.velocity_names[k] for k in self._q)
        self.velocities = tuple(model.velocity_names[k] for k in self._v)

    def __repr__(self) -> str:
        return f"<IndependentCoordinates {', '.join(self.velocities)} of {self.mechanism.name}>"

    def values(self, q: ArrayLike) -> Array:
        """Their values at configurations (..., nq): (..., k), in m or rad.

        Those of floating and planar joints count from :attr:`q`, along the joint's own axes there.
        """
        model = self.mechanism.model
        flat = np.asarray(q, dtype=float)
        rows = np.atleast_2d(flat)
        found = np.array([model.difference(self.q, each) for each in rows])[:, self._q]
        found += self._origin()
        return found.reshape((*flat.shape[:-1], len(self._q)))

    def rates(self, v: ArrayLike) -> Array:
        """Their rates of velocities (..., nv), or second rates of accelerations: (..., k)."""
        return np.asarray(v, dtype=float)[..., self._v]

    def configuration(self, values: Values, near: Array | None = None) -> Array:
        """The configuration that has these values, (nq,), loops closed.

        Args:
            values: By name, those not given as at ``near``; or (k,), in m or rad.
            near: A configuration on the wanted branch, from which they are led in steps; None:
                :attr:`q`.

        Raises:
            AssemblyError: The loops do not close there.
            InputError: Single coordinates of a floating or planar joint are among them, which have
                no position of their own.
        """
        model, q = self.mechanism.model, self.q if near is None else near
        held = self._held()
        wanted = named_numbers(values, self.positions, _KIND, "position", self.values(q))
        way = np.zeros(model.nv)
        way[self._q] = wanted - self.values(q)
        for remaining in range(max(1, int(np.ceil(np.abs(way).max(initial=0.0) / _STEP))), 0, -1):
            way[self._q] = (wanted - self.values(q)) / remaining
            guess = model.integrate(q, way)
            q = closed_configuration(self.mechanism, assemble(self.mechanism, guess, held))
        return q

    def velocity(self, rates: Values, q: Array | None = None) -> Array:
        """The velocities with these rates, (nv,), at a configuration (nq,), by default :attr:`q`.

        Rows that change with time are taken at t = 0.

        Raises:
            InputError: The coordinates do not determine the motion there.
        """
        self.motion.update(self.q if q is None else q)
        wanted = self._rates(rates)
        T = self.map(self.motion)
        return self._complete(T, self.motion.particular(-self.motion.rate), wanted)

    def acceleration(self, state: State, second_rates: Values | None = None) -> Array:
        """The accelerations with these second rates, (nv,), at a state; None: all are zero.

        Raises:
            InputError: The coordinates do not determine the motion there.
        """
        self.motion.update(state.q, state.v, state.t)
        given = {} if second_rates is None else second_rates
        return self._complete(
            self.map(self.motion), self.motion.particular(-self.motion.bias), self._rates(given)
        )

    def map(self, motion: LoopMotion) -> Array:
        """T with v = T ẏ, (nv, k), where a motion was updated last.

        Raises:
            InputError: The coordinates do not determine the motion there.
        """
        basis = motion.basis()
        chosen = basis[self._v]
        if basis.shape[1] != len(self._v) or _least(chosen) < _DEPENDENT:
            raise InputError(
                f"{', '.join(self.velocities)} do not determine the motion here; choose others",
                place=self.mechanism.name,
            )
        scaled = basis @ np.linalg.inv(chosen)
        return motion.unit[:, None] * scaled / motion.unit[self._v]

    def _complete(self, T: Array, particular: Array, wanted: Array) -> Array:
        return particular + T @ (wanted - particular[self._v])

    def _rates(self, values: Values) -> Array:
        """Rates of the velocities' coordinates, those not given zero, (k,)."""
        return named_numbers(values, self.velocities, _KIND, "rate", np.zeros(len(self._v)))

    def _origin(self) -> Array:
        """Values at :attr:`q`: positions of joints with one freedom, zero of others."""
        model = self.mechanism.model
        names = set(model.joint_names)
        return np.array(
            [self.q[model.position_index(n)] if n in names else 0.0 for n in self.positions]
        )

    def _held(self) -> tuple[str, ...]:
        """Joints to hold, those with several freedoms by one of their parts."""
        held, model = [], self.mechanism.model
        for name in self.positions:
            joint = name if name in model.joint_names else name.rpartition(".")[0]
            parts = [n for n in model.velocity_names if n == joint or n.startswith(f"{joint}.")]
            if not set(parts) <= set(self.positions):
                raise InputError(
                    f"{name} is one of several freedoms of {joint}, and has no position without the"
                    " others; choose all of them, or none",
                    place=self.mechanism.name,
                )
            held.append(parts[0])
        return tuple(held)


def choose(
    basis: Array,  # of the motions
    names: Sequence[str],  # of all coordinates, (nv,)
    wanted: Sequence[str] | None,  # names of those that are to be taken; None: the best
    # coordinates of joints with several freedoms, taken first, all of them or none
    whole: Sequence[slice] = (),
) -> list[int]:
    """Places of coordinates that determine motions, given as columns, (nv, k), if they do."""
    basis = basis[:, basis.any(axis=0)]
    count = basis.shape[1]
    if wanted is None:
        taken: list[int] = []
        for part in whole:
            more = [*taken, *range(part.start, part.stop)]
            if len(more) <= count and _least(basis[more]) > _TOGETHER:
                taken = more
        left = basis.copy()
        for part in whole:
            left[part] = 0.0
        if taken:
            seen = np.linalg.qr(basis[taken].T)[0]
            left -= left @ seen @ seen.T
        if np.linalg.matrix_rank(left, _DEPENDENT) < count - len(taken):  # whole joints are needed
            taken, left = [], basis
        _, _, order = scipy.linalg.qr(left.T, mode="economic", pivoting=True)
        return sorted([*taken, *(int(k) for k in order[: count - len(taken)])])
    expect_names("coordinate", wanted, names)
    chosen = [names.index(name) for name in wanted]
    if len(chosen) != count or (count and _least(np.linalg.qr(basis)[0][chosen]) < _DEPENDENT):
        raise InputError(
            f"expected {count} coordinates that determine the motion, found {', '.join(wanted)}",
            place="coordinates",
        )
    return chosen


def _least(rows: Array) -> float:
    """Smallest singular value; 1 where there are no rows."""
    if not rows.size:
        return 1.0
    return float(np.linalg.svd(rows, compute_uv=False)[-1]) if len(rows) <= rows.shape[1] else 0.0
