# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanism and tasks files: what is written in them is what the specification says."""

import dataclasses
import json
import math
import re
from importlib import resources

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.cli.main import main
from uk_dynamics.constraints.kinds.frames.distance import Distance
from uk_dynamics.constraints.kinds.frames.frame import Frame
from uk_dynamics.constraints.kinds.joints.joint import Joint
from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling
from uk_dynamics.constraints.kinds.pairs.hinge import Hinge
from uk_dynamics.constraints.kinds.pairs.weld import Weld
from uk_dynamics.constraints.kinds.registry import definitions
from uk_dynamics.constraints.references import Constant, Sinusoid
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.files import SolverSpec, StabilizationSpec
from uk_dynamics.mechanism.files.frame_specification import FrameSpec, quaternion_from_rpy
from uk_dynamics.mechanism.files.schema_check import load_schema
from uk_dynamics.mechanism.files.specification import ActuatorSpec, JointSpec, MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.files.yaml_file import parse_yaml

FIVE_BAR = """
schema: 1
model:
  urdf: ../urdf/five_bar.urdf
  gravity: [0, 0, -1.62]
  root: planar
  length: 0.5
joints:
  crank: {armature: 0.01, damping: 0.1, spring: {stiffness: 10, rest: 0.2}, stop: {stiffness: 1e4}}
actuators:
  crank_motor: {joint: crank, effort_limit: 20}
  differential: {joints: {left: 1, right: -2.5}}
initial_guess: {crank: 0.6}
defaults:
  stabilization: {frequency: 2.0}
constraints:
  right_pin:
    type: frame
    axes: [z, x]
    parent: {link: ground, xyz: [2, 0, 0], rpy: [0, 0, 1.5707963267948966]}
    child: {link: right_leg_tip}
    level: 2
  knee:
    type: hinge
    axis: [0, 2, 0]
    parent: {link: a}
    child: {link: b, quaternion: [0, 0, 0.70711, 0.70711]}
    stabilization: {damping_ratio: 0.7}
  rod: {type: distance, distance: 3, parent: {link: a}, child: {link: b}}
  gears: {type: joint_coupling, joints: {left: 1, right: -2}, offset: 0.5}
solver: {method: nullspace, rank_tolerance: 1e-5}
"""


def test_every_section_of_a_mechanism_file_arrives_in_the_specification():
    spec = MechanismSpec.from_text(FIVE_BAR, file="config/five_bar.yaml")

    assert (spec.file, spec.name) == ("config/five_bar.yaml", "five_bar")
    assert spec.model.gravity == (0.0, 0.0, -1.62)
    assert (spec.model.root, spec.model.length) == ("planar", 0.5)
    assert spec.joints == (
        (
            "crank",
            JointSpec(0.01, 0.1, None, spring_stiffness=10, spring_rest=0.2, stop_stiffness=1e4),
        ),
    )
    assert spec.actuators == (
        ActuatorSpec("crank_motor", (("crank", 1.0),), 20.0),
        ActuatorSpec("differential", (("left", 1.0), ("right", -2.5)), None),
    )
    assert spec.initial_guess == (("crank", 0.6),)
    assert spec.solver == SolverSpec("nullspace", 1e-5, 1e-6, 1e-6)


def test_constraints_keep_their_order_and_take_what_they_leave_out_from_the_defaults():
    pin, knee, rod, gears = MechanismSpec.from_text(FIVE_BAR).constraints

    assert [c.name for c in (pin, knee, rod, gears)] == ["right_pin", "knee", "rod", "gears"]
    assert (pin.kind, pin.level) == (Frame(("z", "x")), 2)
    assert pin.parent.xyz == (2.0, 0.0, 0.0)
    assert pin.child == FrameSpec("right_leg_tip")
    assert pin.stabilization == StabilizationSpec(2.0, 1.0)
    assert knee.stabilization == StabilizationSpec(2.0, 0.7)
    assert knee.kind == Hinge((0.0, 1.0, 0.0))
    assert rod.kind == Distance(3.0)
    assert gears.kind == JointCoupling((("left", 1.0), ("right", -2.0)), 0.5)
    assert (gears.parent, gears.child) == (None, None)


def test_a_file_with_nothing_but_its_version_has_the_documented_defaults():
    spec = MechanismSpec.from_text("schema: 1")

    assert spec.model.gravity == (0.0, 0.0, -9.81)
    assert (spec.model.urdf, spec.model.root, spec.model.length) == (None, "fixed", 1.0)
    assert spec.stabilization == StabilizationSpec(5.0, 1.0)
    assert spec.solver == SolverSpec("auto", 1e-4, 1e-6, 1e-6)
    assert (spec.constraints, spec.actuators, spec.joints, spec.initial_guess) == ((), (), (), ())


def test_specifications_cannot_be_changed():
    spec = MechanismSpec.from_text(FIVE_BAR)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.constraints[0].level = 3
    hash(spec)  # frozen all the way down: no list or dict inside


def test_tasks_have_one_reference_number_per_row():
    tasks = TasksSpec.from_text("""
schema: 1
defaults: {stabilization: {frequency: 8}}
tasks:
  sweep: {type: joint, joint: crank,
          reference: {type: sinusoid, offset: 0.6, amplitude: 0.3, frequency: 0.5}}
  tool:
    type: frame
    axes: [x, y, rz]
    parent: {link: world}
    child: {link: tool}
    reference: {type: constant, value: [0.1, 0.2, 0.3]}
    stabilization: {frequency: 1}
  hold: {type: weld, parent: {link: a}, child: {link: b}}
""").tasks
    sweep, tool, hold = tasks

    assert isinstance(sweep.reference, Sinusoid)
    assert (sweep.reference.offset, sweep.reference.amplitude) == (0.6, 0.3)
    assert (sweep.reference.frequency, sweep.reference.phase) == (0.5, 0.0)
    assert (sweep.type, sweep.kind) == ("joint", Joint("crank"))
    assert sweep.stabilization.frequency == 8.0
    assert isinstance(tool.reference, Constant)
    assert tool.reference.value.tolist() == [0.1, 0.2, 0.3]
    assert tool.stabilization.frequency == 1.0
    assert (hold.reference, hold.kind, hold.kind.row_count) == (None, Weld(), 6)


def test_a_single_number_holds_for_every_row():
    (task,) = TasksSpec.from_text("""
schema: 1
tasks:
  swing: {type: point, parent: {link: a}, child: {link: b},
          reference: {type: sinusoid, amplitude: [1, 2, 3], frequency: 2}}
""").tasks
    assert task.reference.amplitude.tolist() == [1.0, 2.0, 3.0]
    assert task.reference.frequency.tolist() == [2.0, 2.0, 2.0]
    assert task.reference.offset.tolist() == [0.0, 0.0, 0.0]


# --- the YAML dialect -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4),
        ("1.0e-4", 1e-4),
        ("+.5", 0.5),
        ("-3", -3),
        ("010", 10),  # not octal
        ("1:30", "1:30"),  # not base 60
        ("1_000", "1_000"),
        ("no", "no"),
        ("off", "off"),
        ("yes", "yes"),
        ("2024-01-01", "2024-01-01"),
        ("true", True),
        ("~", None),
        ("'1'", "1"),
        ("!!float 1", 1.0),
    ],
)
def test_scalars_are_read_by_the_rules_of_yaml_1_2(text, value):
    data = parse_yaml(f"x: {text}")
    assert data == {"x": value}
    assert type(data["x"]) is type(value)


def test_keys_are_text_whatever_they_look_like():
    assert parse_yaml("{no: 1, 12: 2, true: 3, y: 4}") == {"no": 1, "12": 2, "true": 3, "y": 4}


def test_aliases_in_moderation_are_read():
    pins = MechanismSpec.from_text("""
schema: 1
constraints:
  left: {type: point, parent: &base {link: base, xyz: [0, 1, 0]}, child: {link: a}}
  right: {type: point, parent: *base, child: {link: b}}
""").constraints
    assert pins[0].parent == pins[1].parent


def problem_of(action):
    """What a mechanism file error says; empty when there is none."""
    try:
        action()
    except MechanismFileError as error:
        return str(error)
    return ""


YAML_LIKE = st.text(alphabet="schema: 1\n\t-[]{}*&!|>'\"#%@`,?~.0e\\x\x00é\U0001f600", max_size=80)


@settings(max_examples=300, deadline=None)
@given(text=YAML_LIKE, prefix=st.sampled_from(["", "schema: 1\n", "schema: 1\nconstraints:\n"]))
def test_no_text_whatsoever_gives_anything_but_a_specification_or_one_line(text, prefix):
    for kind in (MechanismSpec, TasksSpec):
        message = problem_of(lambda kind=kind: kind.from_text(prefix + text, file="f.yaml"))
        assert message == "" or message.startswith("f.yaml: ")
        assert "\n" not in message


KEYS = ["type", "parent", "child", "axis", "axes", "link", "xyz", "quaternion", "joints", "joint"]
KEYS += ["level", "stabilization", "frequency", "stiffness", "spring", "a", "9", "A\nb"]
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["x", "hinge", "frame", "a\nb", "", "constant"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    value=JSON_VALUES,
    section=st.sampled_from(list(load_schema("mechanism")["properties"])),
    named=st.booleans(),
)
def test_no_value_in_any_section_gives_anything_but_a_specification_or_one_line(
    value, section, named
):
    text = json.dumps({"schema": 1} | {section: {"pin": value} if named else value})
    message = problem_of(lambda: MechanismSpec.from_text(text, file="f.yaml"))
    assert "\n" not in message
    assert message == "" or ";" in message, "every problem comes with a remedy"


# --- frames -----------------------------------------------------------------------------------


def rotation_matrix(quaternion):
    x, y, z, w = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def turn(axis, angle):
    """Rotation about a coordinate axis, written with cosine and sine."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[[i, j], [i, j]] = math.cos(angle)
    matrix[j, i], matrix[i, j] = math.sin(angle), -math.sin(angle)
    return matrix


ANGLES = st.floats(-7, 7)


@given(roll=ANGLES, pitch=ANGLES, yaw=ANGLES)
def test_rpy_turns_about_the_fixed_x_then_y_then_z_axis(roll, pitch, yaw):
    expected = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
    found = rotation_matrix(quaternion_from_rpy((roll, pitch, yaw)))
    # A few products of numbers of at most 1: rounding only.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@given(
    values=st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(
        lambda v: math.hypot(*v) > 0.1
    ),
    scale=st.floats(0.91, 1.09),
)
def test_a_rounded_quaternion_is_brought_to_length_one(values, scale):
    unit = np.array(values) / math.hypot(*values)
    text = json.dumps((unit * scale).tolist())
    (pin,) = MechanismSpec.from_text(f"""
schema: 1
constraints: {{pin: {{type: weld, parent: {{link: a, quaternion: {text}}}, child: {{link: b}}}}}}
""").constraints
    np.testing.assert_allclose(pin.parent.quaternion, unit, rtol=0, atol=1e-15)


# --- files ------------------------------------------------------------------------------------


def test_paths_in_a_file_start_from_its_directory(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "five_bar.urdf").write_text("<robot/>")
    file = tmp_path / "config" / "five_bar.yaml"
    file.write_text(FIVE_BAR)
    assert MechanismSpec.from_file(file).urdf_path().samefile(tmp_path / "urdf" / "five_bar.urdf")


def test_a_missing_urdf_is_told_by_its_name(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text("schema: 1\nmodel: {urdf: nowhere.urdf}")
    with pytest.raises(InputError, match=r"nowhere\.urdf"):
        MechanismSpec.from_file(file).urdf_path()
    with pytest.raises(InputError, match="add model"):
        MechanismSpec.from_text("schema: 1").urdf_path()


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_bytes(b"\xef\xbb\xbfschema: 1\r\ninitial_guess: {crank: 1}\r\n")
    assert MechanismSpec.from_file(file).initial_guess == (("crank", 1.0),)


# --- the schema, as an editor sees it ---------------------------------------------------------


def schema_files():
    folder = resources.files("uk_dynamics.mechanism.files") / "schema"
    names = ("common", "forces", "constraint", "mechanism", "tasks")
    files = {name: json.loads((folder / f"{name}.schema.json").read_text()) for name in names}
    files["constraint"]["definitions"] |= definitions()
    return files


def parts(schema):
    """All schemas inside a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from parts(value)


@pytest.mark.parametrize("kind", ["forces", "constraint", "mechanism", "tasks"])
def test_the_schema_is_valid_and_every_reference_leads_somewhere(kind):
    files = schema_files()
    jsonschema.Draft7Validator.check_schema(files[kind])
    for part in parts(files[kind]):
        if isinstance(part.get("$ref"), str):
            name, _, target = part["$ref"].rpartition("#/definitions/")
            home = files[name.removesuffix(".schema.json") if name else kind]
            assert target in home["definitions"], part["$ref"]
    # One document is made of all for checking: a name used twice would hide a definition.
    names = [
        n for file in {"common", "forces", "constraint", kind} for n in files[file]["definitions"]
    ]
    assert len(names) == len(set(names))


def test_the_schema_tells_the_gains_that_a_task_has_without_being_told():
    gains = load_schema("tasks")["definitions"]["stabilization"]["properties"]
    assert {key: part["default"] for key, part in gains.items()} == dataclasses.asdict(
        StabilizationSpec()
    )


@pytest.mark.parametrize("kind", ["mechanism", "tasks", "sweep", "reality"])
def test_the_schema_that_editors_get_is_complete_in_itself(kind, capsys):
    assert main(["schema", kind]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft7Validator.check_schema(schema)
    for part in parts(schema):
        if isinstance(part.get("$ref"), str):
            place, _, name = part["$ref"].rpartition("/")
            assert place == "#/definitions"
            assert name in schema["definitions"]


@pytest.mark.parametrize("kind", ["mechanism", "tasks", "reality"])
def test_every_key_has_a_title_and_a_description_for_editors(kind):
    schema = load_schema(kind)
    for part in parts(schema):
        for key, value in part.get("properties", {}).items():
            if not isinstance(value, dict) or not value or set(value) <= {"const", "enum"}:
                continue  # a condition, or described where the kind is chosen
            target = value
            if "$ref" in value:
                target = schema["definitions"][value["$ref"].rsplit("/", 1)[1]]
            assert target.get("title"), key
            assert target.get("description"), key


@pytest.mark.parametrize("kind", ["mechanism", "tasks"])
def test_examples_and_defaults_of_the_schema_are_valid_by_it(kind):
    schema = load_schema(kind)
    checked = 0
    for part in parts(schema):
        for value in [*part.get("examples", ()), *([part["default"]] if "default" in part else [])]:
            jsonschema.Draft7Validator(part | {"definitions": schema["definitions"]}).validate(
                value
            )
            checked += 1
    assert checked > 10


def test_units_in_descriptions_and_messages_agree():
    for part in parts(load_schema("mechanism")):
        unit = part.get("x-unit")
        if unit and "description" in part:
            words = re.split(r" or ", unit)
            assert all(word in part["description"] for word in words), part["title"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("restitution: 1.5", r"restitution: found 1\.5; give a number of at most 1"),
        ("friction: -0.1", r"friction: found -0\.1; give a number of at least 0"),
        ("surface: {radius: 1, facets: 6}", r'surface: unknown key "facets"; valid are: type'),
        ("surface: {file: a.stl, type: mesh}", r'surface\.type: unknown "mesh"; valid are: sphere'),
        ("surface: {type: ball, radius: 1}", r'surface\.type: unknown "ball"; valid are: sphere'),
    ],
)
def test_mistakes_in_contacts_are_told_with_what_was_found_and_what_is_valid(entry, problem):
    contact = f"{{parent: {{link: world}}, child: {{link: foot}}, {entry}}}"
    with pytest.raises(MechanismFileError, match=r"contacts\.sole\." + problem):
        MechanismSpec.from_text(f"schema: 1\ncontacts: {{sole: {contact}}}\n")


def test_bodies_of_collision_shapes_stand_where_their_links_do() -> None:
    pair = "{parent: {link: a, xyz: [1, 0, 0]}, child: {link: b}, surface: {type: collision}}"
    with pytest.raises(MechanismFileError, match=r"contacts\.pair\.parent\.xyz: .*leave xyz out"):
        MechanismSpec.from_text(f"schema: 1\ncontacts: {{pair: {pair}}}\n")


def test_the_name_of_an_example_is_answered_with_its_path() -> None:
    with pytest.raises(MechanismFileError, match=r"an example, .*/plantigrade/plantigrade\.yaml"):
        MechanismSpec.from_file("plantigrade")
