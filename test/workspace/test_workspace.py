# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reachable sets with closed forms, and the files that the command writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import link, shipped

from uk_dynamics import Mechanism
from uk_dynamics.cli.main import main
from uk_dynamics.workspace import explore


def two_link_arm() -> Mechanism:
    joints = "".join(
        f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>'
        for parent, child, x in (("base", "upper", 0.0), ("upper", "lower", 1.0))
    )
    urdf = f'<robot name="arm">{link("base")}{link("upper")}{link("lower")}{joints}</robot>'
    motors = {name: {"joint": f"{name}_joint", "effort_limit": 9.0} for name in ("upper", "lower")}
    return Mechanism.from_data(
        {"actuators": motors, "initial_guess": {"lower_joint": 1.0}}, robot_description=urdf
    )


def test_an_arm_reaches_a_ring() -> None:
    """Between |l₁ − l₂| and l₁ + l₂, all round; the task is singular on both circles alone."""
    tip = ("lower", (0.5, 0.0, 0.0))
    found = explore(two_link_arm(), tip, samples=600, rows=["vx", "vz"], forces=False)
    radius = np.linalg.norm(found.places, axis=1)
    assert radius.min() > 0.5 - 1e-9
    assert radius.max() < 1.5 + 1e-9
    # it is climbed to within 1e-7 rad of the circle, and at random comes near the inner one
    assert np.abs(found.extent[:, [0, 2]]) == pytest.approx(1.5, abs=1e-9)
    assert radius.min() < 0.6
    angle = np.arctan2(found.places[:, 2], found.places[:, 0])
    counts, *_ = np.histogram2d(angle, radius, bins=(4, 2), range=((-np.pi, np.pi), (0.5, 1.5)))
    assert counts.min() > 5
    loci = {locus.kind: np.linalg.norm(locus.places, axis=1) for locus in found.loci}
    assert set(loci) == {"motors", "task"}  # no loops
    assert not len(loci["motors"])
    circles = np.where(loci["task"] > 1.0, 1.5, 0.5)
    assert loci["task"] == pytest.approx(circles, abs=1e-9)
    assert {0.5, 1.5} == set(circles)


def test_a_piston_moves_by_two_cranks() -> None:
    mechanism = shipped("slider_crank")
    rod, _ = mechanism.pose("rod_link")
    r = float(np.linalg.norm(rod))
    found = explore(mechanism, "piston", samples=40)
    assert found.extent[:, 0] == pytest.approx([0.18 - r, 0.18 + r], abs=1e-9)
    assert np.ptp(found.extent[:, 1:], axis=0) == pytest.approx(0.0, abs=1e-9)
    (task,) = [locus for locus in found.loci if locus.kind == "task"]
    dead_centres = np.unique(np.round(task.places[:, 0], 6))
    assert dead_centres == pytest.approx([0.18 - r, 0.18 + r], abs=1e-6)
    assert found.forces is not None
    assert all(envelope.rows == ("fx",) for envelope in found.forces)
    assert found.torques is None
    dynamics = mechanism.dynamics("interpreted")
    for q in found.q:
        residual = dynamics.residual(mechanism.state(q)).position
        assert np.abs(residual).max() < 1.1 * mechanism.closure_tolerance
        assert not mechanism.model.limit_violations(q)


@pytest.mark.slow
def test_the_command_writes_a_picture_and_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("matplotlib")
    out, picture = tmp_path / "reach.parquet", tmp_path / "reach.png"
    given = ["workspace", "rrr3", "--frame", "platform", "--samples", "15", "--json"]
    assert main([*given, "--out", str(out), "--plot", str(picture)]) == 0
    facts = json.loads(capsys.readouterr().out)
    table = parquet.read_table(out)
    rows = table.to_pydict()
    reached = [k for k, kind in enumerate(rows["singular"]) if not kind]
    assert len(reached) == facts["configurations"]
    assert max(rows["x"][k] for k in reached) == pytest.approx(facts["extent"]["x"][1], abs=1e-12)
    assert rows["q.platform_x"] == pytest.approx(rows["x"], abs=1e-9)
    assert table.schema.metadata[b"frame"] == b"platform"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--frame", "platfrom"], 'no link "platfrom"; did you mean "platform"?'),
        (["--frame", "platform", "--samples", "0"], "--samples: expected at least 1"),
        (["--frame", "platform", "--out", "reach.csv"], "must end with .parquet"),
    ],
)
def test_mistakes_are_told_in_one_line(
    given: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["workspace", "rrr3", *given]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
