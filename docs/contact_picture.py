# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws the picture of contact.md: steps of ``moreau`` converge to the event-driven motions.

Run it:  python docs/contact_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

import uk_dynamics as ukd
from uk_dynamics.colours import COLOURS

OUT = Path(__file__).resolve().parent / "images" / "moreau_order.png"
STEPS = np.geomspace(3e-3, 1e-5, 13)  # s
DPI = 90
BODY = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02"
ixy="0" ixz="0" iyz="0"/></inertial></link>"""
FALLS = """<joint name="z" type="prismatic"><parent link="base"/><child link="ball"/>
<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="0" velocity="0"/></joint>"""


def bouncing() -> tuple[ukd.Mechanism, ukd.State]:
    """A ball that falls by 1 m and bounces with half of its speed."""
    floor = {"parent": {"link": "world"}, "child": {"link": "ball"}, "restitution": 0.5}
    urdf = f'<robot name="ball">{BODY.format("base")}{BODY.format("ball")}{FALLS}</robot>'
    found = ukd.Mechanism.from_data({"contacts": {"floor": floor}}, robot_description=urdf)
    return found, found.state({"z": 1.0})


def spinning() -> tuple[ukd.Mechanism, ukd.State]:
    """A ball that lands spinning, bounces, and slides until it rolls."""
    floor = {"parent": {"link": "world"}, "child": {"link": "ball"}, "radius": 0.1}
    law = {"friction": 0.2, "restitution": 0.5}
    data = {"model": {"root": "floating"}, "contacts": {"floor": floor | law}}
    urdf = f'<robot name="ball">{BODY.format("ball")}</robot>'
    found = ukd.Mechanism.from_data(data, robot_description=urdf)
    return found, found.state([0, 0, 0.3, 0, 0, 0, 1], [0.5, 0.2, 0, 0, -20.0, 0])


def leg() -> tuple[ukd.Mechanism, ukd.State]:
    """The leg of the page: it lands three times, sticks, and slides for an instant."""
    found = ukd.Mechanism.from_file("landing_leg_contact")
    return found, found.start()


MOTIONS = {
    "ball that bounces, 1.2 s": (bouncing, 1.2),
    "ball that lands spinning, slides and rolls, 1.2 s": (spinning, 1.2),
    "leg that lands three times, 1.5 s": (leg, 1.5),
}


def main() -> None:
    """Move each machine from event to event and in steps, and draw how far they are apart."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axis = figure.subplots()
    for k, (name, (made, duration)) in enumerate(MOTIONS.items()):
        mechanism, start = made()
        exact = ukd.simulate(mechanism, start, duration, method="DOP853")
        off = []
        for h in STEPS.tolist():
            found = ukd.simulate(mechanism, start, duration, method="moreau", step=h)
            off.append(np.abs(found.q - exact.q).max(axis=1).mean())
        order = np.polyfit(np.log(STEPS), np.log(off), 1)[0]
        axis.loglog(STEPS, off, "o-", ms=4.0, color=COLOURS[k], label=f"{name}: {order:.2f}")
    axis.loglog(STEPS, 0.3 * STEPS, color="0.4", linestyle=":", label="order 1")
    axis.set(xlabel="step [s]", ylabel="mean distance from events [m, rad]")
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.grid(True, alpha=0.3)
    axis.legend(
        fontsize="small", edgecolor="none", title="motion: order found", title_fontsize="small"
    )
    figure.savefig(OUT, dpi=DPI)


if __name__ == "__main__":
    main()
