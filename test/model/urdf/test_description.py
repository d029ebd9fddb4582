# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is read from a URDF: limits, friction, warnings, other files."""

import numpy as np
import pytest

from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.robot.urdf_text import urdf_text
from uk_dynamics.exceptions import InputError, UnknownNameError, UrdfError
from uk_dynamics.model import AttachedFrame, Mimic, RobotModel
from uk_dynamics.model.urdf.description import Joint, Link
from uk_dynamics.model.urdf.reading import read_urdf, read_urdf_text

INERTIAL = (
    '<inertial><origin xyz="0.5 0 0"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="2" effort="5" velocity="7"/>'


def arm(joint, *, kind="revolute", inertial=INERTIAL, extra=""):
    return (
        f'<robot name="arm"><link name="base"/><link name="tip">{inertial}</link>'
        f'<joint name="shoulder" type="{kind}"><parent link="base"/><child link="tip"/>'
        f"{joint}</joint>{extra}</robot>"
    )


def test_limits_and_friction_are_those_of_the_file():
    model = RobotModel.from_urdf(arm(f'{LIMIT}<dynamics damping="0.3" friction="0.4"/>'))
    found = [
        (array.shape, float(array[0]))
        for array in (
            model.lower,
            model.upper,
            model.effort_limit,
            model.velocity_limit,
            model.damping,
            model.friction,
        )
    ]
    assert found == [((1,), value) for value in (-1.0, 2.0, 5.0, 7.0, 0.3, 0.4)]


def test_continuous_joints_are_plain_angles_without_limits():
    limit = '<limit lower="-1" upper="1" effort="5" velocity="7"/>'
    model = RobotModel.from_urdf(arm(f'<axis xyz="0 0 1"/>{limit}', kind="continuous"))
    assert (model.nq, model.nv, model.is_euclidean) == (1, 1, True)
    assert (model.lower[0], model.upper[0]) == (-np.inf, np.inf)
    assert (model.effort_limit[0], model.velocity_limit[0]) == (5.0, 7.0)
    workspace = model.workspace()
    workspace.update_positions(np.array([2 * np.pi + 0.5]))
    expected = [np.cos(0.5), np.sin(0.5), 0.0]
    assert workspace.rotation[1][:, 0] == pytest.approx(expected, abs=1e-15)
    assert model.integrate(np.array([6.0]), np.array([1.0]))[0] == 7.0


def test_zero_limits_mean_not_declared_and_are_reported():
    model = RobotModel.from_urdf(arm('<limit lower="-1" upper="1" effort="0" velocity="0"/>'))
    assert (model.effort_limit[0], model.velocity_limit[0]) == (np.inf, np.inf)
    assert model.warnings == ()  # ordinary of a passive joint
    slow = RobotModel.from_urdf(arm('<limit lower="-1" upper="1" effort="1" velocity="0"/>'))
    assert [w for w in slow.warnings if "velocity is 0" in w and "joint shoulder" in w]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (arm(LIMIT, inertial=""), ("joint shoulder", "moves no mass")),
        (
            arm(LIMIT, inertial='<inertial><mass value="1"/></inertial>'),
            ("link tip", "point mass"),
        ),
        (
            arm(LIMIT, inertial=INERTIAL.replace('izz="1"', 'izz="3"')),
            ("link tip", "1, 1, 3"),
        ),
        (
            arm(LIMIT, inertial=INERTIAL.replace('value="2"', 'value="0"')),
            ("link tip", "no mass"),
        ),
        (arm(f"{LIMIT}{LIMIT}"), ("joint shoulder", "multiple", "limit")),
        (arm(f'{LIMIT}<dampin d="1"/>'), ("joint shoulder", '"dampin"')),
        (arm(f'{LIMIT}<dynamics viscous="1"/>'), ("joint shoulder", '"viscous"')),
        (
            arm('<limit lower="1" upper="1" effort="1" velocity="1"/>'),
            ("joint shoulder", "both 1"),
        ),
        (arm(LIMIT, extra="<links/>"), ("<links>", "unknown")),
    ],
)
def test_what_is_probably_not_meant_is_a_warning(text, words, capfd):
    (warning,) = RobotModel(read_urdf_text(text, "arm.urdf")).warnings
    assert warning.startswith("arm.urdf: ")
    for word in words:
        assert word in warning
    assert capfd.readouterr() == ("", "")


def test_what_does_not_concern_dynamics_is_silent_and_need_not_exist(capfd):
    visual = '<visual><geometry><mesh filename="package://nowhere/a.dae"/></geometry></visual>'
    text = arm(
        f'{LIMIT}<safety_controller k_velocity="1"/>',
        inertial=INERTIAL + visual,
        extra='<ros2_control name="x"/><gazebo/><transmission name="t"/>',
    )
    assert RobotModel.from_urdf(text).warnings == ()
    assert capfd.readouterr() == ("", "")


def test_inertia_is_turned_into_the_link_frame():
    inertial = (
        '<inertial><origin rpy="0 0 1.5707963267948966"/><mass value="1"/>'
        '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/></inertial>'
    )
    tip = read_urdf_text(arm(LIMIT, inertial=inertial)).links[1]
    expected = [[2.0, -0.1, 0.0], [-0.1, 1.0, 0.0], [0.0, 0.0, 2.5]]
    assert tip.inertia == pytest.approx(np.array(expected), abs=1e-15)


def test_axes_are_normalised():
    model = RobotModel.from_urdf(arm(f'<axis xyz="0 3 4"/>{LIMIT}', kind="prismatic"))
    workspace = model.workspace()
    workspace.update_positions(np.array([1.0]))
    assert workspace.translation[1] == pytest.approx([0.0, 0.6, 0.8], abs=1e-15)


def test_mimic_joints_are_recorded_and_stay_free():
    follower = (
        '<link name="thumb"/><joint name="grip" type="prismatic"><parent link="base"/>'
        f'<child link="thumb"/><mimic joint="shoulder" multiplier="-2" offset="0.1"/>'
        f"{LIMIT}</joint>"
        '<link name="nail"/><joint name="peel" type="revolute"><parent link="base"/>'
        f'<child link="nail"/><mimic joint="grip"/>{LIMIT}</joint>'
    )
    model = RobotModel.from_urdf(arm(LIMIT, extra=follower))
    assert model.nv == 3
    assert model.mimic == (
        Mimic("grip", "shoulder", -2.0, 0.1),
        Mimic("peel", "grip", 1.0, 0.0),
    )


def test_a_declared_encoding_is_no_obstacle(tmp_path):
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + arm(LIMIT).replace("tip", "spitzé")
    assert "spitzé" in RobotModel.from_urdf(text).link_names
    path = tmp_path / "arm.urdf"
    path.write_bytes(text.encode("latin-1"))
    assert "spitzé" in RobotModel.from_urdf(str(path)).link_names


def test_blanks_before_the_declaration_are_no_obstacle():
    text = '\n  <?xml version="1.0" encoding="UTF-8"?>' + arm(LIMIT)
    assert RobotModel.from_urdf(text).nv == 1


def test_warnings_of_xacro_are_collected(tmp_path, capfd):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:property name="size" value="1" unit="m"/><link name="base"/></robot>'
    )
    (warning,) = RobotModel.from_urdf(path).warnings
    assert warning.startswith("arm.urdf.xacro: xacro: warning: ")
    assert "unit" in warning
    assert capfd.readouterr() == ("", "")


def test_text_instead_of_a_path():
    assert RobotModel.from_urdf(arm(LIMIT)).joint_names == ("shoulder",)


def test_joints_come_depth_first_in_the_order_of_the_file():
    def joint(name, parent, child):
        return (
            f'<link name="{child}">{INERTIAL}</link><joint name="{name}" type="revolute">'
            f'<parent link="{parent}"/><child link="{child}"/>{LIMIT}</joint>'
        )

    text = '<robot name="r"><link name="base"/>' + "".join(
        [
            joint("z", "base", "left"),
            joint("m", "base", "right"),
            joint("b", "left", "left_hand"),
            joint("a", "left", "left_hook"),
        ]
    )
    model = RobotModel.from_urdf(text + "</robot>")
    assert model.joint_names == ("z", "b", "a", "m")
    assert model.link_names == ("base", "left", "left_hand", "left_hook", "right")


def test_attached_frames_stand_where_they_are_put():
    turned = (0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4))
    frames = [
        AttachedFrame("hand", "tip", (1.0, 0.0, 0.0), turned),
        AttachedFrame("finger", "hand", (1.0, 0.0, 0.0)),
    ]
    model = RobotModel.from_urdf(arm(f'<axis xyz="0 0 1"/>{LIMIT}'), frames=frames)
    workspace = model.workspace()
    workspace.update_positions(np.array([np.pi / 2]))
    assert model.frame_names == ("base", "tip", "hand", "finger")
    assert workspace.translation[2] == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)
    assert workspace.translation[3] == pytest.approx([-1.0, 1.0, 0.0], abs=1e-15)


def test_frames_need_a_link_and_a_name_of_their_own():
    with pytest.raises(UnknownNameError, match='no link "tup"; did you mean "tip"'):
        RobotModel.from_urdf(arm(LIMIT), frames=[AttachedFrame("hand", "tup")])
    with pytest.raises(InputError, match='two frames are named "tip"; rename one'):
        RobotModel.from_urdf(arm(LIMIT), frames=[AttachedFrame("tip", "base")])


@pytest.mark.parametrize(
    "frame",
    [
        AttachedFrame("hand", "tip", (0.0, float("nan"), 0.0)),
        AttachedFrame("hand", "tip", quaternion=(0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_frames_need_a_pose(frame):
    with pytest.raises(InputError, match='pose of frame "hand" must be finite'):
        RobotModel.from_urdf(arm(LIMIT), frames=[frame])


@pytest.mark.parametrize("root", ["floating", "planar"])
def test_the_name_of_the_root_joint_is_taken(root):
    text = arm(LIMIT).replace("shoulder", "root")
    assert RobotModel.from_urdf(text).joint_names == ("root",)
    with pytest.raises(UrdfError, match=f'"root" belongs to the {root} root joint; rename'):
        RobotModel.from_urdf(text, root=root)


def test_packages_and_xacro(tmp_path, monkeypatch):
    share = tmp_path / "share"
    (share / "ament_index/resource_index/packages").mkdir(parents=True)
    (share / "ament_index/resource_index/packages/some_arm").touch()
    (share / "some_arm").mkdir()
    (share / "some_arm/parts.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:property name="tip" value="tip_link"/></robot>'
    )
    (share / "some_arm/arm.urdf.xacro").write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find some_arm)/parts.xacro"/><link name="${tip}"/></robot>'
    )
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    model = RobotModel.from_urdf("package://some_arm/arm.urdf.xacro")
    assert model.link_names == ("tip_link",)


def write_pair(tmp_path, lock=""):
    gripper = (
        '<link name="finger"/><joint name="grip" type="prismatic"><parent link="tip"/>'
        f'<child link="finger"/><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
        f'<axis xyz="2 0 0"/><mimic joint="shoulder"/>{LIMIT}</joint>'
    )
    (tmp_path / "arm.urdf").write_text(arm(LIMIT, extra=gripper))
    include = f'<include uri="arm.urdf" prefix="{{0}}">{lock}</include>'
    mount = (
        '<joint name="{0}mount" type="fixed"><parent link="world"/><child link="{0}base"/></joint>'
    )
    both = "".join((include + mount).format(side) for side in ("left_", "right_"))
    path = tmp_path / "pair.urdf"
    path.write_text(f'<robot name="pair"><link name="world"/>{both}</robot>')
    return path


def test_a_description_may_include_others_with_prefixes(tmp_path):
    model = RobotModel.from_urdf(write_pair(tmp_path))
    assert model.joint_names == ("left_shoulder", "left_grip", "right_shoulder", "right_grip")
    assert [(mimic.joint, mimic.source) for mimic in model.mimic] == [
        ("left_grip", "left_shoulder"),
        ("right_grip", "right_shoulder"),
    ]
    assert "<include" not in model.description.text
    again = read_urdf_text(model.description.text)
    assert [joint.name for joint in again.joints] == [j.name for j in model.description.joints]


@pytest.mark.parametrize("joint", ["grip", "shoulder"])
def test_locked_joints_stay_where_the_free_ones_would_be(joint, tmp_path):
    free = RobotModel.from_urdf(write_pair(tmp_path))
    workspace = free.workspace()
    workspace.update_positions(free.to_positions({f"left_{joint}": 0.7}))
    lock = f'<lock joint="{joint}" position="0.7"/>'
    if joint == "shoulder":  # what follows a locked joint must not move either
        lock += '<lock joint="grip"/>'
    model = RobotModel.from_urdf(write_pair(tmp_path, lock))
    assert f"left_{joint}" not in model.joint_names
    held = model.workspace()
    held.update_positions(model.neutral())
    ours, theirs = model.frame_index("left_finger"), free.frame_index("left_finger")
    assert held.translation[ours] == pytest.approx(workspace.translation[theirs], abs=1e-15)
    assert held.rotation[ours] == pytest.approx(workspace.rotation[theirs], abs=1e-15)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ('<lock joint="wrist"/>', 'no joint "wrist" to lock'),
        ('<lock joint="grip" position="far"/>', "finite number"),
    ],
)
def test_impossible_locks(lock, message, tmp_path):
    with pytest.raises(UrdfError, match=message):
        read_urdf(write_pair(tmp_path, lock))


def test_what_xacro_says_of_every_use_of_a_macro_is_said_once(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    use = '<xacro:body name="l{0}"/><joint name="j{0}" type="continuous"><parent link="base"/>'
    use += '<child link="l{0}"/></joint>'
    uses = "".join(use.format(index) for index in range(20))
    path.write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/>'
        '<xacro:macro name="body" params="name e:=1"><link name="${name}"/>'
        f"</xacro:macro>{uses}</robot>"
    )
    (warning,) = [w for w in RobotModel.from_urdf(path).warnings if "redefining" in w]
    assert "symbol: e (20 times)" in warning
    assert warning.count("redefining") == 1


def test_limits_that_nobody_declares_are_one_warning_each():
    text = arm(LIMIT.replace('velocity="1"', 'velocity="0"'))
    more = '<link name="x{0}"/><joint name="j{0}" type="revolute">'
    more += '<parent link="base"/><child link="x{0}"/>'
    more += '<limit lower="-1" upper="1" effort="1" velocity="0"/></joint>'
    text = text.replace("</robot>", "".join(more.format(index) for index in range(8)) + "</robot>")
    found = [
        warning for warning in RobotModel.from_urdf(text).warnings if "velocity is 0" in warning
    ]
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
def test_limits_that_nobody_knows_are_written_and_read_without_complaint(kind):
    limits = () if kind == "continuous" else (-1.0, 2.0)
    type_ = "revolute" if kind == "continuous" else kind
    for effort, velocity in ((np.inf, np.inf), (3.0, np.inf), (np.inf, 4.0)):
        joint = Joint(
            "shoulder",
            type_,
            "base",
            "tip",
            **dict(zip(("lower", "upper"), limits, strict=False)),
            effort_limit=effort,
            velocity_limit=velocity,
        )
        links = [Link("base"), Link("tip", 1.0, np.zeros(3), np.eye(3))]
        again = read_urdf_text(urdf_text(ImportedRobot("again", links, [joint])))
        assert again.warnings == ()
        assert again.joints[0].effort_limit == effort
        assert again.joints[0].velocity_limit == velocity


ANTENNA = (
    '<link name="antenna"><inertial><mass value="1e-6"/><inertia ixx="{}" iyy="5e-8" izz="9e-8"'
    ' ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="mount" type="fixed">'
    '<origin xyz="0.1 0.2 0" rpy="0.3 0 0.5"/><parent link="tip"/><child link="antenna"/></joint>'
)


def test_an_impossible_inertia_counts_with_the_body_it_is_fixed_to():
    text = arm(f'<axis xyz="0 0 1"/>{LIMIT}', extra=ANTENNA.format("-3e-8"))
    model = RobotModel.from_urdf(text)
    (warning,) = model.warnings
    for word in ("link antenna", "-3e-08", "kg m²", "(tip)", "CAD"):
        assert word in warning
    workspace = model.workspace()
    workspace.update_positions(np.array([0.4]))
    # About z through the shoulder: the tip as it is, and the antenna with R I Rᵀ and Steiner.
    turned = 5e-8 * np.sin(0.3) ** 2 + 9e-8 * np.cos(0.3) ** 2
    expected = 1.0 + 2 * 0.5**2 + turned + 1e-6 * (0.1**2 + 0.2**2)
    np.testing.assert_allclose(workspace.mass, [[expected]], rtol=0, atol=1e-15)


def test_an_impossible_inertia_that_nothing_outweighs_is_refused():
    text = arm(LIMIT, extra=ANTENNA.format("-3"))
    with pytest.raises(UrdfError, match="link antenna: the inertia is not positive definite"):
        RobotModel.from_urdf(text)


def test_rounding_beside_a_heavy_mass_is_no_impossible_inertia():
    tiny = INERTIAL.replace('ixx="1" iyy="1" izz="1"', 'ixx="-1e-20" iyy="1e-20" izz="0"')
    assert not [w for w in RobotModel.from_urdf(arm(LIMIT, inertial=tiny)).warnings if "tip" in w]
