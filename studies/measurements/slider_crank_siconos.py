# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The slider-crank with clearance and friction of Flores, Leine and Glocker, beside Siconos.

``python studies/measurements/slider_crank_siconos.py [FRICTION [RESTITUTION]]`` in a clone, with
Debian's ``python3-siconos`` (``UK_DYNAMICS_SICONOS_PYTHON`` names its Python) and a C compiler.

Siconos has the minimal coordinates of the paper, absolute angles, and steps of Moreau and Jean (θ
of one half); we have joints, and steps of ``moreau`` of the same size. Both are compared with our
events, and their processor times with one another: of a motion with its start, of a machine that is
built and compiled; ours with 20 samples, without their forces.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

L1, L2, G = 0.153, 0.306, 9.81
CORNERS = [(x, z) for x in (-0.05, 0.05) for z in (-0.025, 0.025)]
WALL = 0.026
RATES = 150.0, -75.0, 0.0
DURATION, SAMPLES = 0.2, 2000
PYTHON = os.environ.get("UK_DYNAMICS_SICONOS_PYTHON", "/usr/bin/python3")

PLUGIN = f"""
#include <math.h>
static const double l1 = {L1}, l2 = {L2}, g = {G}, m1 = 0.038, m2 = 0.038, m3 = 0.076;
void mass(unsigned n, const double *q, double *M, unsigned k, double *z) {{
  const double mixed = (m2 / 2 + m3) * l1 * l2 * cos(q[1] - q[0]);
  for (int i = 0; i < 9; ++i) M[i] = 0;
  M[0] = 7.4e-5 + (m1 / 4 + m2 + m3) * l1 * l1, M[1] = M[3] = mixed;
  M[4] = 5.9e-4 + (m2 / 4 + m3) * l2 * l2, M[8] = 2.7e-6;
}}
void gyr(unsigned n, const double *q, const double *v, double *F, unsigned k, double *z) {{
  const double spin = (m2 / 2 + m3) * l1 * l2 * sin(q[1] - q[0]);
  F[0] = -spin * v[1] * v[1], F[1] = spin * v[0] * v[0], F[2] = 0;
}}
void weight(double t, unsigned n, const double *q, const double *v, double *F, unsigned k,
            double *z) {{
  F[0] = g * (m1 / 2 + m2 + m3) * l1 * cos(q[0]), F[1] = g * (m2 / 2 + m3) * l2 * cos(q[1]);
  F[2] = 0;
}}
static void gap(const double *q, double x, double z, double *y) {{
  const double side = z > 0 ? 1 : -1;
  y[0] = {WALL} - side * (l1 * sin(q[0]) + l2 * sin(q[1]) + x * sin(q[2]) + z * cos(q[2]));
  y[1] = 0;
}}
static void slopes(const double *q, double x, double z, double *H) {{ /* by columns */
  const double side = z > 0 ? 1 : -1;
  H[0] = -side * l1 * cos(q[0]), H[1] = -l1 * sin(q[0]);
  H[2] = -side * l2 * cos(q[1]), H[3] = -l2 * sin(q[1]);
  H[4] = -side * (x * cos(q[2]) - z * sin(q[2])), H[5] = -x * sin(q[2]) - z * cos(q[2]);
}}
"""
CORNER = """
void gap{k}(unsigned n, const double *q, unsigned m, double *y, unsigned k, double *w) {{
  gap(q, {x}, {z}, y);
}}
void slopes{k}(unsigned n, const double *q, unsigned m, double *H, unsigned k, double *w) {{
  slopes(q, {x}, {z}, H);
}}
"""


def siconos(h: float, friction: float, restitution: float) -> tuple[list[list[float]], float]:
    """Angles and rates at the samples, and processor time of a step in s, by Siconos."""
    import siconos.kernel as sk
    import siconos.numerics as sn

    folder = Path(tempfile.mkdtemp())
    corners = [CORNER.format(k=k, x=x, z=z) for k, (x, z) in enumerate(CORNERS)]
    (folder / "plugin.c").write_text(PLUGIN + "".join(corners))
    build = ["cc", "-O2", "-shared", "-fPIC", "-Wl,-soname,plugin.so", "plugin.c", "-lm"]
    build += ["-o", "plugin.so"]
    subprocess.run(build, cwd=folder, check=True)
    os.chdir(folder)
    ctypes.CDLL("./plugin.so")  # found by its name then
    crank = sk.LagrangianDS([0.0, 0.0, 0.0], list(RATES))
    crank.setComputeMassFunction("plugin", "mass")
    crank.setComputeFGyrFunction("plugin", "gyr")
    crank.setComputeFIntFunction("plugin", "weight")
    model = sk.NonSmoothDynamicalSystem(0.0, DURATION)
    model.insertDynamicalSystem(crank)
    law = sk.NewtonImpactFrictionNSL(restitution, 0.0, friction, 2)
    for k in range(len(CORNERS)):
        corner = sk.LagrangianScleronomousR(f"plugin:gap{k}", f"plugin:slopes{k}")
        model.link(sk.Interaction(law, corner), crank)
    options = sk.solver_options_create(sn.SICONOS_FRICTION_2D_NSGS)
    options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-13
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 100000
    problem = sk.FrictionContact(2, options)
    run = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, h), sk.MoreauJeanOSI(0.5), problem)
    run.setNewtonTolerance(1e-11)
    run.setNewtonMaxIteration(50)
    found, each, k = [], round(DURATION / h / SAMPLES), 0
    begin = time.process_time()
    while run.hasNextEvent():
        run.computeOneStep()
        run.nextStep()
        k += 1
        if k % each == 0:
            found.append([*crank.q(), *crank.velocity()])
    return found, (time.process_time() - begin) / k


def ours(method: str, friction: float, restitution: float, **options: float) -> Any:
    """The same by us."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "test"))
    import simulation.test_slider_crank_clearance as paper

    from uk_dynamics import simulate

    paper.RATES, paper.RESTITUTION = RATES, restitution
    crank = paper.machine(friction)
    period = DURATION / SAMPLES

    def moved(every: float) -> Any:
        start = paper.start(crank)
        return simulate(crank, start, DURATION, method=method, sample_period=every, **options)

    run = moved(period)  # compiles as well
    begin = time.process_time()
    moved(10 * period)
    seconds = time.process_time() - begin
    return np.cumsum(run.q, axis=1)[1:], np.cumsum(run.v, axis=1)[1:], run, seconds


def compare(friction: float, restitution: float) -> None:
    """Largest differences of angles from our events, of both, for smaller and smaller steps."""
    q, v, events, _ = ours("DOP853", friction, restitution, rtol=1e-10, atol=1e-11)
    print(f"friction {friction}, restitution {restitution}: {len(events.switchings)} events")
    for warning in events.warnings:
        print(" ", warning)
    for h in (1e-5, 2.5e-6, 5e-7):
        given = [PYTHON, __file__, "--siconos", str(h), str(friction), str(restitution)]
        answer = subprocess.run(given, check=True, capture_output=True, text=True).stdout
        samples, theirs = json.loads(answer.splitlines()[-1])
        peer = np.array(samples)
        steps, rates, _, seconds = ours("moreau", friction, restitution, step=h)
        mine = seconds * h / DURATION
        for name, angles, speeds in (("Siconos", peer[:, :3], peer[:, 3:]), ("ours", steps, rates)):
            count = len(angles)
            off = np.abs(angles - q[:count]).max(axis=0)
            print(
                f"  {h:.1e} s, {name}: angles off by {off[0]:.1e}, {off[1]:.1e}, {off[2]:.1e} rad,"
                f" rates at the end {np.abs(speeds[-1] - v[count - 1]).max():.1e} rad/s",
                flush=True,
            )
        apart = np.abs(peer[:, :3] - steps[: len(peer)]).max(axis=0)
        print(f"    between them: {apart[0]:.1e}, {apart[1]:.1e}, {apart[2]:.1e} rad;", end=" ")
        print(f"a step {1e6 * mine:.1f} µs, Siconos {1e6 * theirs:.1f} µs", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--siconos"]:
        print(json.dumps(siconos(*map(float, sys.argv[2:]))))
    else:
        compare(*map(float, sys.argv[1:] or ["0.01", "0.4"]))
