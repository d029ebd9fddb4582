# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts in MJCF: MuJoCo finds the gaps and normals that they have here."""

from __future__ import annotations

import numpy as np
import pytest
from support.exported import written

from uk_dynamics.conversion import export_mechanism, import_file
from uk_dynamics.conversion.export.mjcf_contacts import LEAST
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism

mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")

INERTIAL = (
    '<inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
    "</inertial>"
)
SLIDE = (
    '<joint name="{0}" type="prismatic"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/>'
)
SLIDE += '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
# a table that goes up and down, and a ball that moves along all axes
ROBOT = (
    '<robot name="r"><link name="base"/>'
    + "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("table", "x", "xy", "ball"))
    + SLIDE.format("up", "base", "table", "0 0 1")
    + SLIDE.format("bx", "base", "x", "1 0 0")
    + SLIDE.format("by", "x", "xy", "0 1 0")
    + SLIDE.format("bz", "xy", "ball", "0 0 1")
    + "</robot>"
)
TILTED = {"link": "base", "xyz": [0.0, 0.1, -0.4], "rpy": [0.3, -0.2, 0.1]}
SHAPES = {
    "point on a plane": {"child": {"link": "ball", "xyz": [0.1, 0, 0]}},
    "sphere on a plane": {"radius": 0.1},
    "capsule on a plane": {"radius": 0.1, "length": 0.3},
    "on a plane that moves": {"parent": {**TILTED, "link": "table"}, "radius": 0.1},
    "sphere on a sphere": {"radius": 0.1, "surface": {"type": "sphere", "radius": 0.3}},
    "sphere on a capsule": {
        "radius": 0.1,
        "surface": {"type": "capsule", "radius": 0.2, "length": 0.3},
    },
    "sphere on a cylinder": {
        "parent": {**TILTED, "rpy": [1.5, 0.2, 0.0]},  # it lies
        "radius": 0.1,
        "surface": {"type": "cylinder", "radius": 0.2},
    },
    "sphere on a box": {"radius": 0.1, "surface": {"type": "box", "size": [0.4, 0.5, 0.3]}},
}


def machine(contact: dict[str, object]) -> Mechanism:
    entry = {"parent": TILTED, "child": {"link": "ball"}, "friction": 0.6} | contact
    return Mechanism.from_data({"contacts": {"it": entry}}, robot_description=ROBOT)


@pytest.mark.parametrize("shapes", SHAPES)
def test_gaps_are_those_of_mujoco(shapes, tmp_path):
    ours = machine(SHAPES[shapes])
    export = export_mechanism(ours, "mjcf")
    assert not export.missing
    path = written(export, tmp_path)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.pair_margin[:] = 10.0  # how far off MuJoCo looks
    data = mujoco.MjData(model)
    again = import_file(path, contacts=True).load()
    assert model.npair == len(ours.one_sided) == len(again.spec.contacts)
    np.testing.assert_array_equal(model.pair_friction[:, :2], 0.6)
    thin = LEAST if shapes.startswith("point") else 0.0
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = rng.uniform(-0.4, 0.4, 4)
        q[ours.model.position_index("bz")] += 0.6  # above all of them
        for name in ("up", "bx", "by", "bz"):
            data.joint(name).qpos = q[ours.model.position_index(name)]
        mujoco.mj_forward(model, data)
        found = {int(geom): one for one in data.contact for geom in one.geom}
        places = ContactDynamics(ours).places(State(0.0, q, np.zeros(4)))
        assert (places.gap > 0.0).all()
        for k, one in enumerate(ours.one_sided):
            geom = model.geom(f"{one.name} child").id
            # rounding of sines and roots of lengths of 1 m, and of MuJoCo's search for the nearest
            assert found[geom].dist == pytest.approx(places.gap[k] - thin, abs=1e-9)
        same = ContactDynamics(again).places(State(0.0, q, np.zeros(4))).gap[: model.npair]
        np.testing.assert_allclose(np.sort(same), np.sort(places.gap - thin), atol=1e-9)


@pytest.mark.parametrize(
    ("contact", "lost"),
    [
        ({"radius": 0.1, "surface": {"type": "sphere", "radius": 0.3, "hollow": True}}, "surface"),
        (
            {
                "radius": 0.1,
                "surface": {"type": "height_field", "heights": [[0] * 3] * 3, "size": [1, 1]},
            },
            "surface",
        ),
        ({"radius": 0.1, "restitution": 0.5}, "restitution"),
    ],
)
def test_what_mujoco_does_not_have_is_named(contact, lost):
    export = export_mechanism(machine(contact), "mjcf")
    (remark,) = (one for one in export.remarks if one.lost and one.subject == "contact it")
    assert lost in remark.reason
    assert bool(export.missing) is (lost == "surface")
