# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of acceleration, multipliers and constraint force by parameters of a mechanism."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.compilation import States
from uk_dynamics.derivatives.differentiator import DerivativeBackend, differentiable
from uk_dynamics.derivatives.equations_of_motion import EquationsOfMotion
from uk_dynamics.derivatives.state_by_state import Arrays, Given
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import Derivative, Derivatives, DerivativeStatus, column_groups
from uk_dynamics.mechanism.resolution import Inputs, ResolvedMechanism, State


class ParameterDerivatives(EquationsOfMotion):
    """Differentiates the motion of one mechanism by parameters; threads may share it.

    State and forces are held.

    Columns of ``parameters`` are in the order of the names, those of ``tau`` follow.
    """

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        names: Sequence[str],
        backend: DerivativeBackend = "cached",
    ) -> None:
        """Trace the equations by these parameters, or load what was compiled for their names.

        Args:
            mechanism: What to differentiate, at its values of the parameters.
            names: Of ``Mechanism.parameters``: masses, lengths, springs, friction, gravity. One
                library serves all their values.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`.

        Raises:
            UnknownNameError: There is no such parameter.
            InputError: There are no names, or the mechanism has no derivatives, as for
                :class:`~uk_dynamics.MotionDerivatives`.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        mechanism = by_parameters(mechanism, names)
        #: Names of the parameters, in the order of the columns.
        self.names, varied = tuple(names), sorted(set(names))
        nv, count = mechanism.model.nv, len(varied)
        self._order = [varied.index(name) for name in names]
        self._in_order = self._order == list(range(count))  # no copies then
        super().__init__(mechanism, backend, column_groups(parameters=count, tau=nv))
        self._asked_for = column_groups(parameters=len(names), tau=nv)

    def at(self, state: State, inputs: Inputs | None = None) -> Derivatives:
        """Differentiate at a state; in C where it is compiled.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        return self._ordered(self._differentiate(state, inputs or Inputs(), forces=True))

    def _room(self, states: States, given: Given) -> tuple[Derivatives, Arrays]:
        found, arrays = super()._room(states, given)
        exist = np.ones((len(found.status), len(set(self.names))))
        found.exist = np.empty(exist.shape, dtype=bool)
        return found, arrays | {"exist": exist}

    def _read(self, found: Derivatives, arrays: Arrays) -> None:
        found.exist[:] = arrays["exist"]

    def _differentiate(self, state: State, inputs: Inputs, *, forces: bool) -> Derivatives:
        whole = self._in_c_alone(state, inputs, forces=forces)
        if self._single is not None and whole is not None:
            qdd, exist = self._single.qdd.copy(), self._single.exist > 0.0
        else:
            found = self._solve(state, inputs)
            each = np.eye(found.rows.shape[1], found.rates.shape[1])
            exist = np.logical_not(np.any(found.offending(each), axis=0))
            qdd, whole = found.solution.qdd, found.whole
        named = self._named(*whole).quantities
        named["acceleration"].value = qdd
        return Derivatives(named, DerivativeStatus.EXIST, exist=exist)

    def _ordered(self, found: Derivatives) -> Derivatives:
        """Order the columns as the names are."""
        if self._in_order:
            return found
        count, nv = len(set(self._order)), self._mechanism.model.nv
        columns = [*self._order, *range(count, count + nv)]
        for name, x in found.quantities.items():
            found.quantities[name] = Derivative(x.whole[..., columns], self._asked_for, x.value)
        if found.exist is not True:
            found.exist = found.exist[..., self._order]
        return found


def by_parameters(mechanism: ResolvedMechanism, names: Sequence[str]) -> ResolvedMechanism:
    """A mechanism that varies these parameters alone, at its own values, if it has derivatives."""
    if not names or isinstance(names, str):
        raise InputError(
            'expected names of parameters in a list, such as ["gravity.z"], of those of'
            f" Mechanism.parameters; found {names!r}",
            place=mechanism.name,
        )
    known = mechanism.parameters
    # others are constants; these have the values of the files in what decides on the library
    settled = mechanism.with_parameters(names).as_filed().parameters
    filed = mechanism.with_parameters({name: settled[name].value for name in names})
    return differentiable(filed).with_parameters({name: known[name].value for name in names})
