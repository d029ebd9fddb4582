# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines that rest on contacts, stops and ropes, against closed forms."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import yaml
from support.mechanism_builder import joint, link, mechanism
from support.repository import ROOT

from uk_dynamics import Mechanism
from uk_dynamics.cli.main import main
from uk_dynamics.core.contact import Mode
from uk_dynamics.exceptions import InputError

G, MASS, HALF = 9.81, 8.0, 1.0  # m/s², kg, and m of a ladder


def ladder(floor: float, wall: float) -> Mechanism:
    """A uniform rod with friction against a floor and a wall on its right."""
    data = {
        "model": {"root": "floating"},
        "contacts": {
            "floor": {
                "parent": {"link": "world"},
                "child": {"link": "ladder", "xyz": [-HALF, 0.0, 0.0]},
                "friction": floor,
            },
            "wall": {
                "parent": {"link": "world", "rpy": [0.0, -np.pi / 2, 0.0]},
                "child": {"link": "ladder", "xyz": [HALF, 0.0, 0.0]},
                "friction": wall,
            },
        },
    }
    return mechanism(link("ladder", MASS, MASS * HALF**2 / 3.0), yaml.safe_dump(data))


def leaning(angle: float) -> list[float]:
    """Its configuration at an angle above the floor."""
    turned = [0.0, -np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)]
    return [-HALF * np.cos(angle), 0.0, HALF * np.sin(angle), *turned]


def table(slope: float, friction: float, height: float = 0.3, more: str = "") -> Mechanism:
    """A body on four feet, on a slope that falls along x, with more links and joints on it."""
    data = {
        "model": {
            "root": "floating",
            "gravity": [float(G * np.sin(slope)), 0.0, float(-G * np.cos(slope))],
        },
        "contacts": {
            "foot": {
                "parent": {"link": "world"},
                "child": {"link": "body", "xyz": [0.0, 0.0, -height]},
                "points": {
                    f"{x_name}_{y_name}": [x, y, 0.0]
                    for x_name, x in (("upper", -0.2), ("lower", 0.2))
                    for y_name, y in (("left", 0.1), ("right", -0.1))
                },
                "friction": friction,
            }
        },
    }
    return mechanism(link("body", MASS, 0.3) + more, yaml.safe_dump(data))


def above(height: float) -> list[float]:
    return [0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("floor", "wall"), [(0.5, 0.0), (0.4, 0.3), (0.3, 0.6)])
def test_a_ladder_stands_from_the_angle_of_its_closed_form(floor: float, wall: float) -> None:
    """Tan θ = (1 − μ_f μ_w)/2μ_f; there both contacts have used all of their friction."""
    least = float(np.arctan((1.0 - floor * wall) / (2.0 * floor)))
    machine = ladder(floor, wall)
    with pytest.raises(InputError, match=r"floor.* would slide"):
        machine.equilibrium(leaning(least - 1e-5))
    stands = machine.equilibrium(leaning(least + 1e-5)).contacts
    assert 0.0 < stands["floor"].slip_margin < 1e-4  # 1e-5 rad off
    normal = MASS * G / (1.0 + floor * wall)
    assert stands["floor"].force[0] == pytest.approx(normal, abs=1e-2)  # N, for the same reason


def test_a_smooth_wall_leaves_the_floor_its_margin() -> None:
    """The floor alone holds: T = mg/(2 tan θ), unique."""
    found = ladder(0.8, 0.0).equilibrium(leaning(1.0)).contacts
    held = MASS * G / (2.0 * np.tan(1.0))
    # N: rounding of forces of 80 N
    np.testing.assert_allclose(found["floor"].force, [MASS * G, held, 0.0], rtol=0, atol=1e-9)
    assert found["wall"].force[0] == pytest.approx(held, abs=1e-9)
    margin = 1.0 - 1.0 / (2.0 * np.tan(1.0) * 0.8)
    assert found["floor"].slip_margin == pytest.approx(margin, abs=1e-10)
    assert found["floor"].unique


def test_a_block_on_a_slope_stands_up_to_its_friction() -> None:
    slope = float(np.arctan(0.5))
    machine = table(slope - 1e-6, 0.5)
    found = machine.equilibrium(above(0.3)).contacts.values()
    total = sum(one.force for one in found)
    expected = [MASS * G * np.cos(slope - 1e-6), -MASS * G * np.sin(slope - 1e-6), 0.0]
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)  # N, rounding
    assert max(one.slip_margin for one in found) < 1e-4
    with pytest.raises(InputError, match="would slide"):
        table(slope + 1e-6, 0.5).equilibrium(above(0.3))


def test_a_table_falls_onto_its_feet() -> None:
    """Which foot has how much of its weight nobody knows, but what two of them have together."""
    found = table(0.1, 0.6).equilibrium(above(0.5), stable=True)
    assert found.state.q[2] == pytest.approx(0.3, abs=1e-9)
    assert all(one.mode is Mode.STICK and not one.unique for one in found.contacts.values())
    weight, push = MASS * G * np.cos(0.1), MASS * G * np.sin(0.1)
    lower = sum(
        one.force[0] for name, one in found.contacts.items() if name.startswith("foot.lower")
    )
    # moments about the upper edge
    assert lower == pytest.approx(0.5 * weight + push * 0.3 / 0.4, abs=1e-8)  # N, rounding


@pytest.mark.slow
def test_what_tips_over_would_have_to_pull() -> None:
    """Beyond tan α = 0.2/0.6 the upper feet would."""
    assert table(np.arctan(1.0 / 3.0) - 1e-4, 1.0, 0.6).equilibrium(above(0.6)).contacts
    with pytest.raises(InputError, match=r"foot\.upper_left, foot\.upper_right would have to pull"):
        table(np.arctan(1.0 / 3.0) + 1e-4, 1.0, 0.6).equilibrium(above(0.6))


def test_modes_tell_what_carries_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(ROOT / "examples" / "rope_crane" / "rope_crane.yaml")
    assert main(["modes", file]) == 0
    assert re.search(r"rope +981 N", capsys.readouterr().out)
    assert main(["modes", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["contacts"]
    assert told["rope"]["force"][0] == pytest.approx(100.0 * G, abs=1e-6)  # N, of a load of 100 kg
    assert told["ground"]["mode"] == "open"


SIDE = [f"foot.lower_{side}" for side in ("left", "right")]


@pytest.mark.parametrize("slope", [0.0, 0.2, 0.5, float(np.arctan(0.2 / 0.3)) - 1e-6])
def test_a_box_on_a_slope_tips_at_width_over_height(slope: float) -> None:
    """Gravity through the centre, h above the ground, meets it h tan α down the slope."""
    found = table(slope, 2.0).equilibrium(above(0.3)).patches["foot"]
    down = 0.3 * np.tan(slope)
    np.testing.assert_allclose(found.center, [down, 0.0, 0.0], rtol=0, atol=1e-9)  # m, rounding
    assert found.force == pytest.approx(MASS * G * np.cos(slope), abs=1e-9)
    assert found.tipping_margin == pytest.approx(min(0.1, 0.2 - down), abs=1e-9)
    if 0.2 - down < 0.1:
        assert sorted(found.tips_over) == SIDE


@pytest.mark.slow
def test_a_load_that_is_moved_outward_tips_a_table() -> None:
    """The centre of pressure is below the centre of mass; beyond the feet they would pull."""
    slide = joint("slide", "body", "load", kind="prismatic", axis="1 0 0", xyz="0 0 0.2")
    machine = table(0.0, 0.5, more=link("load", MASS / 4.0, 0.01) + slide)
    for x in (0.0, -0.6, 0.9, 1.0 - 1e-6):
        found = machine.equilibrium([*above(0.3), x], hold=["slide"]).patches["foot"]
        np.testing.assert_allclose(found.center, [x / 5.0, 0.0, 0.0], rtol=0, atol=1e-9)
        assert found.tipping_margin == pytest.approx(min(0.1, 0.2 - abs(x) / 5.0), abs=1e-9)
    assert sorted(found.tips_over) == SIDE
    with pytest.raises(InputError, match="would have to pull"):
        machine.equilibrium([*above(0.3), 1.0 + 1e-6], hold=["slide"])


@pytest.mark.parametrize(("up", "aside"), [(0.3, 0.0), (1.2, 0.0), (1.7, 0.1), (1.7, -0.2)])
def test_a_person_on_a_ladder(up: float, aside: float) -> None:
    """A smooth wall pushes with (m L/2 + P s) g/(L tan θ); the two feet have all of the weight."""
    person, angle, wide = 80.0, 1.2, 0.2
    data = {
        "model": {"root": "floating"},
        "contacts": {
            name: {
                "parent": {"link": "world", "rpy": [0.0, turned, 0.0]},
                "child": {"link": "ladder", "xyz": [end, 0.0, 0.0]},
                "points": {"left": [0.0, wide, 0.0], "right": [0.0, -wide, 0.0]},
                "friction": friction,
            }
            for name, turned, end, friction in (
                ("floor", 0.0, -HALF, 0.6),
                ("wall", -np.pi / 2, HALF, 0.0),
            )
        },
    }
    robot = link("ladder", MASS, MASS * HALF**2 / 3.0) + link("person", person, 0.1)
    robot += joint("climb", "ladder", "person", kind="prismatic", axis="1 0 0", xyz=f"0 {aside} 0")
    place = [*leaning(angle), up - HALF]
    found = mechanism(robot, yaml.safe_dump(data)).equilibrium(place, hold=["climb"])
    weight = (MASS + person) * G
    push = (MASS * HALF + person * up) * G / (2.0 * HALF * np.tan(angle))
    floor = found.patches["floor"]
    assert floor.force == pytest.approx(weight, abs=1e-8)  # N: rounding of 860 N
    assert found.patches["wall"].force == pytest.approx(push, abs=1e-8)
    shift = person * aside / (MASS + person)
    np.testing.assert_allclose(
        floor.center, [-2.0 * HALF * np.cos(angle), shift, 0.0], rtol=0, atol=1e-9
    )
    assert floor.tipping_margin == pytest.approx(wide - abs(shift), abs=1e-9)
    if aside == 0.0:  # otherwise nobody knows how the feet share friction
        margin = 1.0 - push / (0.6 * weight)
        assert found.contacts["floor.left"].slip_margin == pytest.approx(margin, abs=1e-9)
    else:
        assert floor.tips_over == ("floor.left" if aside > 0.0 else "floor.right",)


def test_a_wheel_touches_at_a_point() -> None:
    """Below its centre; it rolls and does not tip."""
    contact = {"parent": {"link": "world"}, "child": {"link": "wheel"}, "radius": 0.1}
    data = {"model": {"root": "floating"}, "contacts": {"tread": contact}}
    found = mechanism(link("wheel"), yaml.safe_dump(data)).equilibrium([1.0, 2.0, *above(0.1)[2:]])
    np.testing.assert_allclose(found.patches["tread"].center, [1.0, 2.0, 0.0], rtol=0, atol=1e-12)
    assert found.patches["tread"].tipping_margin is None
