# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The momentum observer: external forces through loops, without accelerations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from uk_dynamics import Mechanism, simulate
from uk_dynamics.control.estimation import ExternalForces, WrenchObserver
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.resolution import State

PERIOD = 1e-3
FORCE = np.array([0.0, 0.0, -5.0])  # N, at the coupler's origin


def observed(
    observer: WrenchObserver, mechanism: Mechanism, duration: float
) -> list[ExternalForces]:
    """What an observer says of a five-bar that falls from rest under FORCE."""
    start = mechanism.start({"crank": 0.9})
    push = mechanism.wrench_forces({"coupler_link": FORCE}, start.q)
    run = simulate(
        mechanism, start, duration, tau=push, sample_period=PERIOD, backend="interpreted"
    )
    found = [
        observer.update(State(float(t), q, v)) for t, q, v in zip(run.t, run.q, run.v, strict=True)
    ]
    assert all(found)
    return [x for x in found if x is not None]


def test_the_residual_follows_a_constant_effort_with_the_time_constant_of_the_gain() -> None:
    mechanism = Mechanism.from_file("five_bar")
    gain = 25.0
    start = mechanism.start({"crank": 0.9})
    tau = mechanism.wrench_forces({"coupler_link": FORCE}, start.q)
    # of all joints only the crank is independent; every other moves with ±1 times its rate
    rates = mechanism.start({"crank": 0.9}, {"crank": 1.0}).v
    expected = float(rates @ tau)
    found = observed(WrenchObserver(mechanism, gain), mechanism, 0.2)
    told = np.array([x.efforts[0] for x in found])
    t = PERIOD * np.arange(len(told))
    # tau is constant in joints, and Zᵀτ too, since the rates of a parallelogram are constant;
    # the trapezoids of a period of 1 ms leave 1e-6 of 17 N m
    np.testing.assert_allclose(told, expected * -np.expm1(-gain * t), atol=1e-4, rtol=0)


def test_a_wrench_is_told_where_the_motion_tells_it_and_nowhere_else() -> None:
    mechanism = Mechanism.from_file("five_bar")
    along_z = observed(
        WrenchObserver(mechanism, 200.0, frame="coupler_link", axes=["z"]), mechanism, 0.05
    )[-1]
    assert along_z.wrench is not None
    # 1 − exp(−10) of the force; it is constant in joints, so it turns by some 1e-2 in 0.05 s
    assert along_z.wrench[2] == pytest.approx(FORCE[2], abs=0.1)
    assert not along_z.wrench[[0, 1, 3, 4, 5]].any()
    # one freedom cannot tell x from z, and no motion is along y
    both = observed(
        WrenchObserver(mechanism, frame="coupler_link", axes=["x", "z"]), mechanism, 0.01
    )
    assert both[-1].wrench is None
    assert both[-1].undetermined == ("x", "z")
    turning = WrenchObserver(mechanism, frame="coupler_link", axes=["ry"])
    assert observed(turning, mechanism, 0.01)[-1].undetermined == ("ry",)  # it only translates


def test_nothing_acts_on_a_machine_that_its_model_explains() -> None:
    mechanism = Mechanism.from_file("five_bar").with_parameters({"joints.crank.friction": 0.5})
    run = simulate(
        mechanism, mechanism.start({"crank": 0.9}), 0.1, sample_period=PERIOD, backend="interpreted"
    )
    observer = WrenchObserver(mechanism, 50.0)
    for t, q, v in zip(run.t, run.q, run.v, strict=True):
        found = observer.update(State(float(t), q, v))
        assert found is not None
        # friction builds up within the first periods: trapezoids leave less than 2 % of 0.5 N m
        assert abs(found.efforts[0]) < 0.01


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"gain": 0.0}, "above 0"),
        ({"gain": math.inf}, "above 0"),
        ({"axes": ["w"]}, "x, y, z, rx, ry, rz"),
        ({"frame": "coupler_lonk"}, "coupler_link"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], problem: str) -> None:
    mechanism = Mechanism.from_file("five_bar")
    with pytest.raises((InputError, UnknownNameError), match=problem):
        WrenchObserver(mechanism, **arguments)  # type: ignore[arg-type]
