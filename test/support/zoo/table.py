# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The table of docs/zoo.md: ``PYTHONPATH=test python -m support.zoo.table``, half an hour."""

from __future__ import annotations

import sys

from support.zoo.comparison import compare, energy_drift, moved
from support.zoo.models import MODELS, Model
from uk_dynamics.exceptions import SimulationError, UkDynamicsError

_FORMATS = {".yaml": "URDF, YAML", ".xml": "MJCF", ".sdf": "SDF", ".urdf": "URDF", ".usda": "USD"}
_SPAN = 5.0  # s
_HEAD = (
    "model",
    "format",
    "closed by",
    "rows, rank",
    "mobility",
    "accelerations",
    "energy",
    "remarks",
)


def row(model: Model) -> tuple[str, ...]:
    """One model, measured."""
    start = (f"`{model.file}`", _FORMATS[model.path.suffix], model.closed_by)
    try:
        machine = moved(model.path, fixed=model.fixed)
        if model.refused:
            energy_drift(machine, 0.1)
    except UkDynamicsError as error:
        return (*start, "", "", "", "", f"refused: {error}; {model.remark}")
    found = compare(machine, model.read())
    try:
        drift = f"{energy_drift(machine, _SPAN):.0e}"
    except SimulationError as error:
        drift = str(error)
    remark = "; ".join(filter(None, (model.remark, model.reason)))
    return (
        *start,
        f"{found.rows}, {found.rank}",
        str(found.mobility),
        f"{found.difference:.0e}",
        drift,
        remark,
    )


def main() -> None:
    """Print it, row by row."""
    sys.stdout.write("| " + " | ".join(_HEAD) + " |\n" + "|---" * len(_HEAD) + "|\n")
    for model in MODELS:
        if len(sys.argv) < 2 or any(word in model.file for word in sys.argv[1:]):
            sys.stdout.write("| " + " | ".join(row(model)) + " |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
