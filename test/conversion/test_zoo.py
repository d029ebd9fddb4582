# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Public models with closed loops: read, closed, moved; or refused for the right reason.

Accelerations are compared with readings of the same file that share nothing with the package:
MuJoCo's mass matrix and rows for MJCF, free bodies in NumPy for all else. Long machines are
simulated for a shorter time here; `python -m support.zoo.table` does all of it.
"""

from __future__ import annotations

import pytest
from support.zoo.comparison import compare, energy_drift, imported, moved
from support.zoo.models import FOLDER, MODELS, Model

from uk_dynamics.exceptions import UkDynamicsError

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the zoo of public models is not next to the repository"
)
pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
pytest.importorskip("pxr", reason="usd-core reads USD")


@pytest.mark.slow
@pytest.mark.parametrize("model", [m for m in MODELS if not m.refused], ids=lambda m: m.file)
def test_model(model: Model) -> None:
    machine = imported(model.path, fixed=model.fixed)
    found = compare(machine, model.read(), model.states)
    assert found.mobility == found.their_mobility == model.mobility
    assert found.difference < model.same
    if model.span:
        # DOP853 is asked for 1e-9 of every step
        assert energy_drift(machine, model.span) < model.drift


@pytest.mark.parametrize("model", [m for m in MODELS if m.refused], ids=lambda m: m.file)
def test_refused(model: Model) -> None:
    with pytest.raises(UkDynamicsError, match=model.refused) as refusal:
        energy_drift(moved(model.path), 0.05)
    assert "\n" not in str(refusal.value)
