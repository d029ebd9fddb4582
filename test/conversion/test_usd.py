# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""USD imported: units, frames, mass properties, joints and drives as UsdPhysics defines them."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import near

from uk_dynamics.conversion.importing import import_file
from uk_dynamics.exceptions import InputError

pytest.importorskip("pxr", reason="usd-core reads USD")

BODY = """
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
        double3 xformOp:translate = ({place})
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {mass}
        {more}
    }}"""
# kg, m
MASS = """float physics:mass = {m}
        point3f physics:centerOfMass = ({c}, 0, 0)
        float3 physics:diagonalInertia = ({i}, {i}, {i})"""
JOINT = """
    def Physics{kind}Joint "{name}" ({schemas}) {{
        {ends}
        point3f physics:localPos0 = ({at0})
        point3f physics:localPos1 = ({at1})
        {more}
    }}"""


def body(name, place="0, 0, 0", mass=None, more=""):
    mass = MASS.format(m=2, c=0.5, i=0.25) if mass is None else mass
    return BODY.format(name=name, place=place, mass=mass, more=more)


def joint(name, one, two, at0, at1="0, 0, 0", kind="Revolute", more="", schemas=""):
    ends = [f"rel physics:body{k} = </m/{end}>" for k, end in enumerate((one, two)) if end]
    turns = kind in ("Revolute", "Prismatic")
    axis = 'uniform token physics:axis = "Y"\n        ' if turns else ""
    schemas = f'prepend apiSchemas = ["{schemas}"]' if schemas else ""
    more = axis + more
    ends = "\n        ".join(ends)
    return JOINT.format(
        kind=kind, name=name, ends=ends, at0=at0, at1=at1, more=more, schemas=schemas
    )


def scene(parts, head='metersPerUnit = 1\n    upAxis = "Z"'):
    return f'#usda 1.0\n(\n    defaultPrim = "m"\n    {head}\n)\ndef Xform "m" {{{parts}\n}}\n'


def imported(tmp_path, text, name="m.usda"):
    path = tmp_path / name
    path.write_text(text)
    found = import_file(path)
    return found, found.load()


def square(exclude=""):
    """Four bars of 1 m in a square on the ground, bars named after their order."""
    cut = "bool physics:excludeFromArticulation = 1"
    corners = {"j1": (None, "a", "0, 0, 0"), "j2": ("a", "b", "1, 0, 0")}
    parts = body("a", "0, 0, 0") + body("b", "1, 0, 0") + body("c", "2, 0, 0")
    corners |= {"j3": ("b", "c", "1, 0, 0")}
    for name, (one, two, at) in corners.items():
        parts += joint(name, one, two, at, more=cut if name == exclude else "")
    return parts + joint("j4", None, "c", "0, 0, -0.5", "1, 0, 0", more=cut * (exclude == "j4"))


def test_the_file_says_where_loops_are_cut(tmp_path):
    """Or the importer, where nobody does: the last joint that closes a loop."""
    _, nobody = imported(tmp_path, scene(square()))
    _, marked = imported(tmp_path, scene(square("j2")))
    assert [c.name for c in nobody.constraints.constraints] == ["j4"]
    assert [c.name for c in marked.constraints.constraints] == ["j2"]
    q, other = nobody.assemble(), marked.assemble()
    assert nobody.model.nv == marked.model.nv == 3
    solutions = [m.dynamics().evaluate(m.state(x)) for m, x in ((nobody, q), (marked, other))]
    assert solutions[0].rank == solutions[1].rank == 2
    assert marked.start().q.shape == (3,)


def test_centimetres_grams_and_y_up_are_the_same_machine(tmp_path):
    """A pendulum with a slider on it, in m, kg, z up and in cm, g, y up."""
    drive = "float drive:linear:physics:maxForce = {f}"
    parts = body("arm") + body("slider", "1, 0, 0") + joint("pin", None, "arm", "0, 0, 0")
    limits = "float physics:lowerLimit = -0.5\n        float physics:upperLimit = 0.25\n        "
    parts += joint(
        *("rail", "arm", "slider", "1, 0, 0"),
        kind="Prismatic",
        more=limits + drive.format(f=3),
        schemas="PhysicsDriveAPI:linear",
    )
    # x stays, z becomes y, y becomes -z
    small = MASS.format(m=2000, c=50, i=0.25 * 1e7)
    other = body("arm", mass=small) + body("slider", "100, 0, 0", mass=small)
    other += joint("pin", None, "arm", "0, 0, 0").replace('"Y"', '"Z"')
    limits = "float physics:lowerLimit = -50\n        float physics:upperLimit = 25\n        "
    other += joint(
        *("rail", "arm", "slider", "100, 0, 0"),
        kind="Prismatic",
        more=limits + drive.format(f=3e5),
        schemas="PhysicsDriveAPI:linear",
    ).replace('"Y"', '"Z"')
    head = 'metersPerUnit = 0.01\n    kilogramsPerUnit = 0.001\n    upAxis = "Y"'
    _, one = imported(tmp_path, scene(parts))
    _, two = imported(tmp_path, scene(other, head))
    assert one.joint_names == two.joint_names == ("pin", "rail")
    assert two.actuators.effort_limits == pytest.approx([3.0])
    assert two.model.lower[1] == pytest.approx(-0.5)
    v = np.array([0.7, 0.3])
    for q in ([0.2, 0.1], [-1.0, 0.2]):
        # y up, z is -y: a turn about it is the other way round, the slide is across the plane
        expected = one.dynamics().evaluate(one.state(q, v)).qdd
        there = np.array([-1.0, -1.0])
        found = two.dynamics().evaluate(two.state(there * q, there * v)).qdd
        near(found, there * expected, relative=1e-6)  # single precision of the file


def test_what_gives_no_mass_is_named(tmp_path):
    with pytest.raises(InputError, match=r"m\.usda: body a: no mass, and no shapes"):
        imported(tmp_path, scene(body("a", mass="")))
    with pytest.raises(InputError, match=r"body a: no inertia"):
        imported(tmp_path, scene(body("a", mass="float physics:mass = 2")))


def test_colliders_give_mass_properties(tmp_path):
    """A box of 0.2 × 0.4 × 0.6 m at x = 1 with a density of 500 kg/m³."""
    cube = """def Cube "box" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
            double3 xformOp:translate = (1, 0, 0)
            float3 xformOp:scale = (0.1, 0.2, 0.3)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }"""
    text = scene(body("a", mass="float physics:density = 500", more=cube))
    found, machine = imported(tmp_path, text)
    (link,) = [link for link in machine.model.description.links if link.name == "a"]
    mass = 500 * 0.2 * 0.4 * 0.6
    assert link.mass == pytest.approx(mass, rel=1e-6)  # single precision
    np.testing.assert_allclose(link.center_of_mass, [1, 0, 0], atol=1e-6)
    moments = mass / 12 * np.array([0.4**2 + 0.6**2, 0.2**2 + 0.6**2, 0.2**2 + 0.4**2])
    np.testing.assert_allclose(link.inertia, np.diag(moments), atol=1e-5)
    assert any("colliders" in remark.reason for remark in found.remarks)


@pytest.mark.parametrize(
    ("free", "nv"),
    [
        ((), 6),
        (("rotX",), 7),
        (("transZ",), 7),
        (("rotY", "rotZ"), 8),
        (("rotX", "rotY", "rotZ"), 9),
    ],
)
def test_joints_of_six_freedoms(free, nv, tmp_path):
    words = [f"{kind}{axis}" for kind in ("trans", "rot") for axis in "XYZ"]
    locked = [word for word in words if word not in free]
    schemas = '", "'.join(f"PhysicsLimitAPI:{word}" for word in locked)
    more = "\n        ".join(
        f"float limit:{w}:physics:low = 1\n        float limit:{w}:physics:high = -1"
        for w in locked
    )
    parts = body("a") + body("b", "1, 0, 0")
    parts += joint("d6", "a", "b", "1, 0, 0", kind="", more=more, schemas=schemas)
    _, machine = imported(tmp_path, scene(parts))
    assert machine.model.nv == nv


def test_a_joint_of_no_kind_of_ours_is_refused(tmp_path):
    words = ("transX", "transY", "rotX")
    more = "\n        ".join(
        f"float limit:{w}:physics:low = 1\n        float limit:{w}:physics:high = -1" for w in words
    )
    schemas = '", "'.join(f"PhysicsLimitAPI:{word}" for word in words)
    parts = body("a") + body("b") + joint("d6", "a", "b", "0, 0, 0", "0, 0, 0", "", more, schemas)
    with pytest.raises(InputError, match="joint d6: leaves transZ, rotY, rotZ free: no such joint"):
        imported(tmp_path, scene(parts))


def test_no_scene(tmp_path):
    for text, problem in (("#usda 1.0\n", "no rigid body"), ("not usd", "USD does not open it")):
        with pytest.raises(InputError, match=problem) as refusal:
            imported(tmp_path, text)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        (b"xformOp:translate", b"xformOp:tran0e"),
        (b"def ", b"d\xb3ef "),
        (b"{", b"{{ \x86"),
    ],
)
def test_damaged_scenes_are_refused_in_a_line(whole, damaged, tmp_path):
    text = scene(body("a") + body("b", "1, 0, 0")).encode()
    assert whole in text
    file = tmp_path / "m.usda"
    file.write_bytes(text.replace(whole, damaged))
    with pytest.raises(InputError, match=r"^m\.usda: "):
        import_file(file)


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [('physics:axis = "Y"', 'physics:axis = "Q"'), ('token axis = "X"', 'token axis = "XY"')],
)
def test_an_axis_of_another_name_is_refused_with_its_place(whole, damaged, tmp_path):
    shape = """def Cylinder "shape" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
            uniform token axis = "X"
        }"""
    text = scene(body("a", more=shape) + body("b", "1, 0, 0") + joint("j", "a", "b", "1, 0, 0"))
    assert whole in text
    file = tmp_path / "m.usda"
    file.write_text(text.replace(whole, damaged))
    with pytest.raises(
        InputError, match=r"^m\.usda: .*axis: expected X, Y or Z, found \"(Q|XY)\"$"
    ):
        import_file(file)


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_an_inertia_that_is_not_finite_is_refused(number, tmp_path, recwarn):
    file = tmp_path / "m.usda"
    text = scene(body("a", mass=MASS.format(m=2, c=0.5, i=number)) + body("b", "1, 0, 0"))
    file.write_text(text)
    with pytest.raises(InputError, match=r"^m\.usda: body a: its mass or inertia has numbers"):
        import_file(file)
    assert not recwarn


@pytest.mark.parametrize("unit", ["metersPerUnit", "kilogramsPerUnit"])
@pytest.mark.parametrize("value", ["1e308", "0", "-1", "1e-320", "inf"])
def test_units_without_sense_are_refused(tmp_path, unit, value):
    head = f'{unit} = {value}\n    upAxis = "Z"'
    with pytest.raises(InputError, match=unit):
        imported(tmp_path, scene(body("a"), head))
