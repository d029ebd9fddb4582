# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a tree may have been cut: frames on each other, and how the joints of such a loop move."""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.model.kinematics.workspace import Workspace
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import Array

COINCIDENT = 1e-3  # of the machine's size: what descriptions with rounded lengths leave open
NEAR = 2e-2
_MARKER_MASS = 1e-6  # of the whole: some exporters give frames a mass above zero
_SAMPLES = 3  # configurations at which frames that belong together lie on each other as well
_EXCURSION = 0.4  # rad or m


@dataclass(frozen=True)
class Coincidence:
    """Two frames at one place that joints can move apart."""

    parent: str  # the link that fewer joints carry
    child: str  # the other one
    distance: float  # distance of the origins, in m
    turned: float  # angle between the frames, in rad
    marked: bool  # whether one of the links is there for its place only: a leaf without mass


def machine_size(model: RobotModel, q: Array) -> float:
    """Largest extent of all link frames along a world axis, in m; 1 where all are at one point."""
    workspace = model.workspace()
    workspace.update_positions(q)
    return float(np.ptp(workspace.translation, axis=0).max()) or 1.0


def coincident_frames(
    model: RobotModel,  # the tree
    q: Array,  # configuration, (nq,)
    *,
    within: float = COINCIDENT,  # largest distance as a fraction of the machine's size
) -> tuple[Coincidence, ...]:
    """Find the pairs of links whose origins coincide, but only here.

    Of several links at one place each is paired with the first, so that no loop is closed twice;
    links that are always together count as one. Links that one joint connects are no loop, and
    massless links that carry others, such as carriages of slides, are not the markers of a pin.
    """
    from scipy.spatial import cKDTree

    workspace = model.workspace()

    workspace.update_positions(q)
    places = workspace.translation[: len(model.link_names)].copy()
    radius = within * machine_size(model, q)
    pairs = sorted(cKDTree(places).query_pairs(radius))
    together = _always_together(model, q, pairs, radius)
    markers = _markers(model)
    groups = _representatives(together, markers)
    candidates = {(_root(groups, a), _root(groups, b)) for a, b in pairs}
    massless = _massless(model)
    partner: dict[int, int] = {}
    found = []
    for a, b in sorted(candidates, key=lambda pair: (not markers & set(pair), pair)):
        if a == b or _root(partner, a) == _root(partner, b):
            continue
        moving, _ = model.ancestry.between(a, b)
        if len(moving) < 2 or not (markers & {a, b} or massless.isdisjoint((a, b))):
            continue
        partner[_root(partner, b)] = _root(partner, a)
        found.append(coincidence(model, workspace, a, b, marked=bool(markers & {a, b})))
    return tuple(found)


def _root(partner: dict[int, int], frame: int) -> int:
    while frame in partner:
        frame = partner[frame]
    return frame


def coincidence(
    model: RobotModel, workspace: Workspace, a: int, b: int, *, marked: bool
) -> Coincidence:
    """Two frames, by number, where a workspace was updated."""
    parent, child = sorted((a, b), key=lambda frame: (len(model.ancestry.path(frame)), frame))
    relative = workspace.rotation[parent].T @ workspace.rotation[child]
    turned = float(np.arccos(np.clip((np.trace(relative) - 1.0) / 2.0, -1.0, 1.0)))
    distance = float(np.linalg.norm(workspace.translation[parent] - workspace.translation[child]))
    return Coincidence(
        model.frame_names[parent], model.frame_names[child], distance, turned, marked
    )


def marker_links(model: RobotModel) -> tuple[str, ...]:
    """Massless leaf links: they only mark a place."""
    return tuple(model.frame_names[index] for index in sorted(_markers(model)))


def _markers(model: RobotModel) -> set[int]:
    carriers = {model.frame_index(joint.parent) for joint in model.description.joints}
    return _massless(model) - carriers


def _massless(model: RobotModel) -> set[int]:
    heaviest = _MARKER_MASS * (model.total_mass or 1.0)
    links = model.description.links
    return {model.frame_index(link.name) for link in links if link.mass <= heaviest}


def _always_together(
    model: RobotModel, q: Array, pairs: list[tuple[int, int]], radius: float
) -> list[tuple[int, int]]:
    """Pairs that lie on each other wherever the joints are."""
    chance = np.random.default_rng(0)
    workspace = model.workspace()
    for _ in range(_SAMPLES):
        excursion = chance.uniform(-_EXCURSION, _EXCURSION, model.nv)
        workspace.update_positions(model.integrate(q, excursion))
        at = workspace.translation
        pairs = [(a, b) for a, b in pairs if float(np.linalg.norm(at[a] - at[b])) <= radius]
    return pairs


def _representatives(together: list[tuple[int, int]], markers: set[int]) -> dict[int, int]:
    """The representative of links that are always together: a marker if there is one."""
    partner: dict[int, int] = {}
    for a, b in together:
        first, second = _root(partner, a), _root(partner, b)
        if first != second:
            keep, give = (second, first) if second in markers else (first, second)
            partner[give] = keep
    return partner


_MANY = 0.5  # of the axes must agree before the others are said to deviate


@dataclass(frozen=True)
class LoopDirections:
    """What the joints between two frames do at a configuration, in world axes."""

    # normal of the plane that most joints move in, unit, (3,); None: they share none
    normal: Array | None
    # angle of each joint's motion out of that plane, in rad, by joint name: of a revolute axis to
    # the normal, of a prismatic axis to the plane
    deviations: dict[str, float]

    def planar(self, tolerance: float) -> bool:
        """Whether all joints move in one plane, up to an angle in rad."""
        return self.normal is not None and all(
            deviation <= tolerance for deviation in self.deviations.values()
        )


def loop_directions(
    model: RobotModel,
    workspace: Workspace,  # updated at the configuration
    parent: int,  # number of a frame
    child: int,  # number of the other
) -> LoopDirections:
    """Look at the joints that move one frame relative to another."""
    velocities, _ = model.ancestry.between(parent, child)
    if not set(velocities) <= set(model.velocity_of_joint.tolist()):
        return LoopDirections(None, {})  # a floating base moves in all directions
    jacobian = np.asarray(workspace.jacobian)
    turning, sliding = {}, {}
    for velocity in velocities:
        name = model.velocity_names[velocity]
        angular = jacobian[3:, velocity]
        if np.linalg.norm(angular) > 0.5:
            turning[name] = angular
        else:
            sliding[name] = jacobian[:3, velocity]
    normal = _common_direction(list(turning.values()))
    if normal is None:
        return LoopDirections(None, {})
    deviations = {name: _angle(axis, normal) for name, axis in turning.items()}
    deviations |= {name: np.pi / 2 - _angle(axis, normal) for name, axis in sliding.items()}
    return LoopDirections(normal, {name: float(abs(d)) for name, d in deviations.items()})


def _angle(one: Array, other: Array) -> float:
    """Between two lines, 0 to π/2."""
    across = float(np.linalg.norm(np.cross(one, other)))
    return float(np.arctan2(across, abs(float(one @ other))))


def _common_direction(axes: list[Array]) -> Array | None:
    """The direction that most axes have, one of them; None where not half of them agree."""
    best: tuple[int, float, Array] | None = None
    for axis in axes:
        angles = [_angle(axis, other) for other in axes]
        close = [angle for angle in angles if angle < 0.2]
        key = (len(close), -sum(close))
        if best is None or key > best[:2]:
            best = (*key, axis)
    if best is None or best[0] < max(2, _MANY * len(axes)):
        return None
    return best[2]
