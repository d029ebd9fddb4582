# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The reachable set of a frame, as data, as a Parquet table and as a picture."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.colours import COLOURS
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.escaping import plot_text
from uk_dynamics.mechanism.kinematics import ForceEnvelope, Kind
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.plots import RESOLUTION, empty_figure
from uk_dynamics.simulation.recording import NO_PARQUET
from uk_dynamics.whole_file import output_file


@dataclass(frozen=True, eq=False)
class Locus:
    """Singular configurations of one kind."""

    kind: Kind  # ``loops``, ``motors`` (parallel) or ``task`` (serial)
    q: Array  # configurations, (n, nq)
    places: Array  # of the frame there, (n, 3), in m


@dataclass(frozen=True, eq=False)
class ReachableSet:
    """Closed configurations that were reached, and what holds at each."""

    mechanism: str  # name of the mechanism
    frame: str  # name of the frame
    positions: tuple[str, ...]  # names of the coordinates of q
    q: Array  # configurations, (K, nq); the last ones are those furthest along each axis
    places: Array  # of the frame, (K, 3), in m
    rotations: Array  # of the frame, (K, 3, 3)
    measures: dict[Kind, Array]  # distance to singular configurations, (K,) each, by kind; 0 at one
    loci: tuple[Locus, ...]  # singular configurations that were found
    # envelope of forces at each configuration; None where motors have no limits
    forces: tuple[ForceEnvelope, ...] | None
    torques: tuple[ForceEnvelope, ...] | None  # likewise of torques, of a frame that turns
    notes: tuple[str, ...]  # why something is missing, one line each

    @property
    def extent(self) -> Array:
        """Least and largest x, y, z of the frame, (2, 3), in m."""
        return np.stack([self.places.min(axis=0), self.places.max(axis=0)])

    @property
    def regularity(self) -> Array:
        """The smallest of the measures, (K,)."""
        found: Array = np.min(list(self.measures.values()), axis=0)
        return found

    def columns(self) -> dict[str, Any]:
        """A table: a row for each configuration that was reached, then for each singular one."""
        loci = [(locus, k) for locus in self.loci for k in range(len(locus.q))]
        count = len(self.q)
        blank = np.full(len(loci), np.nan)
        q = np.vstack([self.q, *(locus.q for locus in self.loci)])
        places = np.vstack([self.places, *(locus.places for locus in self.loci)])
        turns = np.vstack([to_quaternion(self.rotations), np.full((len(loci), 4), np.nan)])
        table: dict[str, Any] = {
            "singular": np.array([""] * count + [locus.kind for locus, _ in loci]),
            **dict(zip(("x", "y", "z"), places.T, strict=True)),
            **dict(zip(("qx", "qy", "qz", "qw"), turns.T, strict=True)),
        }
        table |= {f"measure_{kind}": np.append(x, blank) for kind, x in self.measures.items()}
        for what, envelopes in (("force", self.forces), ("torque", self.torques)):
            if envelopes is None:
                continue
            table[f"{what}_guaranteed"] = np.append([e.guaranteed for e in envelopes], blank)
            table[f"{what}_largest"] = np.append([_largest(e) for e in envelopes], blank)
        return table | {f"q.{name}": q[:, k] for k, name in enumerate(self.positions)}


def _largest(envelope: ForceEnvelope) -> float:
    return float(np.linalg.norm(envelope.vertices, axis=1).max(initial=0.0))


_KINDS = {"loops": ("v", COLOURS[6]), "motors": ("o", COLOURS[1]), "task": ("s", COLOURS[3])}
_NAMES = {"loops": "loops singular", "motors": "motors singular", "task": "task singular"}
_STILL = 1e-6  # part of the extent
_SHOWN = 95  # percent of the values that colours tell apart
_POLYGONS = 12
_POLYGON_SIZE = 0.06  # part of the extent, of the largest one


def write_parquet(workspace: ReachableSet, path: str | Path) -> None:
    """Write the table of a workspace; InputError: pyarrow is missing, or it cannot be written."""
    arrow, parquet = (optional_library(n, NO_PARQUET, path) for n in ("pyarrow", "pyarrow.parquet"))
    table = arrow.table(workspace.columns())
    told = {"mechanism": workspace.mechanism, "frame": workspace.frame}
    with output_file(path) as unfinished:
        parquet.write_table(table.replace_schema_metadata(told), unfinished)


def write_picture(workspace: ReachableSet, mechanism: Mechanism, path: str | Path) -> None:
    """Draw how regular a workspace is and where not, and what forces can be held there."""
    path = Path(path)
    figure = empty_figure(path)
    panels = 1 + (workspace.forces is not None) + (workspace.torques is not None)
    figure.set_size_inches(5.6 * panels, 5.0)
    axes = _axes(workspace)
    room = {"projection": "3d"} if len(axes) == 3 else {}
    first, *others = (figure.add_subplot(1, panels, k + 1, **room) for k in range(panels))
    _regularity(figure, first, workspace, axes)
    envelopes = [
        (what, unit, found)
        for what, unit, found in (
            ("force", "N", workspace.forces),
            ("torque", "N m", workspace.torques),
        )
        if found is not None
    ]
    for axis, (what, unit, found) in zip(others, envelopes, strict=True):
        guaranteed = np.array([each.guaranteed for each in found])
        shown = _scatter(axis, workspace.places[:, axes], guaranteed, "cividis")
        figure.colorbar(shown, ax=axis, label=f"{what} held in any direction [{unit}]", shrink=0.8)
        if what == "force" and len(axes) == 2:
            _polygons(axis, workspace, axes)
    for axis in (first, *others):
        _skeleton(axis, mechanism, workspace.q[0], axes)
        _dress(axis, axes)
    figure.suptitle(plot_text(f"{workspace.mechanism}: where {workspace.frame} gets to"))
    with output_file(path) as unfinished:
        figure.savefig(unfinished, dpi=RESOLUTION)


def _axes(workspace: ReachableSet) -> list[int]:
    """The axes along which it extends; at least two."""
    span = np.ptp(workspace.places, axis=0)
    moving = [int(k) for k in np.flatnonzero(span > _STILL * span.max(initial=0.0))]
    if len(moving) < 2:
        moving = sorted({*moving, 2 if 2 not in moving else 0, 0 if 2 not in moving else 2})[:2]
    return moving


def _regularity(figure: Any, axis: Any, workspace: ReachableSet, axes: list[int]) -> None:
    shown = _scatter(axis, workspace.places[:, axes], workspace.regularity, "viridis")
    figure.colorbar(shown, ax=axis, label="distance to singularities (0: singular)", shrink=0.8)
    for locus in workspace.loci:
        if len(locus.places):
            marker, colour = _KINDS[locus.kind]
            axis.scatter(
                *locus.places[:, axes].T,
                marker=marker,
                s=14,
                color=colour,
                label=_NAMES[locus.kind],
            )
    if any(len(locus.places) for locus in workspace.loci):
        axis.legend(loc="upper left", fontsize="small", edgecolor="none")


def _scatter(axis: Any, places: Array, values: Array, colours: str) -> Any:
    most = float(np.percentile(values, _SHOWN)) or 1.0  # near singular configurations it has no end
    return axis.scatter(*places.T, c=values, s=6, cmap=colours, vmin=0.0, vmax=most, linewidths=0.0)


def _polygons(axis: Any, workspace: ReachableSet, axes: list[int]) -> None:
    """Force polygons at a few places that are far from each other."""
    from matplotlib.patches import Polygon
    from scipy.spatial import ConvexHull, QhullError

    assert workspace.forces is not None
    regular = workspace.regularity >= np.median(workspace.regularity)
    places = workspace.places[regular][:, axes]
    envelopes = list(itertools.compress(workspace.forces, regular))
    chosen = [0]
    for _ in range(_POLYGONS - 1):
        away = np.linalg.norm(places[:, None] - places[chosen], axis=2).min(axis=1)
        chosen.append(int(np.argmax(away)))
    hulls = []
    for k in chosen:
        corners = envelopes[k].vertices
        try:
            hulls.append((places[k], corners[ConvexHull(corners).vertices]))
        except (QhullError, ValueError, IndexError):  # a line, or nothing
            continue
    sizes = [np.abs(corners).max() for _, corners in hulls]
    if not sizes:
        return
    scale = _POLYGON_SIZE * float(np.ptp(places, axis=0).max()) / float(np.median(sizes))
    for place, corners in hulls:
        outline = place + scale * corners
        axis.add_patch(Polygon(outline, closed=True, fill=False, color=COLOURS[1], linewidth=1.0))
    axis.set_title(f"outlines: forces held there, {1.0 / scale:.3g} N per m", fontsize="small")


def _skeleton(axis: Any, mechanism: Mechanism, q: Array, axes: list[int]) -> None:
    """Lines from joint to joint, and to where loops are closed."""
    places = {name: mechanism.pose(name, q)[0] for name in mechanism.model.frame_names}
    pairs = [(j.parent, j.child) for j in mechanism.model.description.joints]
    pairs += [(frame.link, frame.name) for frame in mechanism.model.attached]
    for begin, end in pairs:
        if begin in places and end in places:
            line = np.array([places[begin], places[end]])[:, axes]
            axis.plot(*line.T, color="0.45", linewidth=1.2, zorder=0)


def _dress(axis: Any, axes: list[int]) -> None:
    axis.set_xlabel(f"{'xyz'[axes[0]]} [m]")
    axis.set_ylabel(f"{'xyz'[axes[1]]} [m]")
    if len(axes) == 3:
        axis.set_zlabel("z [m]")
    axis.set_aspect("equal")
    axis.grid(True, alpha=0.3)
