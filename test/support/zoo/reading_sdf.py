# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""SDF read for free bodies; no code of the package."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from support.zoo.maximal import WORLD, Body, Coupling, Joint, Pose, Reading
from support.zoo.reading_urdf import pose, vector

_MOMENTS = {
    "ixx": (0, 0),
    "iyy": (1, 1),
    "izz": (2, 2),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyz": (1, 2),
}
_AXES = {"revolute": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2, "gearbox": 2}


def read_sdf(path: Path, *, apart: bool = False) -> Reading:
    """A model of SDF.

    Args:
        path: The file; comments that XML forbids are left out.
        apart: The links are drawn apart, and the frames that a joint names come together.
    """
    text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    text = text.replace("<sdf version", '<sdf xmlns:drake="http://drake.mit.edu" version', 1)
    root = ET.fromstring(re.sub(r'(xmlns:drake="[^"]*")(.*?)\1', r"\1\2", text, count=1))
    version = float(root.get("version").split(".")[1])
    model = next(m for m in root.iter("model") if m.findtext("static", "") not in ("1", "true"))
    return _Sdf(model, in_model=version < 5, apart=apart).read


class _Sdf:
    def __init__(self, model: ET.Element, *, in_model: bool, apart: bool) -> None:
        self.read = Reading(apart=apart)
        self.in_model = in_model
        self.nodes = {node.get("name"): node for node in model if node.get("name")}
        placed = _pose(model.find("pose"))
        for link in model.iterfind("link"):
            name = link.get("name")
            self.read.bodies[name] = _body(link.find("inertial"))
            if not apart:
                self.read.drawn[name] = placed @ self.place(name)
        for node in model.iterfind("joint"):
            name, kind = node.get("name"), node.get("type")
            ends = [node.findtext(role).strip() for role in ("parent", "child")]
            links = [self.link(end) for end in ends]
            here = self.place(name)
            at = [self._seen(link, here) for link in links]
            if apart and node.find("pose") is None:
                at = [
                    self._seen(link, self.place(end)) for link, end in zip(links, ends, strict=True)
                ]
            axes = tuple(
                here.R.T @ self._axis(node.find(tag), here)
                for tag in ("axis", "axis2")[: _AXES.get(kind, 0)]
            )
            if kind == "gearbox":
                self._gears(node, links, axes, here)
                continue
            word = "universal" if kind == "revolute2" else kind
            pitch = 0.0
            if kind == "screw":  # the older word counts turns per metre, the other way round
                pitch = -1.0 / float(node.findtext("thread_pitch"))
            spring = tuple(
                float(node.findtext(f"axis/dynamics/spring_{part}") or 0.0)
                for part in ("stiffness", "reference")
            )
            self.read.joints.append(Joint(name, word, *links, *at, axes, pitch, spring))
        for node in model.iterfind("{http://drake.mit.edu}weld_constraint"):
            ends = [
                node.findtext(f"{{http://drake.mit.edu}}{r}") or node.findtext(r)
                for r in ("parent", "child")
            ]
            links = [self.link(end.strip()) for end in ends]
            at = [
                self._seen(link, self.place(end.strip()))
                for link, end in zip(links, ends, strict=True)
            ]
            self.read.joints.append(Joint("weld", "fixed", *links, *at))
        if not apart:
            self.read.joints = [
                replace(j, at_parent=placed @ j.at_parent) if j.parent == WORLD else j
                for j in self.read.joints
            ]

    def link(self, name: str) -> str:
        if name == WORLD or self.nodes[name].tag == "link":
            return name
        node = self.nodes[name]
        return self.link(node.get("attached_to") or node.findtext("child").strip())

    def place(self, name: str) -> Pose:
        """In the model."""
        if name in (WORLD, "__model__"):
            return Pose()
        node = self.nodes[name]
        given = node.find("pose")
        where = "" if given is None else given.get("relative_to", "")
        if not where and node.tag == "joint":
            where = node.findtext("child").strip()
        if not where and node.tag == "frame":
            where = node.get("attached_to") or "__model__"
        return self.place(where or "__model__") @ _pose(given)

    def _seen(self, link: str, place: Pose) -> Pose:
        return self.place(link).inverse() @ place

    def _axis(self, axis: ET.Element | None, here: Pose) -> np.ndarray:
        xyz = None if axis is None else axis.find("xyz")
        if xyz is None:
            return here.R[:, 2]
        direction = vector(xyz.text) / np.linalg.norm(vector(xyz.text))
        old = axis.findtext("use_parent_model_frame", "") in ("1", "true")
        if self.in_model or old or xyz.get("expressed_in") == "__model__":
            return direction
        return (
            self.place(xyz.get("expressed_in")).R if xyz.get("expressed_in") else here.R
        ) @ direction

    def _gears(self, node: ET.Element, links: list[str], axes: tuple, here: Pose) -> None:
        """The wheels turn on a third body: the child by minus the ratio times the parent."""
        reference = node.findtext("gearbox_reference_body").strip()
        ratio = float(node.findtext("gearbox_ratio"))
        factors = {}
        for link, axis, weight in zip(links, axes, (ratio, 1.0), strict=True):
            shaft = next(
                j
                for j in self.nodes.values()
                if j.tag == "joint"
                and j.get("type") == "revolute"
                and {j.findtext("parent").strip(), j.findtext("child").strip()} == {reference, link}
            )
            same = self._axis(shaft.find("axis"), self.place(shaft.get("name"))) @ here.R @ axis
            along = 1.0 if shaft.findtext("child").strip() == link else -1.0
            factors[shaft.get("name")] = weight * along * float(np.sign(same))
        self.read.couplings.append(Coupling(factors))


def _body(inertial: ET.Element | None) -> Body:
    origin = _pose(None if inertial is None else inertial.find("pose"))
    inertia = np.eye(3)
    for name, (i, j) in _MOMENTS.items():
        text = None if inertial is None else inertial.findtext(f"inertia/{name}")
        if text is not None:
            inertia[i, j] = inertia[j, i] = float(text)
    mass = 1.0 if inertial is None else float(inertial.findtext("mass", "1"))
    return Body(mass, origin.p, origin.R @ inertia @ origin.R.T)


def _pose(node: ET.Element | None) -> Pose:
    if node is None or not (node.text or "").strip():
        return Pose()
    numbers = vector(node.text)
    return pose(numbers[:3], numbers[3:])
