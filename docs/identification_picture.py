# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws the picture of identification.md: efforts that files and estimates leave unexplained.

Run it:  python docs/identification_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import uk_dynamics as ukd
from uk_dynamics.colours import COLOURS
from uk_dynamics.identification import Regressor, identify

OUT = Path(__file__).resolve().parent / "images" / "identification.png"
FRICTION = {"joints.crank.damping": 0.8, "joints.crank.friction": 1.5}
DPI = 90


def main() -> None:
    """Simulate a machine that its files do not know, identify it, draw what is left."""
    mechanism = ukd.Mechanism.from_file("five_bar")
    machine = mechanism.with_parameters(FRICTION).with_payload("coupler_link", 1.3, (1.0, 0.0, 0.1))
    tasks = ukd.Tasks.from_file("five_bar_sweep", machine)
    run = ukd.simulate(
        machine,
        machine.start(tasks=tasks),
        6.0,
        controller=ukd.ServoController(machine, tasks, control_period=0.005),
        control_period=0.005,
        sample_period=0.005,
    )
    random = np.random.default_rng(0)
    q = run.q + 1e-4 * random.standard_normal(run.q.shape)
    size = np.sqrt((run.efforts**2).mean())
    efforts = run.efforts + 0.01 * size * random.standard_normal(run.efforts.shape)
    noisy = ukd.Trajectory(**{**vars(run), "q": q, "efforts": efforts})
    found = identify(mechanism, [noisy], estimate=list(FRICTION), payload="coupler_link")
    motions = found.motions[0].motions
    equations = Regressor(mechanism, [x.parameter for x in found.estimates]).equations(motions)
    change = np.array([x.value - x.parameter.value for x in found.estimates])
    left = equations.missing - equations.matrix @ change
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    axis = figure.subplots()
    axis.plot(motions.t, equations.missing[:, 0], color=COLOURS[1], label="with the files' values")
    axis.plot(motions.t, left[:, 0], color=COLOURS[0], label="with the estimates")
    axis.axvline(motions.t[0] + 0.8 * np.ptp(motions.t), color="0.4", linestyle=":")
    axis.annotate(" held out", (motions.t[0] + 0.8 * np.ptp(motions.t), 6.0), color="0.3")
    axis.set(xlabel="t [s]", ylabel="unexplained effort of the crank [N m]")
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize="small", edgecolor="none")
    figure.savefig(OUT, dpi=DPI)


if __name__ == "__main__":
    main()
