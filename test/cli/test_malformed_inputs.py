# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Malformed mechanism and tasks files: one line of file, place and remedy, exit status 2."""

from __future__ import annotations

import os

import pytest

from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec

START = "schema: 1\n"


def pin(text):
    """A mechanism of one constraint with the given keys."""
    return f"{START}constraints: {{pin: {{{text}}}}}\n"


def task(text):
    """A tasks file of one task with the given keys."""
    return f"{START}tasks: {{sweep: {{{text}}}}}\n"


def swarm(robots):
    """A family of expressions over an index set."""
    each = "expression: 'x[i]', for_each: {i: robots}"
    return pin(f"type: expression, {each}, indices: {{robots: {robots}}}")


FRAMES = "parent: {link: a}, child: {link: b}"
BOMB = START + "a0: &a0 [x, x]\n"
BOMB += "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}, *a{i}]\n" for i in range(40))
TWO_ROTATIONS = "rpy: [0, 0, 1], quaternion: [0, 0, 0, 1]"
REFERENCE = "type: joint, joint: crank, reference"

# What the file says; where the mistake stands; words of the problem; words of the remedy.
MECHANISMS = {
    # YAML that cannot be read
    "empty": ("", "", "empty", "schema: 1"),
    "only a comment": ("# nothing\n", "", "empty", "schema: 1"),
    "tab": (START + "model:\n\troot: fixed\n", "3:1", "a tab", "spaces"),
    "colon in text": (START + "model: {urdf: a}: b\n", "2:17", "none can stand", "indentation"),
    "two colons": (START + "model: urdf: a\n", "2:12", '":"', "check the indentation"),
    "key without colon": (START + "model\n", "3:1", 'without ":"', "key: value"),
    "open list": (START + "model: {gravity: [0, 0\n", "3:1", "list is not closed", '"]"'),
    "open mapping": (START + "model: {root: fixed\n", "3:1", "mapping is not closed", '"}"'),
    "open quote": (START + "model: {urdf: 'a\n", "3:1", "quoted text", "add the quote"),
    "bad indentation": (START + "model:\n    urdf: a\n  root: fixed\n", "4:3", "indent", "align"),
    "reserved character": (START + "model: {urdf: @a}\n", "2:15", "reserves", "quotes"),
    "control character": (START + "model: {urdf: a\x07}\n", "2:16", "U+0007", "remove"),
    "two documents": (START + "---\n" + START, "2:1", "second document", "one per file"),
    "alias without anchor": (START + "model: *m\n", "2:8", "without its anchor", "&name"),
    "alias within itself": (
        START + "model: &m {urdf: *m}\n",
        "model.urdf",
        "inside its own anchor",
        "write it out",
    ),
    "aliases that explode": (BOMB, "", "20000 values", "write fewer"),
    "deep nesting": (START + "model: " + "[" * 5000, "2:39", "nested more than 32", "flatten"),
    "too many values": (START + "x: [" + "1," * 20000, "2:39995", "20000 keys and values", "split"),
    "huge": (START + "#" * 1_000_001, "", "larger than 1000 kB", "shorten"),
    "tag": (START + "model: !!python/name:os.system x\n", "model", "!!python/name", "remove"),
    "merge key": (START + "model: {<<: {root: fixed}}\n", "model", "merge keys", "write the keys"),
    "list as key": (
        START + "model: {[a]: b}\n",
        "model",
        "line 2: the key is a list",
        "plain text",
    ),
    "duplicate key": (
        START + "actuators:\n  m: {joint: a}\n  n: {joint: b}\n  m: {joint: c}\n",
        "actuators.m",
        "twice (lines 3 and 5)",
        "remove one",
    ),
    # a file of another kind
    "a list": ("[1, 2]\n", "", "a list of 2", "mapping that begins with schema: 1"),
    "a text": ("hello\n", "", '"hello"', "mapping that begins with schema: 1"),
    "no version": ("model: {root: fixed}\n", "", '"schema" is missing', "schema: 1"),
    "later version": ("schema: 2\nnew: 1\n", "schema", "version 2", "update uk_dynamics"),
    "version as text": ('schema: "1"\n', "schema", 'found "1"', "schema: 1"),
    "a tasks file": (task("type: joint, joint: a"), "", '"tasks"', "a mechanism file is needed"),
    # keys and names
    "misspelt section": (START + "constrants: {}\n", "", '"constrants"', '"constraints"'),
    "misspelt key": (
        START + "defaults: {stabilization: {dampning: 1}}\n",
        "defaults.stabilization",
        '"dampning"',
        'did you mean "damping_ratio"?',
    ),
    "misspelt type key": (pin(f"typ: weld, {FRAMES}"), "constraints.pin", '"typ"', '"type"'),
    "key of another type": (
        pin(f"type: weld, axis: [0, 0, 1], {FRAMES}"),
        "constraints.pin",
        'unknown key "axis" for type "weld"',
        "valid are: type, parent, child",
    ),
    "name with a hyphen": (
        START + "constraints: {Right-Pin: {type: weld}}\n",
        "constraints",
        '"Right-Pin" cannot become a topic',
        'such as "Right_Pin"',
    ),
    "name with a space": (START + "actuators: {m 1: {joint: a}}\n", "actuators", '"m 1"', '"m_1"'),
    "empty section": (START + "model:\n", "model", "is empty", "leave the key out"),
    # numbers
    "not a number": (
        START + "model: {gravity: [0, 0, .nan]}\n",
        "model.gravity[2]",
        ".nan",
        "fini",
    ),
    "infinite": (
        START + "actuators: {m: {joint: a, effort_limit: .inf}}\n",
        "actuators.m.effort_limit",
        ".inf",
        "finite",
    ),
    "too large": (START + "model: {length: 1e999}\n", "model.length", "1e999", "finite"),
    "of no machine": (START + "model: {length: 1e200}\n", "model.length", "1e200", "below 1e+100"),
    "number with unit": (
        START + "model: {length: 1 m}\n",
        "model.length",
        'text "1 m"',
        "give a number in m",
    ),
    "yes": (START + "initial_guess: {crank: yes}\n", "initial_guess.crank", 'text "yes"', "number"),
    "true": (START + "initial_guess: {crank: true}\n", "initial_guess.crank", "true", "number"),
    "two of three": (START + "model: {gravity: [0, -9.81]}\n", "model.gravity", "2 entries", "3"),
    "one for three": (START + "model: {gravity: -9.81}\n", "model.gravity", "-9.81", "list"),
    "zero length": (START + "model: {length: 0}\n", "model.length", "found 0", "above 0"),
    "zero limit": (
        START + "actuators: {m: {joint: a, effort_limit: 0}}\n",
        "actuators.m.effort_limit",
        "found 0",
        "above 0 in N m",
    ),
    "negative damping": (
        START + "joints: {crank: {damping: -0.1}}\n",
        "joints.crank.damping",
        "-0.1",
        "at least 0",
    ),
    "negative frequency": (
        pin(f"type: weld, {FRAMES}, stabilization: {{frequency: -1}}"),
        "constraints.pin.stabilization.frequency",
        "-1",
        "at least 0 in Hz",
    ),
    "tolerance above one": (
        START + "solver: {rank_tolerance: 2}\n",
        "solver.rank_tolerance",
        "found 2",
        "below 1",
    ),
    "fraction of a level": (
        pin(f"type: weld, {FRAMES}, level: 1.5"),
        "constraints.pin.level",
        "1.5",
        "whole number",
    ),
    "count with a decimal point": (
        swarm("5.0"),
        "constraints.pin.indices.robots",
        "5.0",
        "whole number",
    ),
    "index with a decimal point": (
        swarm("[1.0, 2.0]"),
        "constraints.pin.indices.robots[0]",
        "1.0",
        "whole number",
    ),
    "index set that explodes": (
        swarm("1000000000000"),
        "constraints.pin",
        "1000000000000 values",
        "at most 1000",
    ),
    # words
    "unknown root": (START + "model: {root: fix}\n", "model.root", '"fix"', '"fixed"'),
    "unknown method": (START + "solver: {method: lu}\n", "solver.method", '"lu"', "nullspace"),
    "unknown type": (
        pin(f"type: hing, {FRAMES}"),
        "constraints.pin.type",
        '"hing"',
        'did you mean "hinge"?',
    ),
    "no type": (pin(FRAMES), "constraints.pin", '"type" is missing', "hinge"),
    # constraints and motors
    "hinge without axis": (
        pin(f"type: hinge, {FRAMES}"),
        "constraints.pin",
        '"axis" is missing for type "hinge"',
        "axis: [0, 1, 0]",
    ),
    "axis without length": (
        pin(f"type: hinge, axis: [0, 0, 0], {FRAMES}"),
        "constraints.pin.axis",
        "no direction",
        "[0, 1, 0]",
    ),
    "distance without distance": (
        pin(f"type: distance, {FRAMES}"),
        "constraints.pin",
        '"distance" is missing',
        "distance: 0.5",
    ),
    "distance of zero": (
        pin(f"type: distance, distance: 0, {FRAMES}"),
        "constraints.pin.distance",
        "found 0",
        "above 0 in m",
    ),
    "frame without axes": (
        pin(f"type: frame, {FRAMES}"),
        "constraints.pin",
        '"axes" is missing',
        "axes: [x, z]",
    ),
    "axis twice": (
        pin(f"type: frame, axes: [x, z, x], {FRAMES}"),
        "constraints.pin.axes",
        '"x" is there twice',
        "remove one",
    ),
    "unknown axis": (
        pin(f"type: frame, axes: [x, w], {FRAMES}"),
        "constraints.pin.axes[1]",
        '"w"',
        "valid are: x, y, z, rx, ry, rz",
    ),
    "no axes": (
        pin(f"type: frame, axes: [], {FRAMES}"),
        "constraints.pin.axes",
        "empty",
        "least 1",
    ),
    "no child": (
        pin("type: weld, parent: {link: a}"),
        "constraints.pin",
        '"child" is missing',
        "child: {link: base_link}",
    ),
    "a link joined to itself": (
        pin("type: weld, parent: {link: a}, child: {link: a, xyz: [0, 0, 1]}"),
        "constraints.pin.child.link",
        'both frames are on "a"',
        "name two links",
    ),
    "frame without link": (
        pin("type: weld, parent: {xyz: [0, 0, 0]}, child: {link: b}"),
        "constraints.pin.parent",
        '"link" is missing',
        "link: base_link",
    ),
    "link as text only": (
        pin("type: weld, parent: a, child: {link: b}"),
        "constraints.pin.parent",
        'text "a"',
        "{link: base_link}",
    ),
    "two rotations": (
        pin(f"type: weld, child: {{link: b}}, parent: {{link: a, {TWO_ROTATIONS}}}"),
        "constraints.pin.parent",
        "rpy and quaternion",
        "keep one",
    ),
    "quaternion of zero": (
        pin("type: weld, parent: {link: a, quaternion: [0, 0, 0, 0]}, child: {link: b}"),
        "constraints.pin.parent.quaternion",
        "no rotation",
        "[0, 0, 0, 1]",
    ),
    "quaternion not of length one": (
        pin("type: weld, parent: {link: a}, child: {link: b, quaternion: [0, 0, 1, 1]}"),
        "constraints.pin.child.quaternion",
        "found 1.414",
        "[0, 0, 0.7071, 0.7071]",
    ),
    "coupling of nothing": (
        pin("type: joint_coupling, joints: {}"),
        "constraints.pin.joints",
        "empty mapping",
        "at least 1",
    ),
    "coupling with factors of zero": (
        pin("type: joint_coupling, joints: {a: 0, b: 0.0}"),
        "constraints.pin.joints",
        "every factor is zero",
        "such as 1.0",
    ),
    "motor without joint": (
        START + "actuators: {m: {}}\n",
        "actuators.m",
        "either one joint or several",
        "give joint: NAME",
    ),
    "motor with joint and joints": (
        START + "actuators: {m: {joint: a, joints: {b: 1}}}\n",
        "actuators.m",
        "either one joint or several",
        "not both",
    ),
    "spring without stiffness": (
        START + "joints: {crank: {spring: {rest: 0.1}}}\n",
        "joints.crank.spring",
        '"stiffness" is missing',
        "stiffness: 10.0",
    ),
}

TASKS = {
    "no tasks": (START, "", '"tasks" is missing', "tasks: {sweep:"),
    "empty tasks": (START + "tasks: {}\n", "tasks", "empty mapping", "at least 1"),
    "a mechanism file": (
        START + "constraints: {}\n",
        "",
        '"constraints"',
        "a tasks file is needed",
    ),
    "joint task without joint": (task("type: joint"), "tasks.sweep", '"joint" is missing', "crank"),
    "unknown reference": (
        task(f"{REFERENCE}: {{type: sinus}}"),
        "tasks.sweep.reference.type",
        '"sinus"',
        "sinusoid",
    ),
    "constant without value": (
        task(f"{REFERENCE}: {{type: constant}}"),
        "tasks.sweep.reference",
        '"value" is missing for type "constant"',
        "value: 0.6",
    ),
    "constant with amplitude": (
        task(f"{REFERENCE}: {{type: constant, value: 1, amplitude: 2}}"),
        "tasks.sweep.reference",
        'unknown key "amplitude" for type "constant"',
        "valid are: type, value",
    ),
    "negative reference frequency": (
        task(f"{REFERENCE}: {{type: sinusoid, amplitude: 1, frequency: -1}}"),
        "tasks.sweep.reference.frequency",
        "-1",
        "at least 0 in Hz",
    ),
    "more numbers than rows": (
        task(f"{REFERENCE}: {{type: constant, value: [1, 2]}}"),
        "tasks.sweep.reference.value",
        "2 numbers for 1 row",
        "give 1",
    ),
    "text among numbers": (
        task(f"{REFERENCE}: {{type: constant, value: [a]}}"),
        "tasks.sweep.reference.value[0]",
        'text "a"',
        "give a number",
    ),
}


def refused(capsys, *arguments):
    """Run the command line, check that it refuses in one line, and return that line."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("uk_dynamics: error: ")
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err.removeprefix("uk_dynamics: error: ").rstrip("\n")


def check_message(message, file, place, problem, remedy):
    location = f"{file}: {place}: " if place else f"{file}: "
    assert message.startswith(location)
    found, separator, advice = message.removeprefix(location).partition("; ")
    assert separator, "a remedy follows the problem"
    assert problem in found
    assert remedy in advice


@pytest.mark.slow
@pytest.mark.parametrize("case", MECHANISMS)
def test_a_malformed_mechanism_file_is_refused_in_one_line(case, tmp_path, capsys):
    text, place, problem, remedy = MECHANISMS[case]
    file = tmp_path / "five_bar.yaml"
    file.write_text(text)

    check_message(refused(capsys, "describe", str(file)), file, place, problem, remedy)
    with pytest.raises(MechanismFileError) as error:
        MechanismSpec.from_file(file)
    assert (error.value.file, error.value.place) == (str(file), place)


@pytest.mark.parametrize("case", TASKS)
def test_a_malformed_tasks_file_is_refused_in_one_line(case, tmp_path, capsys):
    text, place, problem, remedy = TASKS[case]
    file = tmp_path / "sweep.yaml"
    file.write_text(text)

    message = refused(capsys, "describe", "four_bar", "--tasks", str(file))
    check_message(message, file, place, problem, remedy)
    with pytest.raises(MechanismFileError) as error:
        TasksSpec.from_file(file)
    assert (error.value.file, error.value.place) == (str(file), place)


# --- names that the robot does not have --------------------------------------------------------

FOUR_BAR = START + "model: {urdf: package://uk_dynamics/urdf/four_bar.urdf.xacro}\n"
NAMES = {
    "no URDF": (START, "model", "no URDF", "add model.urdf"),
    "missing URDF": (
        START + "model: {urdf: nope.urdf}\n",
        "model.urdf",
        "nope.urdf",
        "no such entry",
    ),
    "unknown package": (
        START + "model: {urdf: package://nope/a.urdf}\n",
        "model.urdf",
        'no package "nope"',
        "source the workspace",
    ),
    "unknown scheme": (
        START + "model: {urdf: http://a/b.urdf}\n",
        "model.urdf",
        'the scheme "http"',
        "package://",
    ),
    "unknown link": (
        FOUR_BAR + "constraints: {p: {type: weld, parent: {link: grund}, child: {link: a}}}\n",
        "constraints.p.parent.link",
        'no link "grund"',
        'did you mean "ground"?',
    ),
    "unknown joint in a coupling": (
        FOUR_BAR + "constraints: {p: {type: joint_coupling, joints: {crnk: 1}}}\n",
        "constraints.p.joints",
        'no joint "crnk"',
        'did you mean "crank"?',
    ),
    "unknown joint of a motor": (
        FOUR_BAR + "actuators: {m: {joint: elbow}}\n",
        "actuators.m.joint",
        'no joint "elbow"',
        "there are: crank, coupler, rocker",
    ),
    "unknown joint of the guess": (
        FOUR_BAR + "initial_guess: {crnk: 0.3}\n",
        "initial_guess",
        'no joint "crnk"',
        'did you mean "crank"?',
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_that_does_not_exist_is_refused_in_one_line(case, tmp_path, capsys):
    text, place, problem, remedy = NAMES[case]
    file = tmp_path / "four_bar.yaml"
    file.write_text(text)
    check_message(refused(capsys, "describe", str(file)), file, place, problem, remedy)


def test_a_task_on_an_unknown_link_is_refused_in_one_line(tmp_path, capsys):
    file = tmp_path / "tasks.yaml"
    file.write_text(task("type: point, parent: {link: ground}, child: {link: rocker_lnk}"))
    message = refused(capsys, "describe", "four_bar", "--tasks", str(file))
    check_message(message, file, "tasks.sweep.child.link", '"rocker_lnk"', '"rocker_link"')


def test_loops_that_cannot_close_are_told_with_their_gap(tmp_path, capsys):
    file = tmp_path / "four_bar.yaml"
    # The crank turns about the ground's origin: a point 1 m out on it is always 99 m short.
    tip = "{link: crank_link, xyz: [1, 0, 0]}"
    rod = f"{{type: distance, distance: 100, parent: {{link: ground}}, child: {tip}}}"
    file.write_text(FOUR_BAR + f"constraints: {{rod: {rod}}}\n")
    message = refused(capsys, "describe", str(file))
    assert message.startswith(f"{file}: the mechanism does not close (rod by 99,")
    assert "no joint that is free moves what rod connects" in message


# --- files that are no files ------------------------------------------------------------------


def test_masses_that_are_finite_one_by_one_but_not_together_are_told(tmp_path, capsys):
    heavy = '<inertial><mass value="1e308"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
    heavy += 'iyz="0"/><origin xyz="0 0 9"/></inertial>'
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="arm"><link name="base"/><link name="tip">{heavy}</link>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint>'
        "</robot>"
    )
    file = tmp_path / "arm.yaml"
    file.write_text(START + "model: {urdf: arm.urdf}\n")
    message = refused(capsys, "describe", str(file))
    check_message(message, file, "model.urdf", "not finite", "check the masses")


def test_a_missing_file_is_told_with_the_nearest_name(tmp_path, capsys):
    (tmp_path / "five_bar.yaml").write_text(START)
    file = str(tmp_path / "five_bars.yaml")
    message = refused(capsys, "describe", file)
    check_message(message, file, "", "no such file", 'did you mean "five_bar.yaml"?')


def test_a_missing_directory_is_told(tmp_path, capsys):
    file = str(tmp_path / "nowhere" / "five_bar.yaml")
    check_message(refused(capsys, "describe", file), file, "", "no such file", "its directory")


def test_an_unknown_shipped_name_is_told_with_the_nearest_one(capsys):
    check_message(refused(capsys, "describe", "five_baar"), "five_baar", "", "neither", "five_bar")


def test_an_unknown_package_is_told(capsys):
    file = "package://no_such_package/five_bar.yaml"
    check_message(refused(capsys, "describe", file), file, "", '"no_such_package"', "install")


def test_a_directory_is_refused(tmp_path, capsys):
    message = refused(capsys, "describe", str(tmp_path))
    check_message(message, tmp_path, "", "is a directory", "a YAML file in it")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path, capsys):
    file = tmp_path / "pipe.yaml"
    os.mkfifo(file)
    check_message(refused(capsys, "describe", str(file)), file, "", "regular file", "YAML file")


@pytest.mark.parametrize(
    "command",
    [
        "plot {} --out picture.png",
        "identify four_bar {}",
        "calibrate four_bar {}",
        "import {} --out there",
        "calibrate four_bar run.npz --tracker {} --link coupler_link",
    ],
)
@pytest.mark.parametrize("device", ["/dev/zero", "pipe"])
def test_devices_and_pipes_are_not_read_to_their_end(
    command, device, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    assert main(command.format(device).split()) == 2
    assert capsys.readouterr().err == f"uk_dynamics: error: {device}: is not a regular file\n"


@pytest.mark.parametrize(
    "line",
    [
        "describe four_bar --samples 1000000000",
        "workspace rrr3 --frame platform --samples 1" + "0" * 5000,
        "workspace rrr3 --frame platform --point 0 nan 0",
        "simulate four_bar --rtol 1e-30",
        "simulate four_bar --method rk4 --step 1e-12",
        "identify four_bar --excite 1e9",
        "check four_bar --tolerance 1e30",
        "describe four_bar --set crank=1e300",
        "simulate four_bar --duration 1e-300",
    ],
)
def test_numbers_without_sense_are_refused_at_once(line, capsys):
    try:
        status = main(line.split())
    except SystemExit as end:
        status = end.code
    assert status == 2
    (problem,) = capsys.readouterr().err.splitlines()
    assert "error: " in problem


def test_an_unreadable_file_is_refused(tmp_path, capsys):
    file = tmp_path / "secret.yaml"
    file.write_text(START)
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    message = refused(capsys, "describe", str(file))
    check_message(message, file, "", "permission denied", "permissions")


def test_a_path_through_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(START)
    file = str(tmp_path / "a.yaml" / "b.yaml")
    check_message(refused(capsys, "describe", file), file, "", "not a directory", "check the path")


@pytest.mark.parametrize(
    "content", [b"\x7fELF\x02\x01\x01\xff\xfe", "schema: é".encode("latin-1"), b"\xff\xfes\x00"]
)
def test_a_file_that_is_no_utf_8_text_is_refused(content, tmp_path, capsys):
    file = tmp_path / "five_bar.yaml"
    file.write_bytes(content)
    check_message(refused(capsys, "describe", str(file)), file, "", "UTF-8", "save the file as")
