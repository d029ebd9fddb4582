# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws the pictures of mechanisms.md: each shows the motion of the command above it.

Where a path says more than curves over time it is drawn here, else by ``--plot``.

Run it:  python docs/pictures.py [MECHANISM ...]    (left out: all)
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from uk_dynamics import Mechanism, Trajectory
from uk_dynamics.cli.main import main as run_command
from uk_dynamics.colours import COLOURS
from uk_dynamics_studies.papers.orsino import figures as orsino_figures
from uk_dynamics_studies.papers.output.drawing import lines
from uk_dynamics_studies.papers.parallel import figures as parallel_figures
from uk_dynamics_studies.papers.review.spiral import draw_trajectory as draw_spiral
from uk_dynamics_studies.papers.review.swarm import draw_paths as draw_swarm
from uk_dynamics_studies.papers.servo import figures as servo_figures

Array = NDArray[np.float64]

DOCS = Path(__file__).resolve().parent
IMAGES = DOCS / "images"
# A command with --plot, and the picture that follows it.
SHOWN = re.compile(
    r"(uk_dynamics simulate [^\n`]*--plot \S+)\n```\s+!\[[^\]]*\]\(images/(\w+)\.png\)"
)
RECORDED = ("stewart_platform",)  # by `make demo`, from the topics of the nodes
DPI = 90
LEGEND = {"fontsize": "small", "edgecolor": "none"}
ABOVE = LEGEND | {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}


def on_the_ground(axis: Any, xlabel: str = "x [m]", ylabel: str = "y [m]") -> None:
    """Equal scales, labels with units, a grid."""
    axis.set_aspect("equal")
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.grid(True, alpha=0.3)


def places(
    trajectory: Trajectory, link: str, point: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[Array, Array]:
    """Where a point of a link is, (K, 3), and how the link is turned, (K, 3, 3)."""
    model = Mechanism.from_file(trajectory.name).model
    workspace, frame = model.workspace(), model.frame_index(link)
    found = []
    for q in trajectory.q:
        workspace.update_positions(q)
        rotation = workspace.rotation[frame].copy()
        found.append((workspace.translation[frame] + rotation @ point, rotation))
    positions, rotations = zip(*found, strict=True)
    return np.array(positions), np.array(rotations)


def draw_skate(figure: Figure, moved: Trajectory) -> None:
    """The cycloid, and the blade along it."""
    figure.set_size_inches(7.5, 2.2)
    axis = figure.subplots()
    x, y, yaw = (moved.position(name) for name in ("x", "y", "yaw"))
    axis.plot(y, -x, color=COLOURS[0])
    for k in range(0, len(x), len(x) // 20):
        blade = 0.06 * np.array([-1.0, 1.0])
        axis.plot(
            y[k] + blade * np.sin(yaw[k]), -x[k] - blade * np.cos(yaw[k]), color=COLOURS[1], lw=2.5
        )
    on_the_ground(axis, "across the slope [m]", "up the slope [m]")


def draw_disc(figure: Figure, moved: Trajectory) -> None:
    """Paths of centre and contact, and how the disc leans."""
    figure.set_size_inches(7.5, 3.4)
    ground, over_time = figure.subplots(1, 2)
    centre, turned = places(moved, "disc")
    axle = turned[:, :, 1]
    down = np.array([0.0, 0.0, -1.0]) + axle[:, 2:] * axle  # along the disc
    contact = centre + 0.25 * down / np.linalg.norm(down, axis=1)[:, None]
    ground.plot(*contact[:, :2].T, color=COLOURS[1], label="contact")
    ground.plot(*centre[:, :2].T, color=COLOURS[0], linestyle="--", label="centre")
    on_the_ground(ground)
    ground.legend(**ABOVE, ncols=2)
    lines(over_time, moved.t, {"lean": np.rad2deg(moved.position("lean"))}, "lean [°]")


def draw_drive(figure: Figure, moved: Trajectory) -> None:
    """Paths of nose, axle and caster, and where the wheels are."""
    figure.set_size_inches(7.5, 2.9)
    axis = figure.subplots()
    paths = {
        "nose, which has the task": places(moved, "chassis", (0.2, 0.0, 0.0))[0],
        "middle of the axle": places(moved, "chassis")[0],
        "caster": places(moved, "caster_wheel_link")[0],
    }
    styles = (("-", COLOURS[1]), ("-", COLOURS[0]), ("--", "0.5"))
    for (name, path), (style, colour) in zip(paths.items(), styles, strict=True):
        axis.plot(*path[:, :2].T, style, color=colour, label=name)
    centre, turned = places(moved, "chassis")
    gap = (np.nan, np.nan)  # between the lines of left wheel, axle and right wheel
    shape = np.array(
        [(-0.1, 0.2), (0.1, 0.2), gap, (0, 0.2), (0, -0.2), gap, (-0.1, -0.2), (0.1, -0.2)]
    ).T
    for k in np.linspace(0, len(centre) - 1, 9).astype(int):
        axis.plot(*(centre[k, :2, None] + turned[k, :2, :2] @ shape), color="0.2", lw=1.5)
    on_the_ground(axis)
    axis.legend(**ABOVE, ncols=3)


def _draw_arm(axis: Any, moved: Trajectory, times: tuple[float, ...]) -> None:
    """The arm at some times, in stronger colours later on."""
    elbow = places(moved, "lower_link")[0]
    tip = places(moved, "lower_link", (0.0, 0.0, -1.0))[0]
    for t, strength in zip(times, np.linspace(0.3, 1.0, len(times)), strict=True):
        k = int(np.argmin(np.abs(moved.t - t)))
        joints = np.array([np.zeros(3), elbow[k], tip[k]])[:, [0, 2]]
        for part, colour in ((joints[:2], COLOURS[1]), (joints[1:], COLOURS[0])):
            axis.plot(*part.T, "-o", color=colour, alpha=strength, lw=3.0, ms=4.0)
    axis.plot(0.0, 0.0, "ks", ms=9.0)
    on_the_ground(axis, ylabel="z [m]")
    axis.set_xlim(-1.1, 1.1)


def draw_arm(figure: Figure, moved: Trajectory) -> None:
    """The arm on its way, and the rates that are to add up to nothing."""
    figure.set_size_inches(7.5, 3.6)
    left, right = figure.subplots(1, 2)
    _draw_arm(left, moved, (0.0, 0.3, 0.8, 1.6))
    first, second = moved.v.T
    rates = {"rate of q2": first, "rate of q4": second, "their sum: 0 is asked": first + second}
    lines(right, moved.t, rates, "[rad/s]")
    right.legend(**ABOVE, ncols=2)


def draw_rotors(figure: Figure, moved: Trajectory) -> None:
    """The arm on its way; links and rotors swing against each other."""
    figure.set_size_inches(7.5, 3.6)
    left, right = figure.subplots(1, 2)
    _draw_arm(left, moved, (0.0, 0.3, 0.7, 1.3))
    names = {"q2": "upper link", "q1": "its rotor", "q4": "lower link", "q3": "its rotor "}
    lines(right, moved.t, {names[n]: moved.position(n) for n in names}, "angle [rad]")
    right.legend(**ABOVE, ncols=2)


def draw_carts(figure: Figure, moved: Trajectory) -> None:
    """Both carts and the spring between them at some times."""
    figure.set_size_inches(7.5, 2.9)
    axis = figure.subplots()
    pushed, towed = moved.position("x1"), moved.position("x2")
    for index, t in enumerate(np.arange(0.0, 2.01, 0.5)):
        k = int(np.argmin(np.abs(moved.t - t)))
        coils = np.linspace(pushed[k], towed[k], 81)
        axis.plot(coils, t + 0.06 * np.sin(np.linspace(0.0, 16.0 * np.pi, 81)), "0.3", lw=0.8)
        for x, colour, size, name in (
            (pushed[k], COLOURS[1], 9.0, "1 kg, pushed by the motor"),
            (towed[k], COLOURS[0], 12.0, "2 kg, towed by the spring"),
        ):
            label = name if index == 0 else None
            axis.plot(x, t, "s", color=colour, ms=size, label=label, linestyle="none")
    axis.invert_yaxis()
    axis.set(xlabel="x [m]", ylabel="time [s]")
    axis.grid(True, alpha=0.3)
    axis.legend(**ABOVE, ncols=2)


def draw_landing(figure: Figure, moved: Trajectory) -> None:
    """Body and knee, and the energy that impacts take."""
    figure.set_size_inches(7.5, 4.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    positions = {"height [m]": moved.position("height"), "knee [rad]": moved.position("knee")}
    lines(upper, moved.t, positions, "position [m, rad]")
    energies = {"kinetic": moved.kinetic, "total": moved.energy}
    lines(lower, moved.t, energies, "energy [J]")
    for landing in (one for one in moved.switchings if one.energy_lost > 0.01):
        for axis in (upper, lower):
            axis.axvline(landing.t, color="0.4", lw=0.8)
        upper.annotate(
            f"the foot lands:\n{landing.energy_lost:.2f} J lost",
            (landing.t, 0.3),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            fontsize="small",
        )
    for axis in (upper, lower):
        axis.legend(**LEGEND, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    upper.label_outer()


def draw_excavator(figure: Figure, trajectory: Trajectory) -> None:
    """The arm with its cylinders at some times, and what the cylinders bear."""
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    last = len(trajectory.t) - 1
    bars = {  # the points of a polygon, as frames and places in them
        "boom": (("boom", 0, 0), ("boom", 2.5, 0.9), ("stick", 0, 0)),
        "stick": (("stick", -0.75, 0.25), ("stick", 0, 0), ("bucket", 0, 0)),
        "bucket": (("bucket", 0, 0), ("bucket", 0.05, 0.5), ("teeth", 0, 0), ("bucket", 0, 0)),
        "boom cylinder": (("boom_barrel", 0, 0), ("boom_rod", 0, 0)),
        "stick cylinder": (("stick_barrel", 0, 0), ("stick_rod", 0, 0)),
        "bucket cylinder": (("bucket_barrel", 0, 0), ("bucket_rod", 0, 0)),
        "rocker": (("rocker", 0, 0), ("bucket_link", 0, 0)),
        "link": (("bucket_link", 0, 0), ("bucket_link", 0.6, 0)),
    }
    for k, strength in ((0, 0.35), (last, 1.0)):
        for name, points in bars.items():
            at = [places(trajectory, link, (x, 0.0, z))[0][k, [0, 2]] for link, x, z in points]
            colour = COLOURS[1] if "cylinder" in name else COLOURS[0]
            upper.plot(*np.array(at).T, "-o", color=colour, alpha=strength, lw=2.5, ms=4.0)
    teeth = places(trajectory, "teeth")[0]
    upper.plot(*teeth[:, [0, 2]].T, color=COLOURS[2], lw=3.0, label="path of the teeth")
    upper.axhline(0.0, color="0.5", lw=0.8)
    on_the_ground(upper, ylabel="z [m]")
    upper.legend(**LEGEND)
    for k, motor in enumerate(("boom_valve", "stick_valve", "bucket_valve")):
        efforts = trajectory.efforts[:, trajectory.names.motors.index(motor)]
        lower.plot(trajectory.t, efforts / 1e3, color=COLOURS[k], label=motor)
    lower.set(xlabel="t [s]", ylabel="force [kN]")
    lower.grid(True, alpha=0.3)
    lower.legend(**LEGEND)


DRAWN: dict[str, Callable[[Figure, Trajectory], None]] = {
    "skate": draw_skate,
    "rolling_disc": draw_disc,
    "differential_drive": draw_drive,
    "flexible_joint_arm": draw_arm,
    "flexible_joint_arm_with_rotors": draw_rotors,
    "two_mass_spring": draw_carts,
    "landing_leg": draw_landing,
    "landing_leg_contact": draw_landing,
    "excavator": draw_excavator,
    "spiral_particle": draw_spiral,
    "swarm": draw_swarm,
    "rrr3": orsino_figures.draw_machine,
    "parallel_2dof": lambda figure, _: parallel_figures.draw_machine(figure),
    "coordinated_robots": lambda figure, _: servo_figures.draw_machine(figure),
}


def picture(name: str, command: str) -> None:
    """Run a command of the page and leave its picture in ``images/``."""
    path = IMAGES / f"{name}.png"
    _, *arguments = shlex.split(command)
    arguments[arguments.index("--plot") + 1] = str(path)
    with tempfile.TemporaryDirectory() as home:
        record = Path(home) / "motion.npz"
        if run_command([*arguments, "--out", str(record)]):
            raise SystemExit(f"{command}: failed")
        if name in DRAWN:
            figure = Figure(layout="constrained")
            DRAWN[name](figure, Trajectory.load(record))
            figure.savefig(path, dpi=DPI, bbox_inches="tight")
    small = Image.open(path).convert("RGB")
    small.thumbnail((820, 1000))
    small.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def main(names: list[str]) -> None:
    """Draw the pictures of some mechanisms, or of all."""
    page = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
    commands = {name: command for command, name in SHOWN.findall(page) if name not in RECORDED}
    for name in names or commands:
        picture(name, commands[name])


if __name__ == "__main__":
    main(sys.argv[1:])
