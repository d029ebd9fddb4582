# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Diagnostics tell which evaluator answers."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

from support.nodes.ros_ears import DiagnosticsEar, overrides
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench

from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.ros.nodes.forward_dynamics import ForwardDynamics
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.nodes.wrench_observer import WrenchObserverNode

pytestmark = pytest.mark.ros

COMPILED = pytest.param(
    "compiled", marks=pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", COMPILED])
def test_nodes_tell_what_answers(ros: Ros, backend: str) -> None:
    bench = Bench(ros, backend=backend, state_timeout=60.0)
    given = {"mechanism": "five_bar", "backend": backend}
    ros.add(ForwardDynamics(**overrides(**given)))
    ros.add(WrenchObserverNode(**overrides(mechanism="five_bar")))
    others = [DiagnosticsEar(bench.node, name) for name in ("forward_dynamics", "wrench_observer")]
    bench.change("configure")
    bench.change("activate")
    controller = bench.diagnostics
    seconds = iter(range(1000))

    def told() -> bool:
        bench.command(0.01 * next(seconds))
        heard = (controller, *others)
        return all("evaluator" in ear.values for ear in heard)

    ros.until(told, "evaluators")
    forward, observer = others
    assert forward.values["evaluator"] == controller.values["evaluator"] == backend
    assert controller.values["law_evaluator"] == backend
    assert observer.values["evaluator"] == "interpreted"
    bench.set("mode", "hold")  # a law that nodes interpret
    ros.until(
        lambda: told() and controller.values["mode"] == "hold", "the other law in diagnostics"
    )
    assert controller.values["law_evaluator"] == "interpreted"


def test_a_simulator_tells_what_answers(ros: Ros) -> None:
    given = {"mechanism": "four_bar", "backend": "interpreted", "paused": True}
    ros.add(Simulator(**overrides(**given)))
    ear = DiagnosticsEar(ros.node(), "simulator")
    ros.until(lambda: ear.values.get("evaluator") == "interpreted", "the evaluator")
