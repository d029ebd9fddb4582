# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Calibration: pins that are not where the drawing has them, from an encoder too many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.recorded import recording

from uk_dynamics import Mechanism, StateCompletion, Trajectory
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification import calibrate
from uk_dynamics.identification.calibration import Tracked

TRUE = {"constraints.rocker_pin.parent.x": 0.253, "constraints.rocker_pin.parent.z": 0.002}
OFFSET = 0.004  # rad, of the crank's encoder
NOISE = 1e-5  # rad
ENCODERS = ("crank", "rocker")


@pytest.fixture(scope="module")
def four_bar() -> Mechanism:
    return Mechanism.from_file("four_bar")


@pytest.fixture(scope="module")
def measured(four_bar: Mechanism) -> Trajectory:
    """The crank goes round once on a machine whose pin and encoder are off."""
    machine = four_bar.with_parameters(TRUE)
    completion = StateCompletion(machine, ["crank"])
    cranks = 1.2 + np.linspace(0.0, 2.0 * np.pi, 30)
    q = np.array([completion.complete([crank]).q for crank in cranks])
    q[:, four_bar.model.position_index("crank")] += OFFSET
    q += NOISE * np.random.default_rng(2).standard_normal(q.shape)
    rest = np.zeros_like(q)
    return recording(machine, np.linspace(0.0, 6.0, 30), q, rest, rest, rest[:, :1])


def test_a_pin_and_an_encoder_offset_come_back(four_bar: Mechanism, measured: Trajectory) -> None:
    names = [*TRUE, "encoders.crank"]
    parts: list[float] = []
    found = calibrate(
        four_bar, [measured], estimate=names, measured=ENCODERS, progress=parts.append
    )
    assert 0.0 < sum(parts) <= 1.0 + 1e-9
    assert len(parts) > 100  # each sample of each trial
    for name, true in {**TRUE, "encoders.crank": OFFSET}.items():
        assert found[name].determined
        # noise of 1e-5 rad on 20 samples, links of a third of a metre
        assert found[name].value == pytest.approx(true, abs=2e-5)
        assert abs(found[name].value - true) < 6.0 * found[name].deviation
    assert found.held_out < 2.0 * NOISE < 1e-3 < found.held_out_before


def test_a_turned_pin_and_an_encoder_offset_of_its_link_are_the_same(
    four_bar: Mechanism, measured: Trajectory
) -> None:
    names = [*TRUE, "encoders.crank", "encoders.rocker"]
    found = calibrate(four_bar, [measured], estimate=names, measured=ENCODERS)
    assert found.limits.rank == 3
    across, offset = "constraints.rocker_pin.parent.z", "encoders.rocker"
    assert [x.name for x in found.placements if not x.determined] == [across, offset]
    (together,) = (x for x in found.limits.base if {across, offset} <= set(x.terms))
    # an angle moves a pin at 0.253 m by as much
    ratio = together.terms[offset] / together.terms[across]
    assert min(abs(ratio), 1.0 / abs(ratio)) == pytest.approx(0.253, abs=1e-3)


def test_angles_alone_do_not_tell_the_scale_of_a_four_bar(
    four_bar: Mechanism, measured: Trajectory
) -> None:
    # Four lengths of which angles tell the three ratios.
    lengths = ("constraints.rocker_pin.parent.x", "constraints.rocker_pin.child.x")
    origins = [f"joints.{joint}.origin.x" for joint in ("coupler", "rocker")]
    found = calibrate(four_bar, [measured], estimate=[*lengths, *origins], measured=ENCODERS)
    assert found.limits.rank == 3
    assert not any(found[name].determined for name in (*lengths, *origins))


def test_a_tracker_stands_in_for_an_encoder(four_bar: Mechanism, measured: Trajectory) -> None:
    machine = four_bar.with_parameters(TRUE)
    completion = StateCompletion(machine, ["crank"])
    crank = four_bar.model.position_index("crank")
    states = [completion.complete([q]).q for q in measured.q[:, crank]]
    points = np.array([machine.pose("rocker_link", q)[0] for q in states])
    tip = np.array([machine.pose("coupler_link", q)[1] @ [0.35, 0.0, 0.0] for q in states])
    assert np.ptp(tip, axis=0).max() > 0.1
    assert np.ptp(points, axis=0).max() == pytest.approx(0.0, abs=1e-12)  # it turns in the ground
    with pytest.raises(InputError, match="or a tracker"):
        calibrate(four_bar, [measured], measured=["crank"])
    still = Tracked("rocker_link", measured.t, points)
    found = calibrate(four_bar, [measured], estimate=list(TRUE), measured=["crank"], tracked=still)
    assert set(found.limits.without_effect) == set(TRUE)  # a point that stands still tells nothing


def test_the_command_writes_a_machine_that_reads_back(
    measured: Trajectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured.save(tmp_path / "slow.npz")
    options = [f"--measured={x}" for x in ENCODERS] + [f"--estimate={x}" for x in TRUE]
    out = tmp_path / "out"
    assert (
        main(["calibrate", "four_bar", str(tmp_path / "slow.npz"), *options, f"--out={out}"]) == 0
    )
    assert "rocker_pin.parent.x" in capsys.readouterr().out
    written = Mechanism.from_file(out / "four_bar.yaml").parameters
    assert written["constraints.rocker_pin.parent.x"].value != 0.25
