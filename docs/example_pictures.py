# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws the machines of ``examples/``: their visuals at two instants of their tasks, side by side.

Those that move with contacts are simulated; gaps and normal forces stand below them.

Orthographic, with a depth buffer in NumPy, so that neither a browser nor a graphics card is needed.

Run it:  python docs/example_pictures.py [EXAMPLE ...]    (left out: all)
"""

from __future__ import annotations

import io
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from uk_dynamics import Mechanism, ServoController, State, Tasks, Trajectory, simulate
from uk_dynamics.colours import ON_PAPER
from uk_dynamics.model.urdf.visuals import Box, Cylinder, MeshFile, Visual, appearance

Array = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Tasks, their two instants in s, from where one looks (azimuth and elevation in degrees)
SHOWN: dict[str, tuple[str, tuple[float, float], tuple[float, float]]] = {
    "ankle": ("gait", (0.5, 0.68), (118.0, 14.0)),
    "delta": ("pick", (0.0, 0.15), (-62.0, 14.0)),
    "excavator": ("dig", (1.5, 5.0), (-68.0, 12.0)),
    "gripper": ("grip", (0.0, 0.8), (-66.0, 12.0)),
    "two_arms": ("lift", (0.0, 2.4), (28.0, 20.0)),
}
# Tasks or none, duration in s, the rest likewise: simulated over steps of 1 ms, short ones of less
SIMULATED: dict[str, tuple[str, float, tuple[float, float], tuple[float, float]]] = {
    "block_grip": ("", 1.8, (1.1, 1.64), (-66.0, 12.0)),
    "excavator_lift": ("", 3.2, (0.4, 3.0), (-68.0, 12.0)),
    "rope_crane": ("lift", 4.0, (0.2, 2.0), (-68.0, 12.0)),
    "slider_crank_clearance": ("", 0.02, (0.002, 0.012), (-90.0, 8.0)),
    "stewart_drop": ("", 0.6, (0.0, 0.5), (-60.0, 14.0)),
}
WIDTH, TALLEST = 420, 420  # points of one of the two pictures
FINER = 3  # times, before it is reduced
MARGIN = 0.04  # of the picture
BACKGROUND = 1.0
SUN = np.array([0.35, -0.45, 0.85])  # to the light, in axes of the eye: right, up, towards it
COLOURS = 128


def triangles(visual: Visual) -> Array:
    """Corners of a shape in its link, (N, 3, 3)."""
    shape: Any = visual.shape
    if isinstance(shape, MeshFile):
        raise SystemExit(f"{visual.link}: only boxes, cylinders and spheres are drawn")
    if isinstance(shape, Box):
        mesh = trimesh.creation.box(shape.size)
    elif isinstance(shape, Cylinder):
        mesh = trimesh.creation.cylinder(shape.radius, shape.length, sections=32)
    else:
        mesh = trimesh.creation.icosphere(3, shape.radius)
    corners: Array = np.asarray(mesh.triangles)
    return corners @ visual.pose.rotation.T + visual.pose.translation


def scene(mechanism: Mechanism, state: State, view: Array) -> tuple[Array, Array]:
    """Corners of all triangles in axes of the eye, (N, 3, 3), and their colours, (N, 3)."""
    corners, colours = [], []
    for visual in appearance(mechanism.model.description).visuals:
        place, rotation = mechanism.pose(visual.link, state.q)
        found = (triangles(visual) @ rotation.T + place) @ view.T
        corners.append(found)
        colours.append(np.tile((visual.colour or (0.6,) * 4)[:3], (len(found), 1)))
    return np.concatenate(corners), np.concatenate(colours)


def drawn(corners: Array, colours: Array, low: Array, high: Array) -> Image.Image:
    """Paint triangles; what lies nearer to the eye hides the rest.

    Args:
        corners: In axes of the eye: right, up, towards it, (N, 3, 3).
        colours: Red, green, blue, (N, 3).
        low: Smallest corner of what is shown, (2,).
        high: Largest, (2,).
    """
    ratio = min((high - low)[1] / (high - low)[0] + 2.0 * MARGIN, TALLEST / WIDTH)
    size = (WIDTH, round(WIDTH * ratio))
    width, height = (FINER * length for length in size)
    scale = (1.0 - 2.0 * MARGIN) * min(width / (high - low)[0], height / (high - low)[1])
    points = corners.copy()
    points[:, :, :2] -= (low + high) / 2.0
    points *= scale
    points[:, :, 0] += width / 2.0
    points[:, :, 1] = height / 2.0 - points[:, :, 1]
    depth = np.full((height, width), -np.inf)
    which = np.full((height, width), -1)
    for index, (a, b, c) in enumerate(points):
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        left, top = np.maximum(np.floor(np.min((a, b, c), axis=0)[:2]).astype(int), 0)
        right, bottom = np.ceil(np.max((a, b, c), axis=0)[:2]).astype(int) + 1
        if area >= 0.0 or right <= left or bottom <= top:  # looks away, or lies outside
            continue
        x, y = np.meshgrid(np.arange(left, min(right, width)), np.arange(top, min(bottom, height)))
        first = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / area
        second = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / area
        third = 1.0 - first - second
        z = first * a[2] + second * b[2] + third * c[2]
        window = np.s_[top : top + x.shape[0], left : left + x.shape[1]]
        near = (first >= 0.0) & (second >= 0.0) & (third >= 0.0) & (z > depth[window])
        depth[window][near] = z[near]
        which[window][near] = index
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    light = 0.62 + 0.42 * np.clip(normals @ (SUN / np.linalg.norm(SUN)), 0.0, None)
    picture = np.where((which < 0)[..., None], BACKGROUND, (colours * light[:, None])[which])
    edge = np.zeros_like(depth, dtype=bool)  # where the depth jumps
    flat = np.where(np.isfinite(depth), depth, -1e6)
    for axis in (0, 1):
        edge |= np.abs(np.diff(flat, axis=axis, append=np.take(flat, [-1], axis))) > 0.02 * width
    picture[edge] *= 0.45
    bytes_ = (255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)
    return Image.fromarray(bytes_).resize(size, Image.Resampling.LANCZOS)


def picture(name: str) -> None:
    """Draw an example and leave the picture next to its README."""
    folder = EXAMPLES / name
    mechanism = Mechanism.from_file(folder / f"{name}.yaml")
    motion = None
    if name in SHOWN:
        tasks_name, instants, direction = SHOWN[name]
        tasks = Tasks.from_file(folder / f"{tasks_name}.yaml", mechanism)
        states = [mechanism.start(tasks=tasks, t=t) for t in instants]
    else:
        tasks_name, duration, instants, direction = SIMULATED[name]
        motion = simulated(mechanism, folder, tasks_name, duration)
        places = np.searchsorted(motion.t, instants).tolist()
        states = [State(float(motion.t[k]), motion.q[k], motion.v[k]) for k in places]
    a, e = np.deg2rad(direction)
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    view = np.array([right, np.cross(towards, right), towards])
    scenes = [scene(mechanism, state, view) for state in states]
    ends = np.concatenate([corners for corners, _ in scenes])[:, :, :2].reshape(-1, 2)
    low, high = ends.min(axis=0), ends.max(axis=0)
    parts = [drawn(corners, colours, low, high) for corners, colours in scenes]
    top = parts[0].height
    if motion is not None:
        parts.append(curves(motion, instants))
    both = Image.new("RGB", (2 * WIDTH, top + sum(part.height for part in parts[2:])), "white")
    for part, place in zip(parts, ((0, 0), (WIDTH, 0), (0, top)), strict=False):
        both.paste(part, place)
    path = folder / f"{name}.png"
    both.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB\n")


def simulated(mechanism: Mechanism, folder: Path, tasks: str, duration: float) -> Trajectory:
    """A motion with contacts, under the tasks of a file if it has a name."""
    control: dict[str, Any] = {}
    if tasks:
        servo = Tasks.from_file(folder / f"{tasks}.yaml", mechanism)
        control = {"controller": ServoController(mechanism, servo, control_period=0.005)}
        control["control_period"] = 0.005
    step = min(1e-3, duration / 500)
    control |= {"step": step, "sample_period": 10.0 * step}
    return simulate(mechanism, mechanism.start(), duration, method="moreau", **control)


def curves(motion: Trajectory, instants: tuple[float, float]) -> Image.Image:
    """Gaps and normal forces of contacts over time, and when the pictures above are."""
    figure = Figure(figsize=(2 * WIDTH / 100, 2.4), dpi=100, layout="constrained")
    above = [name for name in motion.contacts if not name.endswith("upper_stop")]
    for axes, values, label in zip(
        figure.subplots(1, 2), ("gap", "normal"), ("gap [m]", "normal force [N]"), strict=True
    ):
        for colour, name in zip(itertools.cycle(ON_PAPER), above, strict=False):
            axes.plot(
                motion.t, getattr(motion.contact(name), values), label=name, color=colour, lw=1
            )
        axes.set_xlabel("time [s]")
        axes.set_ylabel(label)
        for t in instants:
            axes.axvline(t, color="0.7", lw=0.8)
    axes.legend(fontsize=6)
    file = io.BytesIO()
    figure.savefig(file)
    return Image.open(file).convert("RGB")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or [*SHOWN, *SIMULATED]:
        picture(chosen)
