# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A compiled mechanism that answers wrongly is named in the diagnostics of a node."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.wrong_compiler import wrong_compiler

pytest.importorskip("rclpy")

from diagnostic_msgs.msg import DiagnosticStatus
from support.nodes.ros_ears import DiagnosticsEar, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics.ros.nodes.forward_dynamics import ForwardDynamics

pytestmark = pytest.mark.ros


@pytest.mark.slow
def test_a_wrong_library_is_a_warning_of_the_node(
    ros: Ros, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(wrong_compiler(tmp_path)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND", raising=False)
    monkeypatch.setattr("uk_dynamics.compilation.verification.verify_library._wrong", {})
    ros.add(ForwardDynamics(**overrides(mechanism="four_bar", backend="wait")))
    ear = DiagnosticsEar(ros.node(), "forward_dynamics")
    ear.until(ros, "made of four_bar answers wrongly on this processor")
    assert ear.level != DiagnosticStatus.OK
