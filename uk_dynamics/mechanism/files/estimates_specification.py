# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What was estimated from recordings, and how well, as a mechanism file says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.yaml_file import place_text

_ROUNDING = 1e-6  # of correlations, which are written with six digits


@dataclass(frozen=True)
class EstimatesSpec:
    """Parameters that one identification or calibration found."""

    by: str  # the command: identify or calibrate; adapt: a law, while the machine moved
    recordings: tuple[str, ...]  # it was found from
    date: str  # in ISO 8601
    names: tuple[str, ...]  # of the parameters, (p,)
    values: tuple[float, ...]  # estimated, in SI, (p,)
    deviations: tuple[float, ...]  # standard deviations, (p,)
    # rows of the lower triangle, the diagonal included: p of them
    correlation: tuple[tuple[float, ...], ...]

    @property
    def covariance(self) -> Array:
        """Covariance of the values, (p, p)."""
        lower = np.zeros((len(self.names), len(self.names)))
        for k, row in enumerate(self.correlation):
            lower[k, : k + 1] = row
        return (lower + np.tril(lower, -1).T) * np.outer(self.deviations, self.deviations)

    @classmethod
    def made(
        cls,
        by: str,
        recordings: Sequence[str],
        date: str,
        values: Mapping[str, float],
        covariance: Array,
    ) -> "EstimatesSpec":
        """Make it from values by name and their covariance, (p, p), in the same order."""
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        scale = np.where(deviations > 0.0, deviations, 1.0)
        full = covariance / np.outer(scale, scale)
        np.fill_diagonal(full, 1.0)
        rows = tuple(tuple(round(float(x), 6) for x in row[: k + 1]) for k, row in enumerate(full))
        numbers = tuple(values.values()), tuple(deviations.tolist())
        return cls(by, tuple(recordings), date, tuple(values), *numbers, rows)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], index: int, file: str) -> "EstimatesSpec":
        """Build it from data that fit the schema, whose correlation is that of the parameters."""
        estimates, rows = data["parameters"], data["correlation"]
        sizes, count = [len(row) for row in rows], len(estimates)
        problem = ""
        if sizes != list(range(1, count + 1)):
            problem = (
                f"found rows of {', '.join(map(str, sizes))} numbers for {count} parameters;"
                " write the lower triangle, the first row with 1 number, the last with"
                f" {count}"
            )
        found = cls(
            data["by"],
            tuple(data["recordings"]),
            data["date"],
            tuple(estimates),
            tuple(float(x["value"]) for x in estimates.values()),
            tuple(float(x["deviation"]) for x in estimates.values()),
            tuple(tuple(float(x) for x in row) for row in rows),
        )
        if not problem and any(row[-1] != 1.0 for row in found.correlation):
            problem = "the last number of each row is 1, the correlation of a parameter with itself"
        if not problem:
            scale = np.array([x or 1.0 for x in found.deviations])
            full = found.covariance / np.outer(scale, scale)
            np.fill_diagonal(full, 1.0)
            lowest = float(np.linalg.eigvalsh(full)[0])
            if lowest < -_ROUNDING * count:
                problem = (
                    f"no quantities are correlated like this: an eigenvalue is {lowest:.3g}, and"
                    " none may be negative"
                )
        if problem:
            place = place_text(("identified", index, "correlation"))
            raise MechanismFileError(problem, file=file, place=place)
        return found

    def data(self) -> dict[str, Any]:
        """An entry of ``identified`` as a mechanism file has it."""
        numbers = zip(self.names, self.values, self.deviations, strict=True)
        return {
            "by": self.by,
            "recordings": list(self.recordings),
            "date": self.date,
            "parameters": {n: {"value": v, "deviation": d} for n, v, d in numbers},
            "correlation": [list(row) for row in self.correlation],
        }
