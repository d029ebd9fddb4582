# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""SDF imported: poses and axes by its rules, every kind of joint, in the tree and in a loop."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import closed_states

from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.state import State

BODY = (
    "<inertial><mass>2</mass><inertia><ixx>.2</ixx><iyy>.2</iyy><izz>.2</izz></inertia></inertial>"
)


QUATERNION = 'rotation_format="quat_xyzw"'


def link(name, pose="0 0 0 0 0 0", body=BODY, attributes=""):
    return f'<link name="{name}"><pose {attributes}>{pose}</pose>{body}</link>'


def joint(name, kind, parent, child, *, axis="0 0 1", pose="", more="", in_axis=""):
    pose = f"<pose>{pose}</pose>" if pose else ""
    axis = f"<axis><xyz>{axis}</xyz>{in_axis}</axis>" if axis else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{pose}{axis}{more}</joint>"
    )


def read(tmp_path, parts, *, version="1.9", attributes="", around="{}"):
    path = tmp_path / "machine.sdf"
    model = f'<model name="machine" {attributes}>{parts}</model>'
    path.write_text(f'<?xml version="1.0"?><sdf version="{version}">{around.format(model)}</sdf>')
    return import_file(path)


def places(machine, q=None):
    workspace = machine.model.workspace()
    workspace.update_positions(machine.initial_guess if q is None else machine.configuration(q))
    return {
        name: (workspace.translation[i].copy(), workspace.rotation[i].copy())
        for i, name in enumerate(machine.model.link_names)
    }


def subjects(found, lost=True):
    return {remark.subject for remark in found.remarks if remark.lost == lost}


def test_poses_are_relative_to_what_they_say(tmp_path):
    parts = (
        "<pose degrees='true'>0 0 1 0 0 90</pose>"
        + link("a", "1 0 0 0 0 0")
        + link("b", "0.5 0 0 0 0 1.5707963267948966", attributes='relative_to="a"')
        + '<frame name="f" attached_to="b"><pose>0 0.5 0 0 0 0</pose></frame>'
        + link(
            "c",
            "0 0 0 0 0 0.5 0.8660254037844386",
            attributes="rotation_format='quat_xyzw' relative_to='f'",
        )
        + joint("base", "fixed", "world", "a", axis="")
        + joint("ab", "revolute", "a", "b")
        + joint("fc", "prismatic", "f", "c", axis="1 0 0")
    )
    found = read(tmp_path, parts)
    machine = found.load()
    at = places(machine)
    # the model is turned by 90° and lifted by 1 m: x of the model is y of the world
    np.testing.assert_allclose(at["a"][0], [0, 1, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(at["b"][0], [0, 1.5, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(at["c"][0], [0, 1.0, 1], rtol=0, atol=1e-12)
    # b is turned by another 90°: its y points to −y of the world; c by 60° more
    sixty = np.pi + np.pi / 3
    np.testing.assert_allclose(
        at["c"][1][:, 0], [np.cos(sixty), np.sin(sixty), 0], rtol=0, atol=1e-12
    )
    assert subjects(found) == set()


@pytest.mark.parametrize(
    ("version", "more", "expected"),
    [
        ("1.9", "", [0, 1, 0]),  # in the joint's frame, which is the child's: turned by 90°
        ("1.9", "<use_parent_model_frame>1</use_parent_model_frame>", [1, 0, 0]),
        ("1.4", "", [1, 0, 0]),
        ("1.9", "expressed", [1, 0, 0]),
    ],
)
def test_axes_are_given_in_the_frame_of_the_rules(tmp_path, version, more, expected):
    parts = link("a", "0 0 0 0 0 1.5707963267948966")
    slide = joint(
        "j", "prismatic", "world", "a", axis="1 0 0", in_axis=more.replace("expressed", "")
    )
    if more == "expressed":
        slide = slide.replace("<xyz>", '<xyz expressed_in="__model__">')
    machine = read(tmp_path, parts + slide, version=version).load()
    moved = places(machine, {"j": 1.0})["a"][0] - places(machine)["a"][0]
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-12)


def test_inertias_turn_with_their_frames(tmp_path):
    body = (
        "<inertial><pose>0.1 0 0 0 0 1.5707963267948966</pose><mass>2</mass><inertia>"
        "<ixx>0.1</ixx><iyy>0.2</iyy><izz>0.3</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz>"
        "</inertia></inertial>"
    )
    parts = link("a", "0 0 0 0 0 0", body) + joint(
        "j", "revolute", "world", "a", axis="1 0 0", pose="0 0.5 0 0 0 0"
    )
    machine = read(tmp_path, parts).load()
    workspace = machine.model.workspace()
    workspace.update_positions(machine.initial_guess)
    # about x through (0, 0.5, 0): the moment along the inertial frame's y, and 2 kg at 0.5 m
    assert float(workspace.mass[0, 0]) == pytest.approx(0.2 + 2 * 0.25, abs=1e-12)


def test_a_link_without_inertial_has_that_of_sdf_and_it_is_said(tmp_path):
    found = read(tmp_path, link("a", body="") + joint("j", "revolute", "world", "a"))
    assert found.load().model.total_mass == 1.0
    assert "link a" in subjects(found, lost=False)


def test_joints_in_the_tree(tmp_path):
    limit = (
        "<limit><lower>-1</lower><upper>2</upper><effort>7</effort><velocity>-1</velocity></limit>"
    )
    spring = (
        "<dynamics><damping>0.3</damping><spring_stiffness>5</spring_stiffness>"
        "<spring_reference>0.2</spring_reference></dynamics>"
    )
    second = "<axis2><xyz>1 0 0</xyz></axis2>"
    mimic = (
        '<mimic joint="turn"><multiplier>2</multiplier><offset>0.1</offset>'
        "<reference>0.3</reference></mimic>"
    )
    parts = "".join(link(name, f"{i} 0 0 0 0 0") for i, name in enumerate("abcdef", start=1))
    parts += joint("turn", "revolute", "world", "a", in_axis=limit + spring)
    parts += joint("cross", "universal", "a", "b", axis="0 1 0", more=second)
    parts += joint("ball", "ball", "b", "c", axis="")
    parts += joint("screw", "screw", "c", "d", more="<screw_thread_pitch>0.01</screw_thread_pitch>")
    parts += joint("follow", "revolute", "d", "e", in_axis=mimic)
    parts += joint("glue", "fixed", "e", "f", axis="")
    machine = read(tmp_path, parts).load()
    assert machine.joint_names == (
        *("turn", "cross_1", "cross_2", "ball_x", "ball_y", "ball_z"),
        *("screw_turn", "screw_slide", "follow"),
    )
    at = machine.model.velocity_index("turn")
    model = machine.model
    assert (model.lower[at], model.upper[at], model.effort_limit[at]) == (-1.0, 2.0, 7.0)
    assert np.isinf(model.velocity_limit[at])
    passive = machine.passive.force(
        machine.configuration({"turn": 1.2}), model.to_velocities({"turn": 2.0})
    )
    assert passive[at] == pytest.approx(-5.0 * 1.0 - 0.3 * 2.0, abs=1e-12)
    q = model.positions_by_name(machine.assemble(turn=0.5, screw_turn=2 * np.pi))
    assert q["follow"] == pytest.approx(2 * (0.5 - 0.3) + 0.1, abs=1e-9)
    assert q["screw_slide"] == pytest.approx(0.01, abs=1e-9)


# Every joint of SDF that a kind says it is; what has no second axis or pitch ignores it.
LOOPS = {
    word: kind
    for kind in kinds().values()
    if kind.frames == ("parent", "child")
    for word in kind.foreign_names.get("SDF", ())
}


def closing(word):
    more = "<axis2><xyz>1 0 0</xyz></axis2><screw_thread_pitch>0.01</screw_thread_pitch>"
    return joint("close", word, "b", "c", axis="0 1 0", pose="0.3 0 0.2 0.2 0.1 0.4", more=more)


@pytest.mark.parametrize("word", LOOPS)
def test_joints_that_close_a_loop(word, tmp_path):
    """Cut elsewhere the same machine has the same freedoms: rank + mobility is what is there."""
    parts = link("a", "0 0 1 0.3 0 0") + link("b", "1 0 1 0 0.2 0") + link("c", "1 1 0 0 0 0.4")
    tree = joint("one", "revolute", "world", "a", axis="0 1 0.1") + joint(
        "two", "revolute", "a", "b", axis="0 1 0"
    )
    tree += "".join(
        link(f"c{i}", "1 1 0 0 0 0.4")
        + joint(f"s{i}", "prismatic", f"c{i - 1}" if i else "world", f"c{i}", axis=axis)
        for i, axis in enumerate(("1 0 0", "0 1 0", "0 0 1"))
    )
    tree += "".join(
        link(f"t{i}", "1 1 0 0 0 0.4")
        + joint(f"r{i}", "revolute", f"t{i - 1}" if i else "c2", f"t{i}", axis=axis)
        for i, axis in enumerate(("1 0 0", "0 1 0"))
    )
    tree += joint("r2", "revolute", "t1", "c", axis="0 0 1")
    machine = read(tmp_path, parts + tree + closing(word)).load()
    (constraint,) = machine.constraints.constraints
    assert constraint.kind == LOOPS[word].name
    report = machine.report()
    freedoms = 6 - LOOPS[word].removes
    assert report.largest_residual < 1e-12  # drawn closed
    assert (report.velocities, report.mobility) == (8, 2 + freedoms)


def test_a_reversed_tree_moves_the_same(tmp_path):
    """Joints whose child is nearer to the ground are turned round; coordinates keep their sign."""
    parts = link("a", "0 0 1 0 0 0") + link("b", "1 0 1 0 0 0.3")
    way = joint("one", "revolute", "world", "a", axis="0 1 0")
    there = read(
        tmp_path,
        parts + way + joint("two", "revolute", "a", "b", axis="0.1 1 0", pose="0.1 0 0 0 0 -0.3"),
    ).load()
    # the same joint with parent and child exchanged, and with it the axis
    back = joint(
        "two",
        "revolute",
        "b",
        "a",
        axis="-0.1 -1 0",
        pose="1.0955336489125605 0.02955202066613396 0 0 0 0",
    )
    turned = read(tmp_path, parts + way + back)
    here = turned.load()
    assert "joint two" in subjects(turned, lost=False)
    for q in ({"one": 0.3, "two": 0.7}, {"one": -1.0, "two": 0.2}):
        found = []
        for machine in (there, here):
            solution = machine.dynamics().evaluate(machine.state(q, {"one": 0.5, "two": -0.4}))
            found.append(dict(zip(machine.joint_names, solution.qdd, strict=True)))
        assert found[0] == pytest.approx(found[1], abs=1e-10)


def test_energy_of_an_imported_loop_is_kept(tmp_path):
    """A square of four bars with its diagonal pins as hinges: the loop does no work."""
    parts = link("a", "0 0 0 0 0 0") + link("b", "1 0 0 0 0 0") + link("c", "0 0 1 0 0 0")
    parts += joint("one", "revolute", "world", "a", axis="0 1 0", in_axis="")
    parts += joint("two", "revolute", "a", "b", axis="0 1 0")
    parts += joint("three", "revolute", "world", "c", axis="0 1 0")
    parts += joint("pin", "revolute", "b", "c", axis="0 1 0", pose="1 0 0 0 0 0")
    machine = read(tmp_path, parts).load()
    for state in closed_states(machine, np.random.default_rng(0), 5):
        solution = machine.dynamics().evaluate(state)
        assert abs(solution.constraint_force @ state.v) < 1e-9  # W, of some ten N
    assert machine.report().mobility == 1


def test_a_model_that_nothing_holds_floats(tmp_path):
    machine = read(
        tmp_path,
        "<pose>0 0 2 0 0 1</pose>"
        + link("a", "1 0 0 0 0 0")
        + link("b")
        + joint("j", "revolute", "a", "b"),
    ).load()
    assert machine.model.nv == 7
    np.testing.assert_allclose(
        places(machine)["a"][0], [np.cos(1), np.sin(1), 2], rtol=0, atol=1e-12
    )
    fall = machine.dynamics().evaluate(State(0.0, machine.initial_guess, np.zeros(7))).qdd
    assert fall[2] == pytest.approx(-9.81, abs=1e-9)


def test_a_part_that_nothing_holds_floats_beside_the_rest(tmp_path):
    found = read(
        tmp_path, link("a") + link("b", "0 0 5 0 0 0") + joint("j", "revolute", "world", "a")
    )
    machine = found.load()
    assert machine.model.nv == 7
    np.testing.assert_allclose(places(machine)["b"][0], [0, 0, 5], rtol=0, atol=1e-12)
    assert "link b" in subjects(found, lost=False)


def test_what_cannot_be_carried_over_is_named(tmp_path):
    parts = (
        link(
            "a",
            body=BODY
            + '<sensor name="eye" type="camera"/><gravity>false</gravity><collision name="c"/>'
            '<visual name="v"><geometry><capsule/></geometry></visual>'
            '<visual name="m"><geometry><mesh><uri>model://x/y.stl</uri></mesh></geometry></visual>',
        )
        + link("b", "1 0 0 0 0 0")
        + joint("j", "revolute", "world", "a")
        + joint("k", "revolute", "a", "b", more='<sensor name="torque" type="force_torque"/>')
        + joint(
            "gears",
            "gearbox",
            "a",
            "b",
            more="<gearbox_reference_body>b</gearbox_reference_body>",
        )
        + '<plugin name="p" filename="gz-sim-joint-controller-system">'
        + "<joint_name>j</joint_name></plugin>"
        + '<include><uri>model://other</uri></include><model name="nested"/>'
    )
    ground = "<model name='ground'><static>true</static></model>"
    around = "<world name='w'><gravity>0 0 -1.6</gravity>{}" + ground + "</world>"
    found = read(tmp_path, parts, around=around)
    lost = subjects(found)
    expected = {
        "link a",
        "joint k",
        "joint gears",
        "collision shapes",
        "visual a/v",
        "mesh model://x/y.stl",
    }
    expected |= {"plugin gz-sim-joint-controller-system", "include model://other", "model nested"}
    assert expected | {"model ground"} == lost
    assert all(subject in found.mechanism for subject in lost)
    machine = found.load()
    assert machine.model.gravity[2] == -1.6
    assert machine.actuators.names == ("j",)
    assert "guess: the plugin" in found.mechanism


@pytest.mark.parametrize(
    ("parts", "place", "words"),
    [
        (
            link("a", "0 0 0") + joint("j", "revolute", "world", "a"),
            "",
            "expected 6 finite numbers",
        ),
        (link("a") + joint("j", "revolute", "world", "hand"), "", "hand"),
        (
            link("a", attributes='relative_to="b"') + link("b", attributes='relative_to="a"'),
            "",
            "circle",
        ),
        (link("a") + joint("j", "revolute", "world", "a", axis="0 0 0"), "joint j", "axis is zero"),
        (link("a") + joint("j", "revolute", "", "a"), "joint j", "<parent> is missing"),
        (
            link("a", body='<inertial auto="true"/>') + joint("j", "fixed", "world", "a"),
            "link a",
            "auto",
        ),
        ("", "model machine", "<link>"),
        (
            link("a") + joint("j", "screw", "world", "a", more="<thread_pitch>0</thread_pitch>"),
            "joint j",
            "thread_pitch",
        ),
        # numbers whose squares or products are none
        (link("a", "0 0 0 0 0 0 1e308", attributes=QUATERNION), "", "at most 1e+12"),
        (link("a", "0 0 0 0 0 0 1e-320", attributes=QUATERNION), "", "no rotation"),
        (joint("j", "revolute", "world", "a", axis="1e308 0 0") + link("a"), "joint j", "1e+308"),
        (
            link("a", body=BODY.replace(".2<", "inf<")) + joint("j", "fixed", "world", "a"),
            "link a",
            "inertia/ixx: expected at most 1e+12, found inf",
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_mistakes_are_one_line_with_their_place(tmp_path, parts, place, words):
    with pytest.raises(InputError) as error:
        read(tmp_path, parts)
    assert str(error.value).startswith("machine.sdf")
    assert place in str(error.value)
    assert words in str(error.value)


def test_one_of_several_models(tmp_path):
    around = "<world name='w'>{}<model name='other'>" + link("x") + "</model></world>"
    parts = link("a") + joint("j", "revolute", "world", "a")
    with pytest.raises(InputError, match="--model"):
        read(tmp_path, parts, around=around)
    found = import_file(tmp_path / "machine.sdf", model="machine")
    assert found.load().joint_names == ("j",)
    with pytest.raises(InputError, match="did you mean"):
        import_file(tmp_path / "machine.sdf", model="machin")


def test_a_driven_joint_stays_a_coordinate(tmp_path):
    """The last joint of a loop is cut, but not one that a plugin drives."""
    bars = link("a", "0 0 0 0 0 0") + link("b", "1 0 0 0 0 0") + link("c", "0 0 1 0 0 0")
    joints = joint("one", "revolute", "world", "a", axis="0 1 0")
    joints += joint("two", "revolute", "a", "b", axis="0 1 0")
    joints += joint("pin", "revolute", "b", "c", axis="0 1 0", pose="1 0 0 0 0 0")
    joints += joint("three", "revolute", "world", "c", axis="0 1 0")
    driven = '<plugin name="p" filename="x"><joint_name>three</joint_name></plugin>'
    assert read(tmp_path, bars + joints).load().joint_names == ("one", "two", "pin")
    machine = read(tmp_path, bars + joints + driven).load()
    assert "three" in machine.joint_names
    assert machine.actuators.names == ("three",)


def test_the_model_is_placed_by_a_frame_of_its_own(tmp_path):
    parts = "<pose>1 0 0 0 0 1.5707963267948966</pose>" + link("a", "0 2 0 0 0 0")
    parts += link("b", "0 3 0 0 0 0") + joint("j", "fixed", "world", "a", axis="")
    parts += joint("k", "revolute", "a", "b")
    at = places(read(tmp_path, parts, attributes='placement_frame="a"').load())
    np.testing.assert_allclose(at["a"][0], [1, 0, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(at["b"][0], [0, 0, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_a_gearbox_turns_the_child_against_the_parent(tmp_path, turned):
    # theta_2 = -ratio theta_1, both seen from the reference body, about the axes of the gearbox
    shaft = (
        joint("out", "revolute", "wheel", "frame", axis="0 0 -1")
        if turned
        else joint("out", "revolute", "frame", "wheel")
    )
    parts = (
        link("frame")
        + link("pinion", "0.1 0 0 0 0 0")
        + link("wheel", "0.4 0 0 0 0 0")
        + joint("base", "fixed", "world", "frame", axis="")
        + joint("in", "revolute", "frame", "pinion")
        + shaft
        + joint(
            "gears",
            "gearbox",
            "pinion",
            "wheel",
            more="<axis2><xyz>0 0 1</xyz></axis2><gearbox_ratio>0.25</gearbox_ratio>"
            "<gearbox_reference_body>frame</gearbox_reference_body>",
        )
    )
    machine = read(tmp_path, parts).load()
    q = machine.configuration(machine.assemble(**{"in": 0.8}))
    at = places(machine, q)
    for name, angle in (("pinion", 0.8), ("wheel", -0.2)):
        rotation = at[name][1]
        found = np.arctan2(rotation[1, 0], rotation[0, 0])
        assert found == pytest.approx(angle, abs=1e-12), name  # rounding of a linear row


def test_models_that_joints_of_the_world_connect_are_one_machine(tmp_path):
    # a four-bar of three links, in one model and in three that are placed and turned in the world
    ends = {"crank": "0 0 0 0 0 0", "rod": "0 0 1 0 0 0", "rocker": "2 0 0 0 0 0"}
    pins = [
        ("a", "world", "crank", "0 0 0 0 0 0"),
        ("b", "crank", "rod", "0 0 0 0 0 0"),
        ("c", "rod", "rocker", "0 0 1 0 0 0"),
        ("d", "world", "rocker", "0 0 0 0 0 0"),
    ]
    turned = "0 1 0 0 0 1.5707963267948966"  # of every model
    one = "".join(link(name, pose) for name, pose in ends.items())
    one += "".join(
        joint(n, "revolute", p, c, axis="0 1 0", pose=pose, in_axis="") for n, p, c, pose in pins
    )
    whole = read(tmp_path, f"<pose>{turned}</pose>{one}").load()
    models, near = "", {"crank": "0 1 0", "rod": "0 1 1", "rocker": "0 3 0"}
    for name, place in near.items():
        models += f'<model name="{name}"><pose>{place} 0 0 1.5707963267948966</pose>'
        models += f"{link('body', body=BODY)}</model>"
    joints = "".join(
        joint(
            n,
            "revolute",
            p if p == "world" else f"{p}::body",
            f"{c}::body",
            axis="0 1 0",
            pose=pose,
        )
        for n, p, c, pose in pins
    )
    file = tmp_path / "apart.sdf"
    text = f'<sdf version="1.9"><world name="w">{models}{joints}</world></sdf>'
    file.write_text(text)
    found = import_file(file)
    apart = found.load()
    assert apart.report().mobility == whole.report().mobility == 1
    for name, (place, rotation) in places(whole).items():
        if name in near:
            there, turn = places(apart)[f"{name}_body"]
            np.testing.assert_allclose(there, place, atol=1e-9, rtol=0)  # digits of the file
            np.testing.assert_allclose(turn, rotation, atol=1e-9, rtol=0)
    assert any("joints connect them" in remark.reason for remark in found.remarks)


def test_shapes_of_a_kind_share_one_remark(tmp_path):
    visual = (
        "<visual name='v{}'><geometry><mesh><uri>model://x/{}.stl</uri></mesh></geometry></visual>"
    )
    found = read(tmp_path, link("a", body=BODY + "".join(visual.format(k, k) for k in range(90))))
    (remark,) = [remark for remark in found.remarks if "mesh" in remark.subject]
    assert "86 more" in remark.subject


def test_a_number_that_is_broken_is_told_with_its_link(tmp_path):
    with pytest.raises(InputError, match="link b: pose: expected 6 finite numbers"):
        read(tmp_path, link("a") + link("b", '0 0 0 0 0 0"'))
