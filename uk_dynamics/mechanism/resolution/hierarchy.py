# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which rows make which level, which of them are compliant, and which can be switched off."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from uk_dynamics.arrays import Flags, Indices
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.exceptions import MechanismFileError, expect_names
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, SwitchingSpec
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array


@dataclass(frozen=True)
class Hierarchy:
    """Levels of the structural rows; those that can be switched off form the last one."""

    # constraints of each level, lowest first, switchable ones last
    names: tuple[tuple[str, ...], ...]
    levels: tuple[Indices, ...]  # their rows
    # diagonal of R = ω²C of (4.17), (m,), in m/(N s²); None where all rows are rigid
    clearance: Array | None
    rigid: Flags  # whether each row holds exactly, (m,)
    switchable: Mapping[str, SwitchingSpec]  # how each switchable constraint is switched, by name
    one_sided: frozenset[str]  # constraints of contacts, stops and ropes, which the motion switches
    initial: ActiveConstraints  # those that are on at the start
    _slices: Mapping[str, slice]
    _masks: dict[frozenset[str], Flags | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        constraints: ConstraintSet,  # all structural constraints, with those that no file declares
        specs: Sequence[ConstraintSpec],  # what the file declares
        one_sided: Iterable[str],  # names of the constraints of contacts, stops and ropes
        file: str,  # its name, for errors
    ) -> "Hierarchy":
        """Sort the rows of a mechanism; those that are compliant have to be of order position."""
        switchable = {s.name: s.switching for s in specs if s.switching is not None}
        open_ = frozenset(one_sided)
        # Switchable rows last: switching them on is one more update, off is stopping before it.
        last = 1 + max((c.level for c in constraints.constraints), default=0)
        level = {
            c.name: last if c.name in switchable or c.name in open_ else c.level
            for c in constraints.constraints
        }
        names = tuple(
            tuple(name for name in constraints.names if level[name] == index)
            for index in sorted(set(level.values()))
        )
        for constraint in constraints.constraints:
            rows = constraints.slices[constraint.name]
            if constraint.compliance and not constraints.position_rows[rows].all():
                raise MechanismFileError(
                    "only rows that hold positions can be compliant; leave it out",
                    file=file,
                    place=f"constraints.{constraint.name}.compliance",
                )
        compliance = np.array([c.compliance for c in constraints.constraints for _ in c.rows])
        clearance = constraints.stiffness * compliance
        return cls(
            names=names,
            levels=tuple(_rows(constraints, group) for group in names),
            clearance=clearance if clearance.any() else None,
            rigid=clearance == 0.0,
            switchable=switchable,
            one_sided=open_,
            initial=ActiveConstraints(frozenset(n for n, s in switchable.items() if s.active)),
            _slices=constraints.slices,
        )

    @property
    def switches(self) -> bool:
        """Whether rows can be off: switchable ones, or those of contacts, stops and ropes."""
        return bool(self.switchable or self.one_sided)

    def check(self, names: frozenset[str]) -> None:
        """Refuse names that are no switchable constraints, with an UnknownNameError."""
        expect_names("switchable constraint", names, self.switchable)

    def mask(self, active: ActiveConstraints | None) -> Flags | None:
        """Whether each row acts with these constraints on, (m,); None where all do.

        Raises UnknownNameError: One of them is no switchable constraint.
        """
        names = (active or self.initial).names
        if names not in self._masks:
            self.check(names - self.one_sided)
            mask = np.ones(len(self.rigid), dtype=bool)
            for name in (*self.switchable, *self.one_sided):
                mask[self._slices[name]] = name in names
            self._masks[names] = None if mask.all() else mask
        return self._masks[names]

    def acting(self, active: ActiveConstraints | None = None) -> Flags:
        """Whether each row acts, (m,); see :meth:`mask`."""
        mask = self.mask(active)
        return np.ones(len(self.rigid), dtype=bool) if mask is None else mask

    def captured(self, active: ActiveConstraints | None) -> Mapping[str, ReferenceSample]:
        """Poses at which constraints were closed, as references that do not move."""
        if active is None or not active.captured:
            return {}
        return {
            name: ReferenceSample.at_rest(value)
            for name, value in active.captured.items()
            if name in active.names
        }


def _rows(constraints: ConstraintSet, names: tuple[str, ...]) -> Indices:
    parts = [np.arange(len(constraints))[constraints.slices[name]] for name in names]
    return np.concatenate(parts)
