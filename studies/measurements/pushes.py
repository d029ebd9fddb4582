# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which pushes the standing biped takes, and what its soles allow a linear inverted pendulum.

A force at the centre of mass, in some direction for 0.1 s, is bisected between what the biped takes
and what makes it fall. The bound is that of the linear inverted pendulum of height z and
ω = √(g/z): the capture point ξ = c + ċ/ω follows ξ̇ = ω (ξ − p) + F/(m ω), with a centre of
pressure p in the polygon of the soles at all times, and has to be in that polygon at the end. From
rest that is F (1 − exp(−ω T)) ≤ m ω² d, d from the centre of mass to the edge in the direction of
the force, p at the edge from the beginning (after Koolen et al., Int. J. Robotics Res. 31, 2012).

Run it:  python studies/measurements/pushes.py [--picture FILE]    (about ten minutes of one core)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate
from uk_dynamics.constraints.rows import MassPoints

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "biped"
PERIOD = 0.004  # s, of the law
LASTS, AFTER = 0.1, 1.4  # s, of the push and until it has to be back
BACK = 0.05  # m, of the centre of mass from its place, that count as back; a fall is more
CORNERS = np.array([[-0.085, -0.14], [0.165, 0.14]])  # m, of both soles together
PARTS = 0.5, 1.2  # of the bound, between which the push is sought
HALVINGS = 4
ANGLES = np.deg2rad([0, 45, 90, 135, 180])  # the biped is symmetric

Array = NDArray[np.float64]


class Standing:
    """The biped on its feet."""

    def __init__(self) -> None:
        self.data = yaml.safe_load((FOLDER / "biped.yaml").read_text())
        self.data["model"]["urdf"] = str(FOLDER / self.data["model"]["urdf"])
        self.biped = Mechanism.from_data(self.data)
        self.tasks = Tasks.from_file(FOLDER / "stand.yaml", self.biped)
        self.start = self.biped.start(tasks=self.tasks)
        workspace = self.biped.model.workspace()
        workspace.update(self.start.q, self.start.v)
        self.center = MassPoints.of((), self.biped.model).position(workspace)
        self.mass = self.biped.model.total_mass

    def bound(self, direction: Array) -> float:
        """Largest force that the soles allow, in N."""
        omega2 = 9.81 / self.center[2]
        with np.errstate(divide="ignore"):
            edges = np.maximum(*((side - self.center[:2]) / direction for side in CORNERS))
        return float(self.mass * omega2 * edges.min() / (1.0 - np.exp(-np.sqrt(omega2) * LASTS)))

    def takes(self, force: Array) -> bool:
        """Whether it is back after a push."""
        place, rotation = self.biped.pose("trunk", self.start.q)
        frame = {"link": "trunk", "xyz": (rotation.T @ (self.center - place)).tolist()}
        push = {"type": "wrench", "frame": frame, "force": [*force.tolist(), 0.0]}
        pushed = Mechanism.from_data(self.data | {"forces": {"push": push}})
        law = ServoController(self.biped, self.tasks, control_period=PERIOD)
        options: dict[str, Any] = {
            "controller": law,
            "control_period": PERIOD,
            "method": "moreau",
            "backend": "auto",
        }
        first = simulate(pushed, self.start, LASTS, **options)
        state = State(LASTS, first.q[-1], first.v[-1])
        then = simulate(self.biped, state, AFTER, **options)
        return bool(np.abs(then.tracking_error[-1][:3]).max() < BACK)


def measure() -> list[tuple[float, float, float]]:
    """Angle, largest push that it takes and bound, by direction."""
    standing = Standing()
    found = []
    for angle in ANGLES:
        direction = np.array([np.cos(angle), np.sin(angle)])
        bound = standing.bound(direction)
        low, high = (part * bound for part in PARTS)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if standing.takes(middle * direction) else (low, middle)
        found.append((float(angle), low, bound))
        sys.stdout.write(
            f"{np.rad2deg(angle):4.0f}°: takes {low:.0f} N, not {high:.0f} N;"
            f" the pendulum {bound:.0f} N\n"
        )
        sys.stdout.flush()
    return found


def draw(found: list[tuple[float, float, float]], path: Path) -> None:
    """Both by direction, forwards up, as impulses."""
    from matplotlib.figure import Figure

    from uk_dynamics.colours import ON_PAPER

    standing = Standing()
    figure = Figure(figsize=(4.6, 4.6), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    around = np.linspace(0.0, 2.0 * np.pi, 721)
    bounds = [standing.bound(np.array([np.cos(a), np.sin(a)])) for a in around]
    polygon = LASTS * np.array(bounds)
    axes.fill(polygon * np.sin(around), polygon * np.cos(around), color="0.92")
    axes.plot(polygon * np.sin(around), polygon * np.cos(around), color="0.5", lw=1, label="bound")
    angles, taken, _ = np.array(found).T
    angles = np.concatenate((angles, -angles[-2::-1]))
    taken = LASTS * np.concatenate((taken, taken[-2::-1]))
    x, y = taken * np.sin(angles), taken * np.cos(angles)
    axes.plot(x, y, "o-", color=ON_PAPER[0], lw=1, ms=4, label="taken")
    axes.set_aspect("equal")
    axes.set_xlabel("to a side [N s]")
    axes.set_ylabel("forwards [N s]")
    axes.legend(loc="center", fontsize=8)
    figure.savefig(path)


def main() -> None:
    """Measure, and draw if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--picture", type=Path, help="where to draw them")
    picture = parser.parse_args().picture
    found = measure()
    if picture is not None:
        draw(found, picture)


if __name__ == "__main__":
    main()
