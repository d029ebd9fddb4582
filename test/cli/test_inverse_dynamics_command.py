# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics inverse-dynamics``: efforts that mechanics knows, and what is refused."""

import json

import pytest
from support.mechanism_builder import link

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


@pytest.fixture
def box(tmp_path):
    """A box of 2 kg on four points, on a slope of tan 0.3."""
    body = link("box", 2.0, 0.05)
    (tmp_path / "box.urdf").write_text(f'<robot name="box">{body}</robot>')
    file = tmp_path / "box.yaml"
    file.write_text(
        "schema: 1\n"
        "model: {urdf: box.urdf, root: floating, gravity: [3.0, 0.0, -10.0]}\n"
        "initial_guess: {root.z: 0.2}\n"
        "contacts:\n"
        "  foot:\n"
        "    parent: {link: world}\n"
        "    child: {link: box, xyz: [0, 0, -0.2]}\n"
        "    points: [[-0.3, -0.1, 0], [-0.3, 0.1, 0], [0.3, -0.1, 0], [0.3, 0.1, 0]]\n"
        "    friction: 0.4\n"
    )
    return file


def test_contacts_have_lines_and_facts(box, capsys):
    assert main(["inverse-dynamics", str(box), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    normal = [one["force"][0] for one in facts["contacts"].values()]
    assert sum(normal) == pytest.approx(20.0, abs=1e-6)  # N; solved to 1e-10
    assert {one["mode"] for one in facts["contacts"].values()} == {"stick"}
    assert main(["inverse-dynamics", str(box), "--friction-part", "0.5"]) == 0
    assert "would have to hold more than its friction" in capsys.readouterr().out


def test_describe_tells_whether_it_stands(box, capsys):
    assert main(["describe", str(box), "--json"]) == 0
    standing = json.loads(capsys.readouterr().out)["standing"]
    assert standing["stands"]
    assert standing["friction_needed"] == pytest.approx(0.75, abs=1e-5)
    assert main(["describe", str(box)]) == 0
    text = capsys.readouterr().out
    assert "with 0.75 of its friction" in text
    assert "joints locked, no slip" in text
    box.write_text(box.read_text().replace("friction: 0.4", "friction: 0.2"))
    assert main(["describe", str(box)]) == 0
    assert "does not stand" in capsys.readouterr().out
