"""References as a file declares them: the wanted value of each row over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uk_dynamics.exceptions import MechanismFileError

Values = tuple[float, ...]
_SINUSOID_KEYS = ("offset", "amplitude", "frequency", "phase")


@dataclass(frozen=True)
class ReferenceSpec:
    """Wanted value over time, one number per row.

    Attributes:
        type: constant (value), or sinusoid: offset + amplitude · sin(2π · frequency · t + phase).
        value: Of a constant, (rows,), in rad or m.
        offset: Of a sinusoid, (rows,), in rad or m.
        amplitude: (rows,), in rad or m.
        frequency: (rows,), in Hz, not negative.
        phase: (rows,), in rad.
    """

    type: str
    value: Values = ()
    offset: Values = ()
    amplitude: Values = ()
    frequency: Values = ()
    phase: Values = ()

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], rows: int, *, file: str, place: str
    ) -> ReferenceSpec:
        """Build the reference from checked data; a single number holds for every row.

        Raises:
            MechanismFileError: A list has another length than there are rows.
        """
        keys = ("value",) if data["type"] == "constant" else _SINUSOID_KEYS
        values: dict[str, Values] = {}
        for key in keys:
            given = data.get(key, 0.0)
            if isinstance(given, list) and len(given) != rows:
                problem = (
                    f"found {len(given)} numbers for {rows} "
                    f"{'row' if rows == 1 else 'rows'}; give {rows}, or one for all"
                )
                raise MechanismFileError(problem, file=file, place=f"{place}.{key}")
            listed = given if isinstance(given, list) else [given] * rows
            values[key] = tuple(float(number) for number in listed)
        return cls(data["type"], **values)
