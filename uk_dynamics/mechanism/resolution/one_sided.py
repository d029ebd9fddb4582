# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One-sided constraints of a mechanism: contacts, hard stops, joints that stick, declared ones.

Each is a constraint like others while it is closed, and has no rows while it is open: it is a
switchable constraint that nobody switches, since what happens follows from the motion.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from uk_dynamics.constraints.kinds.frames import FrameVelocityRow
from uk_dynamics.constraints.rows import (
    BoxRow,
    Constraint,
    ContactRow,
    FrameRow,
    HeightField,
    HeightRow,
    HullRow,
    JointRow,
    Round,
    RoundRow,
    joint_terms,
)
from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import MechanismFileError, located
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.files.force_specification import ContactSpec
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.robot_resolution import frame_name
from uk_dynamics.model import RobotModel

_STICKING = ".sticking"
_FREEDOMS = 6  # of a frame
_HELD = 1e-9  # of unit directions: what is less is rounding


@dataclass(frozen=True)
class DryFriction:
    """Friction of a joint of the tree, in N·m or N, or of a loop joint, per force in it."""

    velocity: int | None  # index of the joint's velocity; None: of a loop joint
    coulomb: float  # while it slides
    static: float  # at most while it sticks


@dataclass(frozen=True)
class OneSided:
    """A constraint that acts in one direction, or up to a force."""

    name: str  # of the constraint that holds while it is closed; its row is of order position
    side: float  # the row may be positive (1) or negative (−1) while it is open
    # of the constraint, with rows of order velocity, that holds while it sticks; None: it slides
    # without friction
    sticking: str | None = None
    friction: float = 0.0  # μ while it slides, without unit
    static_friction: float = 0.0  # μ while it sticks, at least the same
    restitution: float = 0.0  # without unit
    poisson: bool = False  # whether restitution is Poisson's, of impulses, not of velocities
    # Of a joint that sticks; None: it is a contact, stop or declared constraint
    dry: DryFriction | None = None

    def __str__(self) -> str:
        if self.dry is not None:
            unit = "of the force in it" if self.dry.velocity is None else "N or N m"
            return f"sticks below {self.dry.static:g}, slides at {self.dry.coulomb:g} {unit}"
        restitution = "restitution" + " of impulses" * self.poisson
        static = self.static_friction * (self.static_friction > self.friction)
        numbers = (
            ("friction", self.friction),
            ("static friction", static),
            (restitution, self.restitution),
        )
        return ", ".join(f"{name} {value:g}" for name, value in numbers if value) or "smooth"

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of its constraints."""
        if self.dry is not None:
            return (self.name,)
        return (self.name,) if self.sticking is None else (self.name, self.sticking)


def mixed_restitutions(one_sided: Iterable[OneSided]) -> str:
    """What is doubtful about impacts by Poisson's law; empty: nothing.

    Friction of expansion is a part e of that of compression, which loses energy. With one e for all
    it then loses less; with several, impulses that balanced each other no longer do.
    """
    struck = [one for one in one_sided if one.poisson]
    found: dict[float, list[str]] = {}
    for one in struck:
        found.setdefault(one.restitution, []).append(one.name)
    if len(found) < 2 or not any(one.friction for one in struck):
        return ""
    told = "; ".join(f"{e:g} of {', '.join(names)}" for e, names in sorted(found.items()))
    return (
        f"solver.impacts: poisson with friction and several restitutions ({told}): where these"
        " strike at once, the energy may grow"
    )


def contact_constraints(
    spec: MechanismSpec, model: RobotModel, declared: Sequence[Constraint]
) -> Iterator[Constraint]:
    """The constraints of contacts, joints that stick and hard stops, all open."""
    gains = spec.stabilization
    made = partial(Constraint, frequency=gains.frequency, damping_ratio=gains.damping_ratio)
    for contact in spec.contacts:
        frames = {role: model.frame_index(frame_name(contact, role)) for role, _ in contact.frames}
        for name, labels in _parts(contact):
            yield made(name, "contact", tuple(_row(contact, label) for label in labels), **frames)
    for joint, _ in _dry_frictions(spec, model):
        terms = joint_terms([(joint.removesuffix(_STICKING), 1.0)], model)
        yield made(joint, "stiction", (JointRow("", terms, 0.0, velocities=True),))
    for one, pin in zip(spec.constraints, declared, strict=True):
        if one.friction is not None and one.friction.exact:
            with located(spec.file, f"constraints.{one.name}.friction.exact"):
                rows = _surface_rows(one, one.friction.radius, pin, spec.model.length)
            yield made(
                f"{one.name}{_STICKING}", "stiction", rows, parent=pin.parent, child=pin.child
            )
    for joint, side, limit in _hard_limits(spec, model):
        terms = joint_terms([(joint, 1.0)], model)
        yield made(_stop(joint, side), "stop", (JointRow("", terms, limit),))


def one_sided_constraints(spec: MechanismSpec, model: RobotModel) -> Iterator[OneSided]:
    """All of them, in the order of their constraints."""
    made = partial(OneSided, poisson=spec.solver.impacts == "poisson")
    for constraint in spec.constraints:
        if constraint.one_sided is not None:
            side = 1.0 if constraint.one_sided == "at_least" else -1.0
            yield made(constraint.name, side, restitution=constraint.restitution)
    for contact in spec.contacts:
        names = [name for name, _ in _parts(contact)]
        sticking = names[1] if len(names) > 1 else None
        static = contact.friction if contact.static_friction is None else contact.static_friction
        if static < contact.friction or (static and not contact.friction):
            raise MechanismFileError(
                f"expected at least the friction of {contact.friction:g}, and that above 0, found"
                f" {static:g}",
                file=spec.file,
                place=f"contacts.{contact.name.partition('.')[0]}.static_friction",
            )
        yield made(names[0], 1.0, sticking, contact.friction, static, contact.restitution)
    pins = (
        (f"{one.name}{_STICKING}", DryFriction(None, one.friction.coulomb, one.friction.static))
        for one in spec.constraints
        if one.friction is not None and one.friction.exact
    )
    for name, dry in (*_dry_frictions(spec, model), *pins):
        yield OneSided(name, 0.0, name, 1.0, 1.0, dry=dry)
    restitution = {name: joint.stop_restitution for name, joint in spec.joints}
    for joint, side, _ in _hard_limits(spec, model):
        yield made(_stop(joint, side), side, restitution=restitution[joint])


def _row(contact: ContactSpec, label: str) -> FrameRow:
    if contact.hulls is not None:
        return HullRow(label, contact.hulls, contact.point)
    if contact.surface is None:
        return ContactRow(label, contact.radius)
    child = Round(contact.radius, 0.5 * contact.length)
    if isinstance(contact.heights, HeightField):
        return HeightRow(label, contact.surface, child, contact.heights)
    if contact.box is not None:
        return BoxRow(label, contact.surface, child, contact.box)
    return RoundRow(label, contact.surface, child)


def _surface_rows(
    spec: ConstraintSpec, radius: float, joint: Constraint, length: float
) -> tuple[FrameVelocityRow, ...]:
    """Velocities of the surfaces of a loop joint, in m/s, along the directions that it leaves."""
    held, held_turns, _, arms = spec.kind.surfaces(joint.rows)
    slides = null_basis(np.reshape(held, (-1, 3)), _HELD).T
    turns = np.array(arms) if arms else null_basis(np.reshape(held_turns, (-1, 3)), _HELD).T
    if len(joint.rows) + len(slides) + len(turns) != _FREEDOMS:
        raise MechanismFileError(
            f"what turns in a {spec.type} also slides, and its friction is regularised; leave exact"
            " out"
        )
    moving = [(name, x, False) for name, x in zip("xyz", slides, strict=False)]
    if radius:
        names = zip(("rx", "ry", "rz"), turns * radius / length, strict=False)
        moving += [(name, x, True) for name, x in names]
    if not moving:
        raise MechanismFileError("nothing slides; give the radius of what it turns on")
    return tuple(
        FrameVelocityRow(name, (float(x), float(y), float(z)), angular, name == "ry" and bool(arms))
        for name, (x, y, z), angular in moving
    )


def _parts(contact: ContactSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names of the constraints of a contact, and labels of their rows."""
    yield contact.name, ("normal",)
    if contact.friction:
        yield f"{contact.name}{_STICKING}", ("x", "y")


def _stop(joint: str, side: float) -> str:
    return f"{joint}.{'lower' if side > 0 else 'upper'}_stop"


def _dry_frictions(spec: MechanismSpec, model: RobotModel) -> Iterator[tuple[str, DryFriction]]:
    """Joints that stick, by the names of their constraints."""
    for name, joint in spec.joints:
        if not joint.stiction:
            continue
        index = model.velocity_index(name)
        coulomb = float(model.friction[index]) if joint.friction is None else joint.friction
        if joint.stiction < coulomb:
            raise MechanismFileError(
                f"expected at least the friction of {coulomb:g}, found {joint.stiction:g}",
                file=spec.file,
                place=f"joints.{name}.stiction",
            )
        yield f"{name}{_STICKING}", DryFriction(index, coulomb, joint.stiction)


def _hard_limits(spec: MechanismSpec, model: RobotModel) -> Iterator[tuple[str, float, float]]:
    """Joints with hard stops, the side that is free, and where they are."""
    for name, joint in spec.joints:
        if not joint.stop_hard:
            continue
        index = model.velocity_index(name)
        limits = (1.0, float(model.lower[index])), (-1.0, float(model.upper[index]))
        found = [(name, side, limit) for side, limit in limits if np.isfinite(limit)]
        if not found:
            raise MechanismFileError(
                "the joint has no limits in the URDF; a hard stop stands at a limit",
                file=spec.file,
                place=f"joints.{name}.stop",
            )
        yield from found
