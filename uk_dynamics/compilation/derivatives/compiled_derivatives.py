# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion in C."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build.library import Library, library_of
from uk_dynamics.compilation.derivatives.equation_slopes import EquationSlopes
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State


class CompiledDerivatives:
    """One memory and what C does in it; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        library = ctypes.CDLL(str(library_of(mechanism, Library.DERIVATIVES)))
        self._layout = layout = DerivativeLayout(mechanism)
        self._nv, self._rows = mechanism.model.nv, layout.rows
        self._memory = np.zeros(layout.size)
        if len(layout.parameters):
            self._memory[layout["p"]] = layout.parameters
            self._tell = library.uk_exist
            self._tell.restype = None
        #: Which parameters had derivatives at the last state of :meth:`differentiate`, (P,).
        self.exist = np.zeros(len(layout.parameters))
        self._address = ctypes.c_void_p(self._memory.ctypes.data)
        self._differentiate, self._slopes = library.uk_differentiate, library.uk_equation_slopes
        self._forces = library.uk_force_slopes
        self._slopes.restype = self._forces.restype = None
        self._fields = {name: self._memory[layout[name]] for name in layout.fields}
        self._fields["active"][:] = 1.0
        self._by_qdd = self._fields["qdd_slopes"].reshape(self._nv, layout.slopes)

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        *,
        stabilize: bool,
    ) -> EquationSlopes:
        """See :class:`~uk_dynamics.compilation.derivatives.equation_slopes.SlopeSource`."""
        self._set(state, reference, stabilize)
        self._fields["qdd"][:] = qdd
        self._fields["multipliers"][: self._rows] = multipliers
        self._slopes(self._address)
        stride, directions = self._layout.stride, self._layout.directions
        return EquationSlopes(
            *(
                self._fields[name][: rows * stride].reshape(rows, -1)[:, :directions].copy()
                for name, rows in (
                    ("motion_slopes", self._nv),
                    ("row_slopes", self._rows),
                    ("rate_slopes", self._rows),
                )
            )
        )

    def call(self) -> int:
        """The function of C alone, at the state in the memory."""
        failed: int = self._differentiate(self._address)
        return failed

    @property
    def rank(self) -> int:
        """Of the rows at the last state of :meth:`differentiate`."""
        return int(self._fields["rank"][0])

    def differentiate(
        self,
        state: State,
        tau: Array | None,
        reference: ReferenceSample | None,
        active: NDArray[np.bool_] | None,
        *,
        stabilize: bool,
        forces: bool,
    ) -> tuple[Array, ...] | None:
        """Derivatives by q, v, t and forces, fresh, (k, 3 nv + 1): of the acceleration.

        With forces those of the multipliers of least norm and of Aᵀλ too. None where the mass
        matrix is singular or the state gives no finite numbers.
        """
        self._set(state, reference, stabilize)
        self._fields["tau"][:] = 0.0 if tau is None else tau
        self._fields["active"][:] = 1.0 if active is None else active
        failed = self.call()
        parts = [self._by_qdd]
        if forces and not failed:
            rows, slopes = self._rows, self._layout.slopes
            parts += [np.empty((rows, slopes)), np.empty((self._nv, slopes))]
            self._forces(self._address, *(ctypes.c_void_p(x.ctypes.data) for x in parts[1:]))
        if len(self.exist) and not failed:
            self._tell(self._address, ctypes.c_void_p(self.exist.ctypes.data))
        self._fields["active"][:] = 1.0
        if failed:
            return None
        end, begin = self._layout.directions, self._layout.stride
        return tuple(np.concatenate([x[:, :end], x[:, begin:]], axis=1) for x in parts)

    @property
    def qdd(self) -> Array:
        """The acceleration there, (nv,); a view of the memory."""
        return self._fields["qdd"]

    def _set(self, state: State, reference: ReferenceSample | None, stabilize: bool) -> None:
        fields = self._fields
        self._memory[0], self._memory[1] = state.t, stabilize
        fields["q"][:] = state.q
        fields["v"][:] = state.v
        if reference is not None:
            fields["followed"][:] = np.concatenate(reference)
