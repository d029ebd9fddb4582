# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Models of an SDF world that its joints connect, as one model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.robot.poses import quaternion
from uk_dynamics.conversion.sdf.frames import Frames, is_true
from uk_dynamics.model.urdf import WORLD, Pose

_REFERENCES = ("relative_to", "attached_to", "expressed_in")  # attributes that name frames
_ENDS = ("parent", "child", "gearbox_reference_body")
_OWN = "__model__"


def joined_models(root: ET.Element, *, axes_in_model: bool) -> tuple[ET.Element | None, set[str]]:
    """One model of all that the joints of the world connect; None where there are no such joints.

    Args:
        root: Of the file.
        axes_in_model: Whether axes are given in the model's frame, as before SDF 1.5.

    Returns:
        The model, in which ``LINK`` of ``MODEL`` is called ``MODEL_LINK``, and whom it joins.
    """
    world = root.find("world")
    joints = [] if world is None else world.findall("joint")
    if world is None or not joints:
        return None, set()
    models = {model.get("name", ""): model for model in world.iterfind("model")}
    ends = [(joint.findtext(tag) or "").strip() for joint in joints for tag in _ENDS]
    joined = {end.partition("::")[0] for end in ends} & models.keys()
    whole = ET.Element("model", name=world.get("name") or "world")
    for name, model in models.items():
        if name in joined:
            _add(whole, name, model, axes_in_model=axes_in_model)
    for joint in joints:
        added = copy.deepcopy(joint)
        for node in added.iter():
            if node.tag in _ENDS:
                node.text = _global((node.text or "").strip())
            for key in _REFERENCES:
                if node.get(key):
                    node.set(key, _global(node.get(key, "")))
        whole.append(added)
    return whole, joined


def _global(name: str) -> str:
    return name.replace("::", "_")


def _add(whole: ET.Element, name: str, model: ET.Element, *, axes_in_model: bool) -> None:
    """Add the parts of a model under names of their own; its frame is called like the model."""
    placed = Frames(model).placed
    parts = [copy.deepcopy(node) for node in model if node.tag in ("link", "joint", "frame")]
    own = {node.get("name", ""): f"{name}_{node.get('name', '')}" for node in parts}
    own |= {"": name, _OWN: name}
    first = next((own[n.get("name", "")] for n in model.iterfind("link")), name)
    carrier = own.get(model.get("canonical_link", ""), name)
    carrier = first if carrier == name else carrier
    frame = ET.SubElement(whole, "frame", name=name, attached_to=carrier)
    frame.append(_pose(placed))
    for node in parts:
        node.set("name", own[node.get("name", "")])
        if node.tag == "frame" and not node.get("attached_to"):
            node.set("attached_to", _OWN)
        pose = node.find("pose")
        if pose is None and node.tag != "joint":
            pose = ET.SubElement(node, "pose")
        if pose is not None and not (pose.get("relative_to") or node.tag == "joint"):
            pose.set("relative_to", own.get(node.get("attached_to", ""), name))
        for inner in node.iter():
            _rename(inner, own, axes_in_model=axes_in_model)
        whole.append(node)
    if is_true(model.findtext("static")):
        weld = ET.SubElement(whole, "joint", name=f"{name}_static", type="fixed")
        ET.SubElement(weld, "parent").text = WORLD
        ET.SubElement(weld, "child").text = first


def _rename(node: ET.Element, own: Mapping[str, str], *, axes_in_model: bool) -> None:
    if node.tag in _ENDS:
        said = (node.text or "").strip()
        node.text = own.get(said, said)
    if node.tag == "mimic" and node.get("joint"):
        node.set("joint", own.get(node.get("joint", ""), node.get("joint", "")))
    if node.tag in ("axis", "axis2"):
        xyz = node.find("xyz")
        if xyz is not None and (axes_in_model or is_true(node.findtext("use_parent_model_frame"))):
            xyz.set("expressed_in", own[""])
    for key in _REFERENCES:
        if node.get(key):
            node.set(key, own.get(node.get(key, ""), node.get(key, "")))


def _pose(pose: Pose) -> ET.Element:
    node = ET.Element("pose", rotation_format="quat_xyzw", relative_to=_OWN)
    numbers = [*pose.translation.tolist(), *quaternion(pose.rotation)]
    node.text = " ".join(repr(float(x)) for x in numbers)
    return node
