# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines of the zoo with feet, above the ground.

Where feet touch is added, since their meshes are no part of the zoo; stops are left out, as ranges
are of the exported machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from uk_dynamics import Mechanism
from uk_dynamics.cli.main import main
from uk_dynamics.mechanism.contact import ContactDynamics

DROP = 0.05  # m
Data = dict[str, Any]


def contact(link: str, points: list[list[float]], **more: Any) -> Data:
    """An entry of contacts between the ground and points of a link."""
    child = {"link": link}
    return {"parent": {"link": "world"}, "child": child, "points": points, "friction": 0.7} | more


def sole(length: float, width: float, x: float = 0.0, z: float = 0.0) -> list[list[float]]:
    """Corners of a rectangle, in m."""
    return [[x + i * length, j * width, z] for i in (-0.5, 0.5) for j in (-0.5, 0.5)]


def imported(source: Path, folder: Path) -> Data:
    """The file that the import makes, with a floating root and without stops."""
    assert main(["import", str(source), "--out", str(folder)]) == 0
    (file,) = folder.glob("*.yaml")
    data: Data = yaml.safe_load(file.read_text())
    urdf = folder / data["model"]["urdf"]
    free = r'<joint name="[^"]*" type="floating">.*?</joint>|<link name="world" ?/>'
    urdf.write_text(re.sub(free, "", urdf.read_text(), flags=re.DOTALL))
    data["model"] |= {"urdf": str(urdf), "root": "floating"}
    guess = data.get("initial_guess", {})
    data["initial_guess"] = {re.sub(r".*\.", "root.", name): x for name, x in guess.items()}
    for joint in data.get("joints", {}).values():
        joint.pop("stop", None)
    return data


def cassie(zoo: Path, folder: Path) -> Data:
    """Two points on each foot."""
    data = imported(zoo / "mjcf_cassie/cassie.xml", folder)
    ends = [[-0.05, 0.11, 0.0], [0.09, 0.0, 0.0]]
    data["contacts"] = {f"{side}_toe": contact(f"{side}-foot", ends) for side in ("left", "right")}
    return data


def digit(zoo: Path, folder: Path) -> Data:
    """Two rectangular soles."""
    data = imported(zoo / "gepetto_digit_like_2legs/robot.yaml", folder)
    ends = sole(0.16, 0.08)
    data["contacts"] = {link: contact(link, ends) for link in ("foot", "foot_left")}
    return data


def toddlerbot(zoo: Path, folder: Path) -> Data:
    """Two rectangular soles."""
    data = imported(zoo / "mjcf_toddlerbot_2xc/toddlerbot_2xc.xml", folder)
    ends = sole(0.1, 0.04, 0.036, -0.037)
    data["contacts"] = {
        f"{side}_sole": contact(f"{side}_ankle_roll_link", ends) for side in ("left", "right")
    }
    return data


def mini_cheetah(zoo: Path, folder: Path) -> Data:
    """Feet and knees; its root floats by a joint, which MJCF cannot have."""
    text = (zoo / "urdfplus_mini_cheetah/mini_cheetah.urdf").read_text()  # feet and knees
    text = re.sub(r'<joint name="base_to_floating_base".*?</joint>', "", text, flags=re.DOTALL)
    text = re.sub(r'<link name="base" ?/>|<link name="base">.*?</link>', "", text, flags=re.DOTALL)
    (folder / "mini_cheetah.urdf").write_text(text)
    legs = "FR", "FL", "HR", "HL"
    ends = {"foot": [0.0, 0.0, -0.195], "knee": [0.0, 0.0, 0.0]}
    contacts = {leg: contact(f"{leg}_knee_link", list(ends.values())) for leg in legs}
    bent = {f"{leg}_abad_to_hip_j": 0.5 for leg in legs}
    bent |= {f"{leg}_hip_to_knee_j": -1.0 for leg in legs}
    model = {"urdf": str(folder / "mini_cheetah.urdf"), "root": "floating", "length": 0.1}
    return {"model": model, "contacts": contacts, "initial_guess": bent}


def strandbeest(zoo: Path, folder: Path) -> Data:
    """Spheres at the ends of its legs, as its file has them."""
    source = zoo / "urdf_drake_strandbeest/StrandbeestConstraints.expanded.urdf"
    text = re.sub(r'<joint name="floor_weld".*?</joint>', "", source.read_text(), flags=re.DOTALL)
    text = re.sub(
        r'<link name="floor">.*?</link>|<link name="world" ?/>', "", text, flags=re.DOTALL
    )
    (folder / "strandbeest.urdf").write_text(text)
    feet = re.findall(r'<link name="(\w+_bar_g)">', text)
    shape = {"radius": 0.02}
    contacts = {link: contact(link, [[0.0, 0.0, 0.49]], **shape) for link in feet}
    return {
        "model": {"urdf": str(folder / "strandbeest.urdf"), "root": "floating"},
        "contacts": contacts,
    }


MACHINES: dict[str, Callable[[Path, Path], Data]] = {
    "cassie": cassie,
    "digit": digit,
    "mini_cheetah": mini_cheetah,
    "strandbeest": strandbeest,
    "toddlerbot": toddlerbot,
}


def dropped(data: Data) -> Mechanism:
    """The machine with its lowest point DROP above the ground."""
    guess = data.setdefault("initial_guess", {})
    guess["root.z"] = 1.0
    machine = Mechanism.from_data(data)
    gaps = ContactDynamics(machine).places(machine.start()).gap
    guess["root.z"] = float(1.0 - gaps.min() + DROP)
    return Mechanism.from_data(data)
