# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Units of a view: rad and m, or degrees and mm; the choice is remembered."""

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))


@dataclass(frozen=True)
class Units:
    """What numbers are shown in."""

    name: str
    angle: str
    per_rad: float
    length: str
    per_m: float

    def of(self, unit: str) -> tuple[str, float]:
        """What is shown instead of ``m`` or ``rad``, and how many of it are one."""
        return (self.length, self.per_m) if unit == "m" else (self.angle, self.per_rad)


RAD_M = Units("rad, m", "rad", 1.0, "m", 1.0)
DEG_MM = Units("°, mm", "°", 180.0 / math.pi, "mm", 1e3)
CHOICES = {units.name: units for units in (RAD_M, DEG_MM)}


def remembered() -> Units:
    """The units that were chosen last, in any view of this user."""
    with suppress(OSError, UnicodeError):
        return CHOICES.get(_file().read_text(encoding="utf-8").strip(), RAD_M)
    return RAD_M


def remember(units: Units) -> None:
    """Choose units for the next views as well; without a place to write they are forgotten."""
    with suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(f"{units.name}\n", encoding="utf-8")


def _file() -> Path:
    """``$XDG_CONFIG_HOME/uk_dynamics/view_units``, usually below ``~/.config``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "uk_dynamics" / "view_units"


def engineering(value: float, unit: str, negligible: float = 0.0) -> str:
    """Four digits and a prefix, such as ``205.9 kN``, or ``13,120 kg``: tonnes have no prefix.

    What is negligible, or less than a millionth, is 0.
    """
    size = abs(value)
    if not math.isfinite(value):
        return f"{value} {unit}"
    if size <= negligible or size < _PREFIXES[-1][0]:
        return f"0 {unit}"
    if unit == "kg":
        if size >= 1.0:
            return f"{float(f'{value:.4g}'):,.12g} kg"
        value, unit, size = 1e3 * value, "g", 1e3 * size
    scale, prefix = next((p for p in _PREFIXES if size >= 0.99995 * p[0]), _PREFIXES[-1])
    return f"{value / scale:.4g} {prefix}{unit}"
