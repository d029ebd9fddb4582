# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""SDF: a graph of links and joints; joints that close a loop become constraints.

Own parsing: the bindings of sdformat are not on PyPI, and the Python readers that are there take
trees only, or pass over what they do not know, which an import must not do.
"""

import copy
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.graph import Graph, GraphJoint
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.sdf.collisions import add_contacts
from uk_dynamics.conversion.sdf.elements import (
    drake_joints,
    is_drake_joint,
    read_joint,
    read_link,
    read_visuals,
)
from uk_dynamics.conversion.sdf.frames import MODEL, Frames, is_true, numbers, write_pose
from uk_dynamics.exceptions import InputError, UnknownNameError, located
from uk_dynamics.model.urdf import WORLD, Link, Pose, Visual, compose

_REFERENCES = ("relative_to", "attached_to", "expressed_in")  # attributes that name frames
_ENDS = ("parent", "child", "gearbox_reference_body")


def joined_models(root: ET.Element, *, axes_in_model: bool) -> tuple[ET.Element | None, set[str]]:
    """One model of all that the joints of the world connect, and whom it joins; None without any.

    ``LINK`` of ``MODEL`` is called ``MODEL_LINK`` in it.
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
            _rename(node, lambda name: name.replace("::", "_"))
        whole.append(added)
    return whole, joined


def _add(whole: ET.Element, name: str, model: ET.Element, *, axes_in_model: bool) -> None:
    """Add the parts of a model under names of their own; its frame is called like the model."""
    placed = Frames(model).placed
    parts = [copy.deepcopy(node) for node in model if node.tag in ("link", "joint", "frame")]
    own = {node.get("name", ""): f"{name}_{node.get('name', '')}" for node in parts}
    own |= {"": name, MODEL: name}
    first = next((own[n.get("name", "")] for n in model.iterfind("link")), name)
    carrier = own.get(model.get("canonical_link", ""), name)
    carrier = first if carrier == name else carrier
    write_pose(ET.SubElement(whole, "frame", name=name, attached_to=carrier), placed, MODEL)
    for node in parts:
        node.set("name", own[node.get("name", "")])
        if node.tag == "frame" and not node.get("attached_to"):
            node.set("attached_to", MODEL)
        pose = node.find("pose")
        if pose is None and node.tag != "joint":
            pose = ET.SubElement(node, "pose")
        if pose is not None and not (pose.get("relative_to") or node.tag == "joint"):
            pose.set("relative_to", own.get(node.get("attached_to", ""), name))
        for axis in node.iter():
            in_model = axes_in_model or is_true(axis.findtext("use_parent_model_frame"))
            if in_model and axis.tag in ("axis", "axis2"):
                for xyz in axis.iterfind("xyz"):
                    xyz.set("expressed_in", MODEL)
        for inner in node.iter():
            _rename(inner, lambda said: own.get(said, said))
        whole.append(node)
    if is_true(model.findtext("static")):
        weld = ET.SubElement(whole, "joint", name=f"{name}_static", type="fixed")
        ET.SubElement(weld, "parent").text = WORLD
        ET.SubElement(weld, "child").text = first


def _rename(node: ET.Element, new: Callable[[str], str]) -> None:
    """Call frames and joints that an element names otherwise."""
    if node.tag in _ENDS:
        node.text = new((node.text or "").strip())
    for key in (*_REFERENCES, *["joint"] * (node.tag == "mimic")):
        if node.get(key):
            node.set(key, new(node.get(key, "")))


_HANDLED = ("link", "joint", "pose", "frame", "static", "self_collide", "allow_auto_disable")
_AXES_IN_JOINT = 5  # since SDF 1.5


def read_sdf(
    root: ET.Element,
    directory: Path,
    model: str | None = None,
    *,
    fixed: bool = False,
    contacts: bool = False,  # whether to take contacts with models that stand still
) -> ImportedRobot:
    """Take one model of an SDF file, whose root floats if nothing holds it, or is fixed."""
    version = re.fullmatch(r"1\.([0-9]+)", root.get("version", "1.4").strip())
    if version is None:
        raise InputError(f'version "{root.get("version")}" is none of SDF, such as 1.9')
    models = [*root.iterfind("model"), *root.iterfind("world/model")]
    axes_in_model = int(version.group(1)) < _AXES_IN_JOINT
    whole, joined = (None, set()) if model else joined_models(root, axes_in_model=axes_in_model)
    if whole is not None:
        models = [whole, *(one for one in models if one.get("name") not in joined)]
        axes_in_model = False  # what is given in a model's frame says so now
    chosen = whole if whole is not None else _choose(models, model)
    robot = ImportedRobot(chosen.get("name", "model"))
    if joined:
        robot.changed(f"models {', '.join(sorted(joined))}", "one machine: joints connect them")
    gravity = root.find("world/gravity")
    if gravity is not None:
        robot.gravity = numbers(gravity, 3).tolist()
    others = [other for other in models if other is not chosen]
    still = [other for other in others if contacts and is_true(other.findtext("static"))]
    for other in others:
        if other not in still:
            robot.lost(f"model {other.get('name')}", "one model is imported at a time; --model")
    inside = _Reader(chosen, directory, robot, axes_in_model=axes_in_model).read(fixed=fixed)
    if contacts:
        add_contacts(chosen, still, inside, robot, directory)
    elif chosen.find("link/collision") is not None:
        robot.lost("collision shapes", "are not imported: --contacts takes them, with surfaces")
    return robot


def _choose(models: list[ET.Element], name: str | None) -> ET.Element:
    names = [model.get("name", "") for model in models]
    if name is not None:
        if name not in names:
            raise UnknownNameError("model", name, names)
        return models[names.index(name)]
    if not models:
        raise InputError("there is no <model>; an <include> is not followed: give its file")
    moving = [model for model in models if not is_true(model.findtext("static"))]
    if len(moving) != 1:
        raise InputError(f"there are the models {', '.join(names)}; choose one by --model")
    return moving[0]


class _Reader:
    """One model on its way to a tree with constraints."""

    def __init__(
        self, model: ET.Element, directory: Path, robot: ImportedRobot, *, axes_in_model: bool
    ) -> None:
        self.model, self.directory, self.robot = model, directory, robot
        self.axes_in_model = axes_in_model
        self.frames = Frames(model)
        self.elements = {node.get("name", ""): node for node in model.iterfind("link")}

    def read(self, *, fixed: bool) -> Mapping[str, Pose]:
        """Fill the robot; of each link its frame in the URDF, seen from its frame in the file."""
        self._remark_the_rest()
        read = [self._joint(node) for node in self.model.iterfind("joint")]
        gears = [joint for joint in read if joint.kind == "gearbox"]
        joints = [joint for joint in read if joint.kind != "gearbox"]
        joints += drake_joints(self.model, self.frames, self.robot)
        first = self.model.get("canonical_link") or next(iter(self.elements), "")
        if first not in self.elements:
            raise InputError(f'there is no <link> "{first}"', place=f"model {self.robot.name}")
        frames = self.frames
        places = {name: compose(frames.placed, frames.pose(name)) for name in self.elements}
        graph = Graph(self.robot, joints, gears, places, first, self._body, fixed)
        graph.build()
        return graph.inside

    def _body(self, name: str) -> tuple[Link, list[Visual]]:
        node = self.elements[name]
        with located(place=f"link {name}"):
            return read_link(node, self.robot), read_visuals(node, self.robot, self.directory)

    def _joint(self, node: ET.Element) -> GraphJoint:
        with located(place=f"joint {node.get('name', '')}"):
            return read_joint(node, self.frames, self.robot, axes_in_model=self.axes_in_model)

    def _remark_the_rest(self) -> None:
        pose = self.model.find("pose")
        reference = "" if pose is None else pose.get("relative_to", "")
        if reference not in ("", WORLD):
            reason = f"its place relative to {reference}, taken as the world"
            self.robot.lost(f"model {self.robot.name}", reason)
        for node in self.model:
            label = f"{node.tag} {node.get('name') or node.findtext('uri') or ''}".strip()
            if node.tag == "plugin":
                self._plugin(node)
            elif node.tag in ("model", "include"):
                self.robot.lost(label, "nested models are not followed: import its own file")
            elif node.tag not in _HANDLED and not is_drake_joint(node):
                self.robot.lost(label, "has no place here")
        if is_true(self.model.findtext("static")):
            self.robot.lost(f"model {self.robot.name}", "<static>: here it moves")

    def _plugin(self, node: ET.Element) -> None:
        name = node.get("filename") or node.get("name") or ""
        known = {joint.get("name") for joint in self.model.iterfind("joint")}
        driven = [(item.text or "").strip() for item in node.iter("joint_name")]
        for joint in dict.fromkeys(driven):
            if joint in known and {"joint": joint} not in self.robot.actuators.values():
                guess = f"guess: the plugin {name} names this joint"
                self.robot.add_actuator(joint, {"joint": joint}, guess)
        self.robot.lost(f"plugin {name}", "plugins are programs of the simulator")
