#!/usr/bin/env python3
# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Writes the tasks of a walk from its footsteps: ``python footsteps.py footsteps.yaml walk.yaml``.

The centre of mass c moves as a linear inverted pendulum of constant height z over the centre of
pressure p, c̈ = g/z (c − p). p goes from the middle of one foot to that of the next while both
stand, and rests while one stands. Of all solutions the one that begins and ends at rest stays near
p: a boundary value problem, tridiagonal in time (Kajita et al., ICRA 2003, ask the same of a
preview). Its capture point c + ċ √(z/g) is where p would have to be to stop.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.linalg import solve_banded

GRAVITY = 9.81  # m/s²
STEP = 0.001  # s, of the boundary value problem
KNOTS = 0.04  # s, between the points of the references
SOLE = 0.07  # m, from the ankle to the ground

Array = np.ndarray[Any, Any]


def pressure(plan: dict[str, Any], t: Array) -> Array:
    """Centre of pressure over time, (n, 2), in m."""
    feet = {name: np.array(place) for name, place in plan["start"].items()}
    middle = np.array(plan["pressure"])
    times, places = [0.0], [np.mean(list(feet.values()), axis=0)]
    ready = 0.5 * plan["steps"][0]["lift"]
    for step in plan["steps"]:
        (stands,) = [place for name, place in feet.items() if name != step["foot"]]
        times += [ready, step["lift"], step["down"]]
        places += [places[-1], stands, stands]
        feet[step["foot"]] = np.array(step["to"])
        ready = step["down"]
    times += [0.5 * (ready + plan["end"]), plan["end"]]
    places += [np.mean(list(feet.values()), axis=0)] * 2
    found = [np.interp(t, times, column) for column in np.array(places).T]
    return np.array(found).T + middle


def center_of_mass(plan: dict[str, Any], t: Array, p: Array) -> Array:
    """Its path above a centre of pressure p (n, 2), (n, 2), in m."""
    part = plan["height"] / GRAVITY / STEP**2
    bands = np.zeros((3, len(t)))
    bands[0, 2:], bands[1, 1:-1], bands[2, :-2] = -part, 1.0 + 2.0 * part, -part
    bands[1, [0, -1]] = 1.0
    found: Array = solve_banded((1, 1), bands, p)
    return found


def swing(plan: dict[str, Any], foot: str, t: Array) -> Array:
    """Path of a foot, (n, 6): x y z and rotation, at rest where it stands."""
    path = np.zeros((len(t), 6))
    here = np.array(plan["start"][foot])
    path[:, :2] = here
    for step in plan["steps"]:
        if step["foot"] != foot:
            continue
        s = np.clip((t - step["lift"]) / (step["down"] - step["lift"]), 0.0, 1.0)
        smooth = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        path[:, :2] += smooth[:, None] * (np.array(step["to"]) - here)
        path[:, 2] += plan["clearance"] * (4.0 * s * (1.0 - s)) ** 3
        here = np.array(step["to"])
    return path


def spline(t: Array, values: Array) -> dict[str, Any]:
    """A reference through points."""
    rounded = np.round(values, 6).tolist()
    return {"type": "spline", "degree": 5, "times": np.round(t, 6).tolist(), "values": rounded}


def tasks(plan: dict[str, Any]) -> dict[str, Any]:
    """The tasks file."""
    t = np.arange(round(plan["end"] / STEP) + 1) * STEP
    c = center_of_mass(plan, t, pressure(plan, t))
    sparse = slice(None, None, round(KNOTS / STEP))
    height = np.full((len(t), 1), plan["height"])
    contacts, feet = {}, {}
    for foot in plan["start"]:
        edges = [x for s in plan["steps"] if s["foot"] == foot for x in (s["lift"], s["down"])]
        intervals = np.reshape([0.0, *edges, 1e3], (-1, 2)).tolist()
        contacts[f"{foot}_sole"] = {"stands": intervals, "ramp": plan["ramp"]}
        feet[f"{foot}_swing"] = {
            "type": "frame",
            "axes": ["x", "y", "z", "rx", "ry", "rz"],
            "parent": {"link": "world"},
            "child": {"link": f"{foot}_foot", "xyz": [0, 0, -SOLE]},
            "while_lifted": f"{foot}_sole",
            "reference": spline(t[sparse], swing(plan, foot, t)[sparse]),
        }
    balance = spline(t[sparse], np.hstack((c, height))[sparse])
    upright = {"type": "frame", "axes": ["rx", "ry", "rz"], "parent": {"link": "world"}}
    return {
        "schema": 1,
        "contacts": contacts,
        "defaults": {"stabilization": {"frequency": 2.0}},
        "tasks": {
            "balance": {"type": "center_of_mass", "axes": ["x", "y", "z"], "reference": balance},
            "upright": upright | {"child": {"link": "trunk"}},
            **feet,
        },
    }


if __name__ == "__main__":
    steps, walk = map(Path, sys.argv[1:])
    text = yaml.safe_dump(
        tasks(yaml.safe_load(steps.read_text())),
        default_flow_style=None,
        sort_keys=False,
        width=160,
    )
    walk.write_text(f"# Written by {Path(__file__).name} from {steps.name}: change that.\n{text}")
