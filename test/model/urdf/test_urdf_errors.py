# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every malformed robot description gives one line that names file, place and remedy."""

import pytest

from uk_dynamics.exceptions import UrdfError
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import read_urdf_text
from uk_dynamics.model.urdf.source import LARGEST_DESCRIPTION

INERTIAL = (
    '<inertial><origin xyz="0 0 0"/><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="5"/>'


def link(name, content=INERTIAL):
    return f'<link name="{name}">{content}</link>'


def joint(name="arm", kind="revolute", parent="base", child="tip", content=LIMIT):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{content}</joint>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def pair(content=LIMIT, kind="revolute", tip=INERTIAL):
    """A base and a tip with one joint between them."""
    return robot(link("base"), link("tip", tip), joint(content=content, kind=kind))


def inertial(mass="1", inertia='ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'):
    return f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>'


def axis(xyz):
    return f'<axis xyz="{xyz}"/>{LIMIT}'


ENTITY_BOMB = (
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<robot name="&b;"><link name="base"/></robot>'
)

MALFORMED = {
    "empty": ("", ["empty", "<robot>"]),
    "blank": ("  \n ", ["empty"]),
    "not XML": ("hello", ["not XML", "line 1"]),
    "unclosed": ('<robot name="r"><link name="base">', ["not XML", "no element found"]),
    "binary": ("\x00\x01\x02<robot>", ["not XML"]),
    "entity bomb": (ENTITY_BOMB, ["DOCTYPE", "remove"]),
    "SDF": ('<sdf version="1.9"><model name="m"/></sdf>', ["<sdf>", "expected <robot>"]),
    "xacro left over": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/></robot>',
        ["<xacro:arm>", "run xacro"],
    ),
    "other version": ('<robot name="r" version="2.0"/>', ["version", '"2.0"', '"1.0"']),
    "no link": (robot(), ["no <link>"]),
    "nameless link": (robot("<link/>"), ["<link> has no name"]),
    "nameless joint": (robot(link("base"), '<joint type="fixed"/>'), ["<joint> has no name"]),
    "duplicate link": (robot(link("base"), link("base")), ["two links", '"base"', "rename"]),
    "duplicate joint": (
        robot(link("base"), link("tip"), link("end"), joint(), joint(child="end")),
        ["two joints", '"arm"', "rename"],
    ),
    "a place so far that squares overflow": (
        pair(LIMIT + '<origin xyz="0 -1e200 0"/>'),
        ["joint arm", "origin xyz", "at most 1e+12", "-1e+200"],
    ),
    "an axis so long that its square overflows": (
        pair(LIMIT + '<axis xyz="1e308 0 0"/>'),
        ["joint arm", "axis xyz", "at most 1e+12", "1e+308"],
    ),
    "unknown type": (pair(kind="revolut"), ["joint arm", "revolut"]),
    "type unknown": (pair(kind="unknown"), ["joint arm", "unknown", "prismatic"]),
    "no type": (
        robot(link("base"), '<joint name="arm"><parent link="base"/></joint>'),
        ["joint arm", "type"],
    ),
    "unknown parent": (
        robot(link("base"), link("tip"), joint(parent="bas")),
        ["joint arm", "parent", '"bas"', 'did you mean "base"?'],
    ),
    "unknown child": (
        robot(link("base"), link("tip"), joint(child="hand")),
        ["joint arm", "child", '"hand"', "base, tip"],
    ),
    "no parent": (
        robot(link("base"), '<joint name="arm" type="fixed"><child link="base"/></joint>'),
        ["joint arm", "parent"],
    ),
    "own parent": (robot(link("base"), joint(child="base")), ["joint arm", "both base"]),
    "two parents": (
        robot(link("base"), link("tip"), joint("a"), joint("b")),
        ["joint b", "link tip", "joint a", "constraints"],
    ),
    "several roots": (robot(link("base"), link("tip")), ["base, tip", "no parent", "one root"]),
    "cycle": (
        robot(link("base"), link("tip"), joint("a"), joint("b", parent="tip", child="base")),
        ["a, b", "cycle", "constraints"],
    ),
    "cycle beside a root": (
        robot(
            link("root"),
            link("base"),
            link("tip"),
            joint("a"),
            joint("b", parent="tip", child="base"),
        ),
        ["a, b", "cycle"],
    ),
    "no limit": (pair(""), ["joint arm", "<limit", "continuous"]),
    "prismatic without limit": (pair("", "prismatic"), ["joint arm", "prismatic", "<limit"]),
    "limit without effort": (
        pair('<limit lower="-1" upper="1" velocity="1"/>'),
        ["joint arm", "effort"],
    ),
    "limits swapped": (
        pair('<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
        ["joint arm", "lower 1", "upper -1", "swap"],
    ),
    "negative effort": (
        pair('<limit lower="-1" upper="1" effort="-1" velocity="1"/>'),
        ["joint arm", "effort", "negative"],
    ),
    "limit not a number": (
        pair('<limit lower="low" upper="1" effort="1" velocity="1"/>'),
        ["joint arm", "limit lower", '"low"'],
    ),
    "limit nan": (
        pair('<limit lower="nan" upper="1" effort="1" velocity="1"/>'),
        ["joint arm", "lower", "finite"],
    ),
    "limit infinite": (
        pair('<limit lower="-1" upper="inf" effort="1" velocity="1"/>'),
        ["joint arm", "upper", "finite"],
    ),
    "zero axis": (pair(axis("0 0 0")), ["joint arm", "axis", "zero", "0 0 1"]),
    "axis nan": (pair(axis("0 nan 0")), ["joint arm", "axis", "finite"]),
    "axis of two numbers": (pair(axis("0 1")), ["joint arm", "axis xyz", "3 finite", '"0 1"']),
    "axis empty": (pair(f"<axis/>{LIMIT}"), ["joint arm", "<axis>", "add xyz"]),
    "origin infinite": (
        pair(f'<origin xyz="0 inf 0"/>{LIMIT}'),
        ["joint arm", "origin xyz", "finite"],
    ),
    "rpy of four numbers": (
        pair(f'<origin rpy="0 0 0 1"/>{LIMIT}'),
        ["joint arm", "origin rpy", "3 finite"],
    ),
    "rotation as quaternion": (
        pair(f'<origin quat_xyzw="0 0 0 1"/>{LIMIT}'),
        ["joint arm", "quat_xyzw", "rpy"],
    ),
    "decimal comma": (
        pair(f'<origin xyz="0,5 0 0"/>{LIMIT}'),
        ["joint arm", "origin xyz", '"0,5 0 0"'],
    ),
    "negative damping": (
        pair(f'<dynamics damping="-1"/>{LIMIT}'),
        ["joint arm", "damping", "negative", "-1"],
    ),
    "friction nan": (
        pair(f'<dynamics friction="nan"/>{LIMIT}'),
        ["joint arm", "friction", "finite"],
    ),
    "negative mass": (pair(tip=inertial(mass="-1")), ["link tip", "mass", "negative"]),
    "mass nan": (pair(tip=inertial(mass="nan")), ["link tip", "mass", "finite"]),
    "no mass value": (
        pair(tip="<inertial><mass/></inertial>"),
        ["link tip", "<mass>", "add value"],
    ),
    "inertia incomplete": (
        pair(tip=inertial(inertia='ixx="1"')),
        ["link tip", "<inertia>", "add iyy"],
    ),
    "inertia nan": (
        pair(tip=inertial(inertia='ixx="nan" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"')),
        ["link tip", "inertia", "finite"],
    ),
    "inertia not positive": (
        pair(tip=inertial(inertia='ixx="1" iyy="1" izz="1" ixy="2" ixz="0" iyz="0"')),
        ["link tip", "positive definite", "-1"],
    ),
    "mimic of nobody": (
        pair(f'<mimic joint="leg"/>{LIMIT}'),
        ["joint arm", '"leg"', "mimic", "arm"],
    ),
    "mimic of itself": (pair(f'<mimic joint="arm"/>{LIMIT}'), ["joint arm", "itself"]),
    "mimic in a circle": (
        robot(
            link("base"),
            link("tip"),
            link("end"),
            joint("a", content=f'<mimic joint="b"/>{LIMIT}'),
            joint("b", child="end", content=f'<mimic joint="a"/>{LIMIT}'),
        ),
        ["joint a", "itself", "b"],
    ),
    "mimic of a fixed joint": (
        robot(
            link("base"),
            link("tip"),
            link("end"),
            joint("a", content=f'<mimic joint="b"/>{LIMIT}'),
            joint("b", kind="fixed", child="end", content=""),
        ),
        ["joint a", "b is fixed"],
    ),
    "mimic without joint": (pair(f"<mimic/>{LIMIT}"), ["joint arm", "mimic", "joint"]),
    "mimic factor nan": (
        robot(
            link("base"),
            link("tip"),
            link("end"),
            joint("a", content=f'<mimic joint="b" multiplier="nan"/>{LIMIT}'),
            joint("b", child="end"),
        ),
        ["joint a", "multiplier", "finite"],
    ),
    "include without uri": (robot(link("base"), "<include/>"), ["include", "uri"]),
    "include of nothing": (
        robot(link("base"), '<include uri="package://nobody_has_this/a.urdf"/>'),
        ["include", "nobody_has_this"],
    ),
}


NESTED = '<robot name="r">' + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>"
CROWD = robot(*(link(f"link{number}", "") for number in range(10001)))


def one_line(error, *expected):
    text = str(error.value)
    assert "\n" not in text
    for word in expected:
        assert word in text
    return text


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_text(case):
    text, expected = MALFORMED[case]
    with pytest.raises(UrdfError) as error:
        RobotModel(read_urdf_text(text, "arm.urdf"))
    assert one_line(error, *expected).startswith("arm.urdf: ")


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_file(case, tmp_path):
    text, expected = MALFORMED[case]
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    assert one_line(error, *expected).startswith("arm.urdf: ")


def test_missing_file():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf("no_such_robot.urdf")
    one_line(error, "no_such_robot.urdf", "no file")


def test_directory_instead_of_file(tmp_path):
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(tmp_path)
    one_line(error, "directory")


def test_unknown_package():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf("package://nobody_has_this/arm.urdf")
    one_line(error, "nobody_has_this", "no package")


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "arm.urdf"
    path.write_text(pair())

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", denied)  # root may read everything
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    one_line(error, "arm.urdf", "Permission denied", "permissions")


def test_huge_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "arm.urdf"
    with path.open("wb") as file:
        file.seek(LARGEST_DESCRIPTION + 1)
        file.write(b"\0")
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    one_line(error, "arm.urdf", "20 MB")


def test_huge_text():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(pair() + " " * LARGEST_DESCRIPTION)
    one_line(error, "20 MB")


def test_endless_nesting():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(NESTED)
    one_line(error, "nested more than 50 deep")


def test_too_many_links():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(CROWD)
    one_line(error, "more than 10000 links")


def test_impossible_file_name():
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf("a" * 10_000)
    one_line(error, "cannot be opened")
    assert len(str(error.value)) < 200


def test_unknown_encoding(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?>' + pair().encode())
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    one_line(error, "arm.urdf", "encoding")


def test_file_that_includes_itself(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(robot(link("base"), '<include uri="arm.urdf"/>'))
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    one_line(error, "arm.urdf", "includes itself")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<xacro:include filename="nowhere.xacro"/>', "nowhere.xacro"),
        ("<xacro:wheel/>", "wheel"),
        ('<link name="${size}"/>', "size"),
        ('<link name="$(arg size)"/>', "size"),
        ('<link name="${1 / 0}"/>', "division by zero"),
        ('<xacro:include filename="$(find nobody_has_this)/a.xacro"/>', "nobody_has_this"),
    ],
)
def test_xacro_failures(content, expected, tmp_path, capfd):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(
        f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{content}</robot>'
    )
    with pytest.raises(UrdfError) as error:
        RobotModel.from_urdf(path)
    said = one_line(error, expected)
    assert said.startswith("arm.urdf.xacro: xacro: ")
    assert said.count("nowhere.xacro") <= 1  # xacro tells it with and without quotes
    assert capfd.readouterr() == ("", "")


def test_a_failure_of_xacro_leaves_nothing_behind(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    start = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    path.write_text(f"{start}<xacro:property name='size' value='1'/><xacro:wheel/></robot>")
    with pytest.raises(UrdfError):
        RobotModel.from_urdf(path)
    path.write_text(f'{start}<link name="a${{size}}"/></robot>')
    with pytest.raises(UrdfError, match="size"):
        RobotModel.from_urdf(path)
    path.write_text(f'{start}<link name="a"/></robot>')
    assert RobotModel.from_urdf(path).link_names == ("a",)
