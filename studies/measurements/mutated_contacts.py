# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulates mechanism files with contacts that have one to three mistakes each.

``python studies/measurements/mutated_contacts.py [COUNT [FIRST]]``, from a clone. Each file is
described, checked and simulated, and must end in a result of finite numbers or in one line, each
within 20 s of the processor. Every tenth file is compiled; motions are event-driven or in 50 steps,
at random.
"""

import contextlib
import io
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
_DEADLINE = 300.0  # s
_MOST = 20.0  # s of the processor
_EXAMPLES = "rope_crane", "block_grip", "stewart_drop", "excavator_lift", "plantigrade", "biped"

_BODY = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="1"/>
  <inertia ixx="1e-3" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  <collision><origin xyz="{1} 0 0"/><geometry>
  <box size="0.3 0.02 0.02"/></geometry></collision></link>"""
_JOINT = """<joint name="{0}" type="revolute">
  <parent link="{1}"/><child link="{2}"/>
  <origin xyz="{3} 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="9" velocity="9"/></joint>"""
_URDF = f"""<robot name="leg"><link name="ground"><collision><origin xyz="0 0 -0.05"/>
  <geometry><box size="4 4 0.1"/></geometry></collision></link>
<link name="slider"><inertial><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="height" type="prismatic"><parent link="ground"/><child link="slider"/>
  <axis xyz="0 0 1"/>
  <limit lower="-5" upper="5" effort="9" velocity="9"/></joint>
{_BODY.format("thigh", 0.15)}{_JOINT.format("hip", "slider", "thigh", 0)}
{_BODY.format("shank", 0.15)}{_JOINT.format("knee", "thigh", "shank", 0.3)}</robot>"""
_GROUND = {"parent": {"link": "ground"}, "child": {"link": "shank", "xyz": [0.3, 0.0, 0.0]}}
_SURFACES = (
    {"friction": 0.7, "restitution": 0.2, "points": {"heel": [-0.02, 0, 0.02], "toe": [0, 0, 0]}},
    {"friction": 0.4, "static_friction": 0.6, "points": [[-0.02, 0, 0.02], [0, 0, 0]]},
    {"radius": 0.02, "friction": 0.5, "surface": {"type": "sphere", "radius": 0.3}}
    | {"static_friction": 0.8},
    {"radius": 0.02, "length": 0.1, "surface": {"type": "capsule", "radius": 0.1, "length": 0.4}},
    {"radius": 0.01, "surface": {"type": "cylinder", "radius": 0.9, "hollow": True}},
    {"friction": 0.3, "surface": {"type": "box", "size": [0.4, 0.4, 0.02]}},
    {"radius": 0.02, "surface": {"type": "profile", "points": [[-1, 0], [0, 0], [0.2, 0.02]]}},
    {
        "radius": 0.01,
        "surface": {"type": "height_field", "heights": [[0, 0.1], [0, 0]], "size": [2, 2]},
    },
    {"surface": {"type": "collision"}},
)
_ENDS = {"parent": {"link": "ground"}, "child": {"link": "shank"}}
_ONE_SIDED = (
    {"type": "distance", "distance": 0.75, "one_sided": "at_most", **_ENDS},
    {"type": "joint_coupling", "joints": {"hip": 1, "knee": -2}, "backlash": 0.02},
    {"type": "speed_coupling", "joints": {"hip": 1, "knee": -1}, "one_sided": "at_least"},
    {"type": "ratchet", "joints": {"hip": 1}, "pitch": 0.05, "one_sided": "at_most"},
    {"type": "joint", "joint": "knee", "one_sided": "at_least", "restitution": 0.3},
    {
        "type": "rope",
        "length": 1.2,
        "one_sided": "at_most",
        "points": [
            {"link": "ground", "xyz": [0, 0, 0.9]},
            {"link": "thigh", "radius": 0.03, "axis": [0, 1, 0], "side": "left", "turns": 1.5},
        ],
    },
    {
        "type": "rope",
        "length": 1.12,
        "one_sided": "at_most",
        "points": [
            {"link": "ground"},
            {"link": "ground", "xyz": [-0.1, 0, 0.5], "radius": 0.1, "side": "right"}
            | {"axis": [0, -1, 0], "lifts_off": True},
            {"link": "shank"},
        ],
    },
    {
        "type": "rope",
        "length": 1.5,
        "one_sided": "at_most",
        "points": [
            {"link": "ground", "xyz": [-0.4, 0, 1.0]},
            {"link": "slider", "radius": 0.05, "axis": [0, -1, 0], "side": "left"},
            {"link": "shank"},
        ],
    },
)


def leg(chance: random.Random) -> str:
    """A leg over some surface, with something one-sided between its links."""
    joints = {
        "hip": {"friction": 0.3, "stiction": 0.5},
        "knee": {"stop": {"hard": True, "restitution": 0.2}},
    }
    data = {
        "schema": 1,
        "model": {"urdf": "leg.urdf"},
        "joints": joints,
        "initial_guess": {"height": 0.54, "hip": 0.8, "knee": 0.4},
        "contacts": {"foot": _GROUND | chance.choice(_SURFACES)},
        "constraints": {"other": chance.choice(_ONE_SIDED)},
    }
    return yaml.safe_dump(data, sort_keys=False)


def ended(seed: int) -> str:
    """How the simulation of a file ended, after it was described and checked."""
    from support.mutations import MISTAKES, mutated

    chance = random.Random(seed)
    name = chance.choice((*_EXAMPLES, *("",) * len(_EXAMPLES)))
    shutil.rmtree("own", ignore_errors=True)
    if name:
        shutil.copytree(ROOT / "examples" / name, "own")
        text = Path("own", f"{name}.yaml").read_text()
    else:
        os.mkdir("own")
        Path("own/leg.urdf").write_text(_URDF)
        text = leg(chance)
    if seed % 2:  # numbers alone, which most files are simulated with
        for _ in range(3):
            text = chance.choice(MISTAKES[:2])(text, chance)
    else:
        text = mutated(text, chance)
    Path("own/own.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    command = ["simulate", "own/own.yaml", "--duration", "0.05", "--out", "own/own.npz"]
    command += ["--backend", "interpreted" if seed % 10 or name == "biped" else "compiled"]
    steps = chance.random() < 0.5 or name in _EXAMPLES[-2:]  # of many contacts
    command += ["--method", "moreau"] if steps else ["--method", "DOP853", "--rtol", "1e-6"]
    for one in (["describe", "own/own.yaml"], ["check", "own/own.yaml"], command):
        began = time.process_time()
        if (end := _told(one)) is None and one is command:
            end = "simulated"
            with np.load("own/own.npz", allow_pickle=True) as samples:
                for key in ("q", "v"):
                    if not np.isfinite(samples[key]).all():
                        return f"numbers that are not finite: {key}"
        if (taken := time.process_time() - began) > _MOST:
            return f"slow: {one[0]}, {taken:.0f} s"
        if end:
            break
    return end or ""


def _told(command: list[str]) -> str | None:
    """How a command ended; None: as it should."""
    from uk_dynamics.cli.main import main

    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
            status = main(command)
    except (Exception, SystemExit):  # noqa: BLE001, what this looks for
        return f"a traceback: {command[0]}: {traceback.format_exc()}"
    if status == 2:
        lines = told.getvalue().strip().splitlines()
        last = [line for line in lines if "error" in line]
        return "refused" if len(last) == 1 else f"not one line: {command[0]}: {lines}"
    return None if status == 0 or command[0] == "check" else f"status {status}: {command[0]}"


def work(seeds: range, end: Connection) -> None:
    """Simulate one after the other in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("excavator", "gripper"):  # which others include
            shutil.copytree(ROOT / "examples" / name, name)
        for seed in seeds:
            end.send(ended(seed))


def main() -> None:
    """Count how files end."""
    count, first = (int(x) for x in (*sys.argv[1:], *("2000", "0")[len(sys.argv) - 1 :]))
    sys.path.insert(0, str(ROOT / "test"))
    ends: Counter[str] = Counter()
    seed = first
    while seed < first + count:
        here, there = multiprocessing.Pipe(duplex=False)
        worker = multiprocessing.Process(target=work, args=(range(seed, first + count), there))
        worker.start()
        there.close()
        while seed < first + count:
            try:
                end = here.recv() if here.poll(_DEADLINE) else "hangs"
            except EOFError:
                end = "the process ended"
            ends[end.partition(":")[0]] += 1
            if end not in ("simulated", "refused"):
                print(f"{seed}: {end}", flush=True)
            seed += 1
            if end in ("hangs", "the process ended"):
                break
        worker.kill()
        worker.join()
    print(f"{count} files: {dict(ends)}")


if __name__ == "__main__":
    main()
