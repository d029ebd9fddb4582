# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where contacts touch, in world axes, and where those of a sole press together: patches."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType

import numpy as np

from uk_dynamics.constraints.rows import ContactRow, HeldFeatures, RoundRow
from uk_dynamics.core.linalg import null_basis, skew
from uk_dynamics.mechanism.contact.contact import Contact
from uk_dynamics.mechanism.contact.contact_reactions import TOUCHES
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array

_FLAT = 1e-9  # of the patch: points that are nearer to a line are on it


class ContactPoints:
    """Points and axes of the contacts of a mechanism, in memory of its own; not for threads."""

    def __init__(
        self, mechanism: ResolvedMechanism, features: HeldFeatures = MappingProxyType({})
    ) -> None:
        """Look up rows and frames; of convex hulls held features, or those that are nearest."""
        self._mechanism = mechanism
        self._workspace = mechanism.model.workspace()
        self._workspace.features = features
        kinds = {c.name: c for c in mechanism.constraints.constraints if c.kind == "contact"}
        slices = mechanism.constraints.slices
        self.names = tuple(one.name for one in mechanism.one_sided if one.name in kinds)
        self._children = [kinds[name].child for name in self.names]
        self._parents = [kinds[name].parent for name in self.names]
        # of the sphere on the child whose surface touches
        rows = [kinds[name].rows[0] for name in self.names]
        self._radius = [
            row.radius if isinstance(row, ContactRow | RoundRow) else 0.0 for row in rows
        ]
        self._rows = [
            [slices[one.name].start]
            + ([] if one.sticking is None else list(range(*slices[one.sticking].indices(10**9))))
            for one in mechanism.one_sided
            if one.name in kinds
        ]

    def at(self, q: Array) -> tuple[Array, Array]:
        """Where they touch, or would, at a configuration (nq,).

        Returns:
            Points, (c, 3), in m; and the normal into the child and two tangents, as rows,
            (c, 3, 3).
        """
        self._workspace.update_positions(q)
        wrenches = self._mechanism.constraints.wrenches(self._workspace)
        points, axes = np.zeros((len(self.names), 3)), np.zeros((len(self.names), 3, 3))
        for k, (rows, child) in enumerate(zip(self._rows, self._children, strict=True)):
            assert child is not None
            along, turning = wrenches[rows, :3], wrenches[rows, 3:]
            if not along.any():  # a pair of hulls has fewer points here
                points[k], axes[k] = self._workspace.translation[child], np.eye(3)
                continue
            lengths = np.linalg.norm(along, axis=1)[:, None]
            along, turning = along / lengths, turning / lengths
            near = self._workspace.translation[child] - self._radius[k] * along[0]
            # on the line of each row's force: p × e = τ
            lever = -skew(along).reshape(-1, 3)
            missing = turning.ravel() - lever @ near
            points[k] = near + np.linalg.lstsq(lever, missing, rcond=1e-9)[0]
            if len(rows) == 1:
                first = np.cross(along[0], np.eye(3)[int(np.argmin(np.abs(along[0])))])
                first /= np.linalg.norm(first)
                along = np.stack((along[0], first, np.cross(along[0], first)))
            axes[k] = along
        return points, axes

    def lean(self, name: str, q: Array) -> float | None:
        """Angle, 0 to π rad, between a contact's normal and the line to the body that it carries.

        The line leads to the centre of mass of the child's body, or of the parent's where the child
        is ground, at a configuration (nq,); None: that body has no mass.
        """
        k, model = self.names.index(name), self._mechanism.model
        points, axes = self.at(q)
        frame, parent, out = self._children[k], self._parents[k], axes[k, 0]
        assert frame is not None
        assert parent is not None
        if model.body_frames[frame].body < 0:
            frame, out = parent, -out
        fixed = model.body_frames[frame]
        body = model.bodies[fixed.body]
        if not body.mass:
            return None
        turned = self._workspace.rotation[frame] @ fixed.rotation.T
        line = self._workspace.translation[frame] - points[k]
        line = line + turned @ (body.center - fixed.translation)
        return float(np.arctan2(np.linalg.norm(np.cross(out, line)), out @ line))

    def paradox(self, name: str, friction: float, q: Array, *, several: bool) -> tuple[str, str]:
        """What friction of a sliding contact leaves, as a sentence; and from what friction on."""
        what = "several motions" if several else "no motion; an impact stops it"
        begins, lean = f": so from {friction:.4g} on", self.lean(name, q)
        if lean is not None:
            begins += f", its normal {np.degrees(lean):.4g} deg off the centre of mass"
        return f"friction of {name} leaves {what} (Painlevé's paradox)", begins


@dataclass(frozen=True, eq=False)
class Patch:
    """Points of one link that touch one surface, as the sole of a foot.

    Attributes:
        contacts: Those that touch, by name.
        force: Normal force of all of them, in N.
        center: Centre of pressure in world axes, (3,), in m; of several patches that share a load
            it is that of the forces told.
        tipping_margin: Distance from there to the nearest edge of the polygon of all points, or to
            the nearer end of their line, in m; it is 0 where the patch tips. None where there is
            one point, about which it turns.
        tips_over: The contacts on that edge.
    """

    contacts: tuple[str, ...]
    force: float
    center: Array
    tipping_margin: float | None
    tips_over: tuple[str, ...]


def contact_patches(
    mechanism: ResolvedMechanism, q: Array, contacts: Mapping[str, Contact]
) -> dict[str, Patch]:
    """Patches that press, by the entries of the mechanism file that they are of.

    Args:
        mechanism: With contacts.
        q: Configuration, (nq,).
        contacts: There, by name, with their forces.
    """
    places = ContactPoints(mechanism)
    points, axes = places.at(q)
    declared = {one.name: one for one in mechanism.spec.contacts}
    groups: dict[object, list[int]] = {}
    for k, name in enumerate(places.names):
        if contacts[name].gap <= TOUCHES:
            spec = declared[name]
            surface = spec.parent, spec.surface, spec.box
            groups.setdefault((repr(surface), spec.child.link), []).append(k)
    found = {}
    for group in groups.values():
        names = [places.names[k] for k in group]
        forces = np.array([max(contacts[name].force[0], 0.0) for name in names])
        if (total := float(forces.sum())) > 0.0:
            center = forces @ points[group] / total
            margin, over = _margin(points[group] - center, forces @ axes[group, 0])
            entries = dict.fromkeys(name.rpartition(".")[0] or name for name in names)
            own = " + ".join(entries) if len(names) > 1 else names[0]
            found[own] = Patch(tuple(names), total, center, margin, tuple(compress(names, over)))
    return found


def _margin(points: Array, normal: Array) -> tuple[float | None, list[bool]]:
    """How far the origin is from the edge of the hull of points (n, 3), and which are on that."""
    from scipy.spatial import ConvexHull  # takes long to import

    flat = points @ null_basis(normal[None] / np.linalg.norm(normal), 0.5)
    size = float(np.abs(flat - flat[0]).max())
    if not size > 0.0:
        return None, []
    _, spread, along = np.linalg.svd(flat - flat.mean(axis=0))
    line = spread[1] <= _FLAT * size
    out = np.stack((along[0], -along[0])) if line else ConvexHull(flat).equations[:, :2]
    reach = flat @ out.T
    edge = reach[:, int(np.argmin(reach.max(axis=0)))]
    return max(float(edge.max()), 0.0), (edge >= edge.max() - _FLAT * size).tolist()
