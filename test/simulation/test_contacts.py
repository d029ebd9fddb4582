# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What contacts do: their forces at a state, over time, in files and in pictures."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Trajectory, forward_dynamics
from uk_dynamics.cli.output.simulation_summary import summarize, summary_table
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.core.contact import ConeSolution, Mode, cone_problem
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics.simulation.plots.plot_contents import contents

G = 9.81
PLANK = """
model: {root: floating}
contacts:
  foot:
    parent: {link: world}
    child: {link: plank, xyz: [%r, 0, 0]}
    points: {left: [-0.1, 0.05, 0], middle: [0, 0.05, 0], right: [0.1, 0.05, 0],
             rear_left: [-0.1, -0.05, 0], rear_right: [0.1, -0.05, 0]}
    friction: 0.5
"""


def plank(offset: float) -> tuple[Mechanism, State]:
    """A plank on five feet, whose centre of mass is left of the middle one by an offset."""
    found = mechanism(link("plank", 2.0, 0.02), PLANK % offset)
    return found, found.start()


def test_redundant_contacts_share_what_the_motion_asks_for() -> None:
    block, start = plank(0.02)
    found = block.contacts(start)
    forces = np.array([one.force for one in found.values()])
    # of 20 N; solved to 1e-12
    np.testing.assert_allclose(forces.sum(axis=0), [2.0 * G, 0.0, 0.0], rtol=0, atol=1e-9)
    assert {one.mode for one in found.values()} == {Mode.STICK}
    assert not any(one.unique for one in found.values())
    assert all(one.slip_margin == pytest.approx(1.0, abs=1e-9) for one in found.values())
    np.testing.assert_allclose(forward_dynamics(block, start).qdd, 0.0, rtol=0, atol=1e-9)


def test_no_contact_pulls_where_forces_of_least_norm_would() -> None:
    block, start = plank(-0.09)
    forces = {name: one.force[0] for name, one in block.contacts(start).items()}
    x = {"left": -0.1, "middle": 0.0, "right": 0.1, "rear_left": -0.1, "rear_right": 0.1}
    places = np.array([x[name.removeprefix("foot.")] for name in forces]) - 0.09
    loads = np.array(list(forces.values()))
    least = np.linalg.pinv(np.array([np.ones(5), places])) @ [2.0 * G, 0.0]
    assert least.min() < -0.4  # N
    assert loads.min() >= 0.0
    np.testing.assert_allclose([loads.sum(), loads @ places], [2.0 * G, 0.0], rtol=0, atol=1e-9)


def test_what_slides_has_friction_against_it() -> None:
    block, start = plank(0.0)
    start.v[:2] = 0.3, 0.4
    found = block.contacts(start)
    for one in found.values():
        assert one.mode is Mode.SLIP
        assert one.slip_margin == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(one.force[1:], -0.5 * one.force[0] * np.array([0.6, 0.8]))
    qdd = forward_dynamics(block, start).qdd
    np.testing.assert_allclose(qdd[:3], [-0.3 * G, -0.4 * G, 0.0], rtol=0, atol=1e-9)


def test_what_begins_to_slide_slips_before_it_has_a_velocity() -> None:
    block, start = plank(0.0)
    for part, mode in ((0.999, Mode.STICK), (1.001, Mode.SLIP)):
        pushed = block.inputs({"root.vx": part * 0.5 * 2.0 * G})
        assert {one.mode for one in block.contacts(start, pushed).values()} == {mode}


def test_a_contact_that_strikes_or_is_inside_has_no_acceleration() -> None:
    block, start = plank(0.0)
    start.v[2] = -0.25
    with pytest.raises(InputError, match=r"foot\.left: strikes its surface at 0\.25 m/s"):
        forward_dynamics(block, start)
    start.v[2], start.q[2] = 0.0, -0.01
    with pytest.raises(InputError, match=r"foot\.left: is 0\.01 m or rad inside"):
        block.contacts(start)


def test_evaluators_take_contacts_that_inputs_name() -> None:
    block, start = plank(0.02)
    for backend in ("interpreted", "auto"):
        dynamics = block.dynamics(backend)
        assert dynamics.evaluate(start).qdd[2] == pytest.approx(-G)
        inputs = block.beginning(start, block.inputs({"root.vx": 0.6 * 2.0 * G}))
        qdd = dynamics.evaluate(start, inputs).qdd
        np.testing.assert_allclose(qdd[:3], [0.1 * G, 0.0, 0.0], rtol=0, atol=1e-9)


def test_what_is_above_falls() -> None:
    block, start = plank(0.0)
    start.q[2] = 0.5
    one = block.contacts(start)["foot.middle"]
    assert (one.mode, one.gap, one.slip_margin) == (Mode.OPEN, 0.5, np.inf)
    np.testing.assert_allclose(forward_dynamics(block, start).qdd[2], -G, rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_samples_of_steps_know_what_contacts_do_then(backend: Backend) -> None:
    """A plank that falls 5 mm, slides and stops; forces follow when they are read."""
    if backend == "compiled" and find_compiler() is None:
        pytest.skip("no C compiler")
    block, start = plank(0.0)
    start.q[2], start.v[:2] = 0.005, (0.3, 0.4)
    motion = simulate(block, start, 0.2, method="moreau", backend=backend, sample_period=0.005)
    assert callable(vars(motion)["contact_forces"])
    feet = [motion.contact(name) for name in motion.contacts]
    load = np.sum([foot.normal for foot in feet], axis=0)
    friction = np.sum([foot.friction for foot in feet], axis=0)
    lands, speed = np.sqrt(2.0 * 0.005 / G), np.linalg.norm(motion.v[:, :2], axis=1)
    flies, slides = motion.t < lands - 1e-3, (motion.t > lands + 1e-3) & (speed > 1e-6)
    rests = (motion.t > lands + 1e-3) & ~slides
    assert min(flies.sum(), slides.sum(), rests.sum()) >= 5
    assert not load[flies].any()
    np.testing.assert_allclose(load[slides | rests], 2.0 * G, rtol=1e-9)
    way = -0.5 * 2.0 * G * np.array([[0.6, 0.8]])
    np.testing.assert_allclose(friction[slides], np.repeat(way, slides.sum(), 0), rtol=1e-9)
    np.testing.assert_allclose(friction[rests], 0.0, rtol=0, atol=1e-9)
    assert all(foot.sticks[rests].all() for foot in feet)
    for foot in feet:  # the plank does not turn
        np.testing.assert_allclose(foot.gap, motion.q[:, 2], rtol=0, atol=1e-12)
        np.testing.assert_allclose(foot.rate, motion.v[:, 2], rtol=0, atol=1e-12)
        np.testing.assert_allclose(foot.slip, motion.v[:, :2], rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def landing() -> Trajectory:
    return simulate(leg(), leg().start(), 1.0)


def leg() -> Mechanism:
    """A leg with springs that falls on a rough floor."""
    spring = {"stiffness": 60.0, "rest": -0.785}
    knee = {"stiffness": 60.0, "rest": -1.571}
    shank = {"link": "shank", "xyz": [0.3, 0.0, 0.0]}
    ground = {"parent": {"link": "ground"}}
    return Mechanism.from_data(
        {
            "model": {"urdf": "package://uk_dynamics/urdf/landing_leg.urdf.xacro"},
            "joints": {
                "hip": {"spring": spring, "damping": 0.5},
                "knee": {"spring": knee, "damping": 0.5},
            },
            "initial_guess": {"height": 0.866, "hip": -0.785, "knee": -1.571},
            "contacts": {
                "foot": {**ground, "child": shank, "friction": 0.3},
                "body": {**ground, "child": {"link": "thigh"}, "radius": 0.05},
            },
        }
    )


@pytest.mark.slow
def test_a_motion_has_gaps_and_forces_of_its_contacts(landing: Trajectory) -> None:
    foot = landing.contact("foot")
    assert landing.contacts == ("foot", "body")
    # The gap is the height of the foot, by the geometry of the leg.
    height, hip, knee = landing.q.T
    gap = height + 0.3 * np.sin(hip) + 0.3 * np.sin(hip + knee)
    np.testing.assert_allclose(foot.gap, gap, rtol=0, atol=1e-12)
    assert (foot.normal[~foot.closed] == 0.0).all()
    assert foot.normal.min() >= 0.0
    strength = np.linalg.norm(foot.friction, axis=1)
    assert (strength <= 0.3 * foot.normal + 1e-9).all()
    slides = foot.closed & ~foot.sticks
    assert slides.any()
    assert foot.sticks.any()
    np.testing.assert_allclose(strength[slides], 0.3 * foot.normal[slides], rtol=0, atol=1e-9)
    power = (foot.friction * foot.slip).sum(axis=1)
    assert power.max() <= 1e-9  # W: friction takes energy
    with pytest.raises(UnknownNameError, match="foot, body"):
        landing.contact("hand")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["npz", "csv", "mcap"])
def test_files_keep_contacts(landing: Trajectory, suffix: str, tmp_path) -> None:
    file = tmp_path / f"leg.{suffix}"
    landing.save(file)
    again = Trajectory.load(file)
    assert again.contacts == landing.contacts
    for name in ("contact_gaps", "contact_rates", "contact_forces"):
        np.testing.assert_array_equal(getattr(again, name), getattr(landing, name))


@pytest.mark.slow
def test_pictures_show_when_a_contact_touches_and_sticks(landing: Trajectory, tmp_path) -> None:
    shown = contents(landing)
    panels = {panel.title: panel for panel in shown.panels}
    foot = landing.contact("foot")
    (bar,) = panels["contacts"].curves
    np.testing.assert_array_equal(bar.values, 1 * foot.closed + foot.sticks)
    assert {"contact gaps", "normal forces", "friction of contacts"} <= panels.keys()
    assert "never closed: body" in shown.notes
    landing.plot(tmp_path / "leg.png")
    words = [one.text(landing.contacts) for one in landing.switchings]
    assert words[0] == "foot closes"  # it slides first
    assert "foot sticks" in words
    assert "foot opens" in words


def test_friction_that_is_rounding_is_not_drawn(landing: Trajectory) -> None:
    forces = landing.contact_forces.copy()
    forces[..., 1:] *= 1e-12
    titles = {panel.title for panel in contents(replace(landing, contact_forces=forces)).panels}
    assert "normal forces" in titles
    assert "friction of contacts" not in titles


def test_gaps_that_are_rounding_are_a_note(landing: Trajectory) -> None:
    shown = contents(replace(landing, contact_gaps=1e-12 * landing.contact_gaps))
    assert "contact gaps" not in {panel.title for panel in shown.panels}
    assert "contact gaps: 0 throughout" in shown.notes


def boxed(shapes: str, contact: str) -> Mechanism:
    """A body whose URDF has collision shapes."""
    body = link("body", 2.0, 0.02).replace("</link>", f"{shapes}</link>")
    return mechanism(body, f"model: {{root: floating}}\ncontacts:\n  side: {contact}\n")


SHAPES = """
<collision><origin xyz="0.1 0 0.2"/><geometry><sphere radius="0.05"/></geometry></collision>
<collision><origin rpy="0 0 1.5707963267948966"/><geometry><box size="0.4 0.2 0.1"/></geometry>
</collision>
"""


def test_points_are_taken_from_the_shapes_of_the_description() -> None:
    ground = "parent: {link: world}, friction: 0.5"
    body = boxed(SHAPES, f"{{{ground}, child: {{link: body}}, from: collision}}")
    state = body.start()
    state.q[2] = 1.0
    gaps = sorted(one.gap for one in body.contacts(state).values())
    np.testing.assert_allclose(gaps, [0.95] * 4 + [1.05] * 4 + [1.15], rtol=0, atol=1e-12)
    state.q[2] = 0.05  # on its lower side
    fixed = simulate(body, state, 0.2)
    np.testing.assert_allclose(fixed.q, fixed.q[:1].repeat(len(fixed.q), 0), rtol=0, atol=1e-12)
    loads = [one.force[0] for one in body.contacts(state).values()]
    assert sum(loads) == pytest.approx(2.0 * G, abs=1e-9)
    # turned by a quarter, its long side is along y
    corners = {tuple(np.round(spec.child.xyz, 9)) for spec in body.spec.contacts}
    assert (0.1, 0.2, -0.05) in corners
    varied = body.with_parameters({"links.body.mass": 3.0})  # resolves the specification again
    assert sum(one.force[0] for one in varied.contacts(state).values()) == pytest.approx(3.0 * G)


def test_a_cylinder_stands_on_its_rim() -> None:
    shape = '<collision><geometry><cylinder radius="0.1" length="0.6"/></geometry></collision>'
    body = boxed(shape, "{parent: {link: world}, child: {link: body}, from: collision}")
    state = body.start()
    state.q[2] = 0.3
    closed = [one for one in body.contacts(state).values() if one.gap < 1e-9]
    assert len(closed) == 8
    assert sum(one.force[0] for one in closed) == pytest.approx(2.0 * G, abs=1e-9)


@pytest.mark.parametrize(
    ("shapes", "extra", "problem"),
    [
        ("", "", 'contacts.side.from: the link "body" has no collision shape'),
        (
            '<collision><geometry><mesh filename="foot.stl"/></geometry></collision>',
            "",
            "contacts.side.from: no file foot.stl",
        ),
        (SHAPES, "radius: 0.1, ", "contacts.side: from takes points and radii from the URDF"),
    ],
)
def test_shapes_that_give_no_points_are_refused(shapes: str, extra: str, problem: str) -> None:
    contact = f"{{{extra}parent: {{link: world}}, child: {{link: body}}, from: collision}}"
    with pytest.raises(InputError) as caught:
        boxed(shapes, contact)
    assert problem in str(caught.value)


def test_a_mesh_touches_with_the_corners_of_its_hull(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((200.0, 100.0, 80.0)).export(tmp_path / "box.stl")
    trimesh.creation.icosphere(3).export(tmp_path / "round.stl")
    (tmp_path / "text.stl").write_text("no mesh")
    shape = f'<collision><geometry><mesh filename="{tmp_path}/%s.stl" scale="%s"/></geometry>'
    contact = "{parent: {link: world}, child: {link: body}, from: collision}"
    body = boxed(shape % ("box", "0.001 0.001 0.001") + "</collision>", contact)
    corners = {tuple(np.round(spec.child.xyz, 9)) for spec in body.spec.contacts}
    assert corners == set(product((0.1, -0.1), (0.05, -0.05), (0.04, -0.04)))
    with pytest.raises(
        InputError, match=r"convex hull of round\.stl has \d+ corners, more than 64"
    ):
        boxed(shape % ("round", "1 1 1") + "</collision>", contact)
    with pytest.raises(InputError, match=r"text\.stl is no mesh"):
        boxed(shape % ("text", "1 1 1") + "</collision>", contact)


def test_one_entry_stands_for_the_same_contact_of_many_links() -> None:
    parts = link("foot_1", 1.0, 0.01) + link("foot_2", 1.0, 0.01)
    text = """
contacts:
  ground:
    indices: {feet: 2}
    for_each: {i: feet}
    parent: {link: world}
    child: {link: "foot[i]"}
"""
    tree = link("base") + parts
    for number in (1, 2):
        tree += joint(f"z_{number}", "base", f"foot_{number}", kind="prismatic", axis="0 0 1")
    assert list(mechanism(tree, text).contacts(mechanism(tree, text).start())) == [
        "ground_1",
        "ground_2",
    ]


def test_contacts_that_are_not_solved_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    leg = Mechanism.from_data(
        {
            "model": {"urdf": "package://uk_dynamics/urdf/landing_leg.urdf.xacro"},
            "initial_guess": {"height": 0.72, "hip": -0.785, "knee": -1.571},
            "contacts": {
                "foot": {
                    "parent": {"link": "ground"},
                    "child": {"link": "shank", "xyz": [0.3, 0.0, 0.0]},
                    "friction": 0.7,
                }
            },
        }
    )
    calm = simulate(leg, leg.start(), 0.3, method="moreau", backend="interpreted")
    assert not calm.warnings
    monkeypatch.setattr(ConeSolution, "solved", property(lambda found: found.error <= -1.0))
    named = simulate(leg, leg.start(), 0.3, method="moreau", backend="interpreted")
    assert any("do not fulfil their conditions" in warning for warning in named.warnings)


@pytest.mark.parametrize("suffix", [".npz", ".mcap"])
def test_steps_tell_how_well_their_impulses_are_solved(suffix: str, tmp_path: Path) -> None:
    """Interpreted and compiled alike, in files and in the summary of ``uk_dynamics simulate``."""
    block, start = plank(0.0)
    start.q[2] += 0.01
    told = {}
    for backend in ("interpreted", "compiled"):
        found = simulate(block, start, 0.2, method="moreau", step=2e-3, backend=backend)
        cost = told[backend] = found.statistics
        assert cost.contact_error <= cone_problem.REACHED
        assert cost.contact_iterations > 0  # where it lands: lying it needs none
        assert cost.contact_fallbacks == 0
    ways = told["interpreted"].contact_iterations, told["compiled"].contact_iterations
    assert abs(ways[0] - ways[1]) <= 2  # rounding may need one more at each of two impacts
    found.save(tmp_path / f"motion{suffix}")
    assert Trajectory.load(tmp_path / f"motion{suffix}").statistics == cost
    summary = summarize(found, conservative=False)
    assert summary["contact_iterations"] == cost.contact_iterations
    assert f"{cost.contact_iterations} iterations" in summary_table(summary)
    free = simulate(block, start, 0.01, method="moreau").statistics
    assert (free.contact_error, free.contact_iterations) == (0.0, 0)  # it falls


def test_steps_beyond_newtons_method_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    block, start = plank(0.0)
    monkeypatch.setattr(cone_problem, "NEWTON_STEPS", 0)
    monkeypatch.setattr(cone_problem, "FULL_STEPS", 0)
    found = simulate(block, start, 0.005, method="moreau", backend="interpreted")
    assert found.statistics.contact_fallbacks == 1  # from there on it lies
    assert found.statistics.contact_iterations == cone_problem.ITERATIONS[0]


@pytest.mark.slow
def test_friction_and_restitution_are_parameters_by_name():
    """Values by name move as those of a file do, for all points of an entry."""
    text = (PLANK % 0.0).replace("friction: 0.5", "friction: %r\n    restitution: %r")
    filed = mechanism(link("plank", 2.0, 0.02), text % (0.2, 0.5))
    given = {"contacts.foot.friction": 0.2, "contacts.foot.restitution": 0.5}
    varied = mechanism(link("plank", 2.0, 0.02), text % (0.7, 0.0)).with_parameters(given)
    state = filed.state([0, 0, 0.02, 0, 0, 0, 1], [0.5, 0, 0, 0, 0, 0])
    there, again = (simulate(x, state, 0.2, method="moreau").q[-1] for x in (filed, varied))
    np.testing.assert_allclose(again, there, rtol=0, atol=1e-12)  # two libraries
    assert varied.parameters["contacts.foot.friction"].value == 0.2
    for name, value in (("friction", 0.0), ("restitution", 1.5)):
        with pytest.raises(InputError, match=rf"contacts\.foot\.{name}: found {value}"):
            varied.with_parameters({f"contacts.foot.{name}": value})
