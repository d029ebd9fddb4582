# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numbers in a view have the units that a person would write."""

from __future__ import annotations

import pytest

from uk_dynamics.viewing.units import engineering


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (13123.4, "kg", "13,120 kg"),  # not 13.12 Mg
        (2.9, "kg", "2.9 kg"),
        (0.25, "kg", "250 g"),
        (205_912.0, "N", "205.9 kN"),
        (-0.0421, "N·m", "-42.1 mN·m"),
        (-1.88e-9, "W", "0 W"),  # not -0.00188 µW
        (0.0, "W", "0 W"),
    ],
)
def test_a_number_is_written_as_a_person_writes_it(value: float, unit: str, written: str) -> None:
    assert engineering(value, unit) == written


def test_what_is_negligible_is_nothing() -> None:
    assert engineering(-3e-4, "W", negligible=1e-3) == "0 W"
