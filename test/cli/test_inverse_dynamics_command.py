# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics inverse-dynamics``: efforts that mechanics knows, and what is refused."""

import json

import pytest

from uk_dynamics.cli.main import main


def facts(capsys, *arguments):
    assert main(["inverse-dynamics", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_standing_still_carries_the_weight(capsys):
    found = facts(capsys, "five_bar", "--set", "crank=0.6")
    # three legs of 1 kg at their middles and a coupler of 2 kg, all on cranks of 1 m
    weight = 9.81 * 0.8253356149096783 * (3 * 0.5 + 2.0)
    assert found["efforts"]["crank_motor"] == pytest.approx(weight, abs=1e-6)
    assert found["actuation"] == "fully actuated"
    assert found["missing"] == {}
    assert set(found["loop_forces"]) == {f"{p}_pin.{a}" for p in ("middle", "right") for a in "xz"}


def test_acceleration_takes_inertia(capsys):
    rest = facts(capsys, "five_bar", "--set", "crank=0.6")["efforts"]["crank_motor"]
    moved = facts(capsys, "five_bar", "--set", "crank=0.6", "--acceleration", "crank=2")
    inertia = 3 * (0.1 + 0.25) + 2.0
    assert moved["efforts"]["crank_motor"] - rest == pytest.approx(2.0 * inertia, abs=1e-6)


def test_the_text_says_what_the_json_says(capsys):
    arguments = ["inverse-dynamics", "coordinated_robots", "--preload", "u1=100"]
    found = facts(capsys, *arguments[1:])
    assert found["beyond_limits"] == ["u1"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "redundantly actuated" in text
    assert "beyond its limit" in text
    for name, effort in found["efforts"].items():
        assert f"{effort:.6g}" in text, name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["five_bar", "--velocity", "crank=1"], "--acceleration"),
        (["coordinated_robots", "--acceleration", "left_elbow=1"], "give 2 more"),
        (["five_bar", "--acceleration", "crnk=1"], 'did you mean "crank"'),
        (["five_bar", "--preload", "motor=1"], "actuator"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, said, capsys):
    assert main(["inverse-dynamics", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert said in captured.err
