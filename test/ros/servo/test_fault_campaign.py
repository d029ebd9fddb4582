# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Faults of every kind in a machine of five processes: the stated reaction, in the stated time.

``studies/measurements/faults.py`` injects a hundred; here is one of each kind that needs whole
processes or the whole chain. The others have their tests in test_ros_safety.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from faults import campaign
from injected_faults import Outcome

pytestmark = [pytest.mark.ros, pytest.mark.slow]

SLACK = 1.0  # s, of a computer that runs other tests
FAULTS = (
    "every state twice",
    "encoders stuck",
    "clock ahead by 5 s",
    "encoders leave DDS",
    "controller frozen",
    "controller killed",
)


@pytest.mark.retry(reason="a loaded computer suspends processes, which is a fault of its own")
def test_reactions_in_time_and_never_a_bad_command(tmp_path: Path) -> None:
    outcomes: list[Outcome] = []
    heard = campaign(FAULTS, tmp_path, SLACK, outcomes.append)
    assert [(o.name, o.problem) for o in outcomes] == [(name, "") for name in FAULTS]
    assert heard["messages"] > 200
    assert heard["wrong_size"] == heard["not_finite"] == heard["over_limit"] == 0
