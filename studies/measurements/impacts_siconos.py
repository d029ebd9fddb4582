# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Impulses one by one, beside Siconos: balls that bounce and spin, and Glocker's woodpecker.

``python studies/measurements/impacts_siconos.py`` in a clone, with Debian's ``python3-siconos``
(``UK_DYNAMICS_SICONOS_PYTHON`` names its Python).

The bouncing ball falls from 1 m (restitution 0.9), the spinning ones are those of Capobianco,
Harsch, Eugster and Leine (2021, 10.1002/nme.6801, section 10.1; 10 and 50 rad/s, friction 0.2), the
woodpecker is that of ``test/simulation/test_woodpecker.py``. Both take steps of Moreau's rule (θ of
one half) of the same size. Times are of machines that are built and compiled: all steps of Siconos,
with what it sets up in the first, and all of ``simulate``, with its start and 20 samples; the
fastest of five runs of each, in turn.

Steps with an impulse that follow one another at a contact are one impulse, less what rests on it
takes from gravity.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

G = 9.81
PYTHON = os.environ.get("UK_DYNAMICS_SICONOS_PYTHON", "/usr/bin/python3")
RADIUS, MASS = 0.1, 1.0
Impulses = list[tuple[float, str, float, float]]  # time, contact, along the normal and the tangent


def siconos(given: dict[str, Any]) -> dict[str, Any]:
    """Impulses of each step, (steps, contacts, 2), and the end, by Siconos."""
    import siconos.kernel as sk
    import siconos.numerics as sn

    machine = sk.LagrangianLinearTIDS(given["q"], given["v"], given["M"])
    machine.setKPtr(np.array(given["K"]))
    machine.setFExtPtr(np.array(given["force"]))
    model = sk.NonSmoothDynamicalSystem(0.0, given["duration"])
    model.insertDynamicalSystem(machine)
    touching = []
    for one in given["contacts"]:
        law = sk.NewtonImpactFrictionNSL(one["restitution"], 0.0, one["friction"], 2)
        relation = sk.LagrangianLinearTIR(np.array(one["H"]), np.array(one["b"]))
        touching.append(sk.Interaction(law, relation))
        model.link(touching[-1], machine)
    options = sk.solver_options_create(sn.SICONOS_FRICTION_2D_NSGS)
    options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-15
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 100000
    problem = sk.FrictionContact(2, options)
    discretisation = sk.TimeDiscretisation(0.0, given["h"])
    run = sk.TimeStepping(model, discretisation, sk.MoreauJeanOSI(0.5), problem)
    found: list[list[list[float]]] = []
    spent = 0.0
    while run.hasNextEvent():
        begin = time.process_time()
        run.computeOneStep()
        spent += time.process_time() - begin
        found.append([list(one.lambda_(1)) for one in touching])
        begin = time.process_time()
        run.nextStep()
        spent += time.process_time() - begin
    end = {"q": list(machine.q()), "v": list(machine.velocity())}
    return end | {"impulses": found, "seconds": spent / len(found)}


class Case(NamedTuple):
    """A machine of ours, the same in minimal coordinates, and how long it moves, in s."""

    machine: Any
    state: Any
    minimal: dict[str, Any]
    duration: float
    coordinates: list[str]  # joints that are those of the minimal machine


def ball(restitution: float, friction: float, spin: float, duration: float) -> Case:
    """A sphere above the ground, in a plane; it turns about y."""
    from support.mechanism_builder import joint, link, mechanism

    parts = link("x", 0.0) + link("z", 0.0) + link("ball", MASS, 0.4 * MASS * RADIUS**2)
    slide = {"kind": "prismatic", "limits": (-9.0, 9.0)}
    parts += joint("along", "world", "x", axis="1 0 0", **slide)
    parts += joint("height", "x", "z", axis="0 0 1", **slide) + joint("turn", "z", "ball")
    text = f"""
contacts:
  ground: {{parent: {{link: world}}, child: {{link: ball}}, radius: {RADIUS},
    friction: {friction or 1e-9}, restitution: {restitution}}}
"""
    machine = mechanism(parts, text)
    names = ["along", "height", "turn"]
    state = machine.state({"height": 1.0})
    state.v[:] = [0.0, 0.0, spin]
    minimal = {
        "q": [0.0, 1.0, 0.0],
        "v": [0.0, 0.0, spin],
        "M": np.diag([MASS, MASS, 0.4 * MASS * RADIUS**2]).tolist(),
        "K": np.zeros((3, 3)).tolist(),
        "force": [0.0, -MASS * G, 0.0],
        "contacts": [
            {
                "H": [[0.0, 1.0, 0.0], [1.0, 0.0, -RADIUS]],
                "b": [-RADIUS, 0.0],
                "friction": friction or 1e-9,
                "restitution": restitution,
            }
        ],
    }
    return Case(machine, state, minimal, duration, names)


def woodpecker() -> Case:
    """The toy of the tests."""
    import simulation.test_woodpecker as toy

    machine = toy.toy()
    names = list(toy.START)
    height = np.array([toy.HEIGHT.get(name, 0.0) for name in names])
    first = np.eye(3)[0]
    inertia = toy.MASSES[0] * np.outer(first, first) + toy.MASSES[1] * np.outer(height, height)
    relative = np.array([0.0, 1.0, -1.0])
    contacts = [
        {
            "H": [[terms.get(name, 0.0) for name in names] for terms in (x, z)],
            "b": [distance, 0.0],
            "friction": 0.3,
            "restitution": restitution,
        }
        for x, z, distance, restitution in toy.CONTACTS.values()
    ]
    minimal = {
        "q": [toy.START[name] for name in names],
        "v": [toy.RATES[name] for name in names],
        "M": (inertia + np.diag([0.0, *toy.INERTIAS])).tolist(),
        "K": (toy.SPRING * np.outer(relative, relative)).tolist(),
        "force": (-G * (toy.MASSES[0] * first + toy.MASSES[1] * height)).tolist(),
        "contacts": contacts,
    }
    return Case(machine, toy.start(machine), minimal, 0.125, names)


def one_by_one(steps: np.ndarray, h: float, names: list[str]) -> Impulses:
    """Impulses of steps, (steps, contacts, 2), as they follow one another."""
    found: Impulses = []
    for k, name in enumerate(names):
        acts = steps[:, k, 0] > 1e-12 * steps[:, :, 0].max()
        edges = np.flatnonzero(np.diff(np.concatenate(([False], acts, [False]))))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            normal, tangent = steps[begin:end, k].sum(axis=0).tolist()
            found.append((begin * h, name, normal, tangent))
    return sorted(found)


def ours(case: Case, h: float) -> tuple[np.ndarray, Any]:
    """Impulses of each step, and the end, by us."""
    from uk_dynamics import Inputs
    from uk_dynamics.mechanism.contact import ContactStepping

    stepping, dynamics = ContactStepping(case.machine), case.machine.dynamics("compiled")
    state, active = case.state, case.machine.hierarchy.initial
    found = []
    for k in range(round(case.duration / h)):
        given = Inputs(stabilize=False, active=active)
        state, active = stepping.advance(state, (k + 1) * h, 1, dynamics, given)
        found.append(stepping.tables.impulse[:, :2].copy())
    return np.array(found), state


def seconds(case: Case, h: float) -> tuple[float, float]:
    """Processor time of a step of ours, in s, and with forces of the samples, which come later."""
    from uk_dynamics import simulate

    period = max(round(case.duration / h / 20), 1) * h
    moved = partial(simulate, case.machine, case.state, method="moreau", step=h)
    begin = time.process_time()
    found = moved(case.duration, sample_period=period)
    middle = time.process_time()
    _ = found.contact_forces
    part = h / case.duration
    return (middle - begin) * part, (time.process_time() - begin) * part


def siconos_apart(case: Case, h: float) -> dict[str, Any]:
    """What Siconos finds, in its Python."""
    given = json.dumps(case.minimal | {"h": h, "duration": case.duration})
    run = [PYTHON, __file__, "--siconos"]
    told = subprocess.run(run, check=True, capture_output=True, text=True, input=given).stdout
    found: dict[str, Any] = json.loads(told.splitlines()[-1])
    return found


def compare(name: str, case: Case, sizes: tuple[float, ...]) -> None:
    """Impulses of both for smaller and smaller steps."""
    print(name)
    for h in sizes:
        peer = siconos_apart(case, h)
        steps, end = ours(case, h)
        labels = [one.name for one in case.machine.one_sided]
        theirs = one_by_one(np.array(peer["impulses"]), h, labels)
        mine = one_by_one(steps, h, labels)
        at = [case.machine.model.velocity_index(x) for x in case.coordinates]
        off = np.abs(end.v[at] - peer["v"]).max()
        seconds(case, h)  # compiles
        runs = [(*seconds(case, h), siconos_apart(case, h)["seconds"]) for _ in range(5)]
        one, more, other = (1e6 * min(times) for times in zip(*runs, strict=True))
        print(
            f"  {h:.1e} s: {len(mine)} impulses, Siconos {len(theirs)}; rates at the end {off:.1e};"
            f" a step {one:.2f} µs ({more:.2f} with forces of 20 samples), Siconos {other:.2f} µs,"
            f" ratio {one / other:.2f} ({more / other:.2f})"
        )
        same = [x for x in zip(mine, theirs, strict=False) if x[0][1] == x[1][1]]
        largest = max(one[2] for one in theirs)
        when, normal, tangent = (
            max((abs(abs(a[i]) - abs(b[i])) for a, b in same), default=np.nan) for i in (0, 2, 3)
        )
        print(
            f"    {len(same)} of the same contact; apart by {when:.1e} s at most, normal"
            f" {normal / largest:.1e}, tangential {tangent / largest:.1e} of the largest"
        )
        if h == sizes[-1]:
            for (t, contact, n, s), (t2, _, n2, s2) in same[:8]:
                print(f"    {contact:8} {t:.6f} {t2:.6f} s: {n:.6g} {n2:.6g}, {s:.6g} {s2:.6g} N s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--siconos"]:
        print(json.dumps(siconos(json.load(sys.stdin))))
    else:
        sys.path.insert(0, str(Path(__file__).parents[2] / "test"))
        compare("bouncing ball", ball(0.9, 0.0, 0.0, 2.0), (1e-3, 2.5e-4, 5e-5))
        for spin in (10.0, 50.0):
            compare(f"ball that turns at {spin:g} rad/s", ball(0.0, 0.2, spin, 1.1), (1e-3, 1e-4))
        compare("woodpecker", woodpecker(), (5e-5, 1e-5, 3e-6))
