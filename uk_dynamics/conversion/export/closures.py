# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The constraints of a mechanism, each as a kind that a format has, or as a remark.

A planar loop needs two rows of a pin, which no other format has: a whole pin, ball joint or weld
stands for them where its further rows hold anyway. Whether they do is tried at closed states of the
machine: they are zero there and add nothing to the rows that there are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from uk_dynamics.constraints.kinds import Kind, kinds
from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.constraints.kinds.joints import Joint, JointCoupling, RackAndPinion
from uk_dynamics.constraints.kinds.pairs import (
    Cylindrical,
    Hinge,
    Planar,
    Point,
    Prismatic,
    Universal,
    Weld,
)
from uk_dynamics.constraints.references import Constant
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine, moved, pose_of
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.core.linalg import spanning_rows
from uk_dynamics.mechanism.files import ConstraintSpec, MechanismSpec
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import Pose

_REPLACEABLE = (Frame, Cylindrical, Hinge, Planar, Point, Prismatic, Universal, Weld)
_SAMPLES = 3  # closed states besides the assembled one
_STEP = 0.1  # between them, in rad and m, in parts of the machine's size
_SAME = 1e-7  # part of a row that others do not span; rounding of decompositions is below
AXES = tuple((float(i == 0), float(i == 1), float(i == 2)) for i in range(3))


# what a format calls the kinds that it has, the one first that is to stand for others
Words = dict[type[Kind], str]


def carried(by: str) -> Words:
    """Kinds between frames that a format has a word for, by what the kinds themselves say.

    Of several that can stand for another the first is taken: those without an axis come first, then
    those that hold most.
    """

    def order(kind: type[Kind]) -> tuple[bool, int]:
        rows = kind.removes if isinstance(kind.removes, int) else 0
        return "axis" in kind.keys, -rows if "axis" in kind.keys else rows

    found = [kind for kind in kinds().values() if by in kind.foreign_names and kind.frames]
    return {kind: kind.foreign_names[by][0] for kind in sorted(found, key=order)}


def closures(
    machine: Machine, known: Words, *, weld_held: bool = True, contacts: bool = False
) -> tuple[list[Closure], list[Coupling]]:
    """Express the constraints in the kinds that a format has, the first ones preferably.

    What cannot be expressed becomes remarks; a joint that is held may become a weld of its links.
    contacts: whether the format has contacts and stops, which are written elsewhere.
    """
    found: list[Closure] = []
    couplings: list[Coupling] = []
    open_: list[ConstraintSpec] = []
    for spec in machine.mechanism.spec.constraints:
        _remark_extras(machine, spec)
        if spec.one_sided is not None:
            _row_lost(machine, spec, "that it is one-sided")
            continue
        offset = _offset(spec)
        if offset is None:
            _row_lost(machine, spec, "what it follows over time")
        elif not spec.kind.frames:
            coupling = _coupling(spec, offset)
            if coupling is None:
                _row_lost(machine, spec, f"type {spec.type}")
            elif weld_held and len(coupling.joints) == 1:
                found.append(_held(machine, coupling))
            else:
                couplings.append(coupling)
        elif offset:
            _row_lost(machine, spec, "its reference, which is not zero")
        elif isinstance(spec.kind, tuple(known)):
            found.append(_closure(spec, spec.kind))
        else:
            open_.append(spec)
    chosen = stand_ins(machine.mechanism, open_, lambda kind: _kinds(kind, known)) if open_ else {}
    alike: dict[tuple[str, int], list[str]] = {}
    for spec in open_:
        kind = chosen.get(spec.name)
        if kind is None:
            _row_lost(machine, spec, f"type {spec.type}")
            continue
        found.append(_closure(spec, kind))
        alike.setdefault((kind.name, kind.row_count - spec.kind.row_count), []).append(spec.name)
    for (name, extra), names in alike.items():
        more = "1 more row, which holds" if extra == 1 else f"{extra} more rows, which hold"
        reason = f"a whole {name}{' each' * (len(names) > 1)}: {more} anyway"
        machine.changed(named("constraint", names), reason)
    order = [spec.name for spec in machine.mechanism.spec.constraints]
    found.sort(key=lambda closure: order.index(closure.name))
    for one in machine.mechanism.one_sided:
        if one.dry is not None:
            if one.dry.velocity is None:
                continue  # with its friction
            joint = one.name.removesuffix(".sticking")
            machine.lost(f"joint {joint}", "stiction; its friction while sliding is written")
        elif one.name not in order and not contacts:
            machine.lost(f"contact or stop {one.name}", "it is missing", structural=True)
    for mimic in machine.mechanism.model.mimic:
        terms = ((mimic.joint, 1.0), (mimic.source, -mimic.multiplier))
        couplings.append(Coupling(f"mimic_{mimic.joint}", terms, mimic.offset, mimic=True))
    return found, couplings


def written(machine: Machine, found: Iterable[Closure]) -> Iterator[Closure]:
    """Those that hold at the start, for a format whose constraints cannot be switched."""
    for closure in found:
        if not closure.active:
            machine.off(closure.name)
            continue
        if closure.switchable:
            machine.lost(f"constraint {closure.name}", "that it can be switched off")
        yield closure


def _row_lost(machine: Machine, spec: ConstraintSpec, what: str) -> None:
    reason = f"{what} has no counterpart: its rows are missing"
    machine.lost(f"constraint {spec.name}", reason, structural=True)


def _remark_extras(machine: Machine, spec: ConstraintSpec) -> None:
    if spec.compliance:
        machine.lost(f"constraint {spec.name}", "its compliance: it is rigid there")
    if spec.friction is not None:
        machine.lost(f"constraint {spec.name}", "its friction")


def _offset(spec: ConstraintSpec) -> float | None:
    """What the one row of a constraint is held at, or 0; None: it moves, or rows differ in it."""
    if spec.reference is None:
        return 0.0
    if not isinstance(spec.reference, Constant):
        return None
    values = np.ravel(spec.reference.sample(0.0).value)
    if not values.any():
        return 0.0
    return float(values[0]) if len(values) == 1 else None


def _coupling(spec: ConstraintSpec, offset: float) -> Coupling | None:
    kind = spec.kind
    active = spec.switching is None or spec.switching.active
    if isinstance(kind, Joint):
        return Coupling(spec.name, ((kind.joint, 1.0),), offset, active)
    if isinstance(kind, JointCoupling):
        return Coupling(spec.name, kind.joints, kind.offset + offset, active)
    if isinstance(kind, RackAndPinion):
        joints = ((kind.rack, 1.0), (kind.pinion, -kind.radius))
        return Coupling(spec.name, joints, kind.offset + offset, active)
    return None


def _held(machine: Machine, coupling: Coupling) -> Closure:
    """The links of a joint, welded where it is held."""
    ((name, factor),) = coupling.joints
    joint = next(joint for joint in machine.joints if joint.name == name)
    machine.changed(f"constraint {coupling.name}", "a weld of the links of its joint")
    ends = (joint.parent, moved(joint, coupling.offset / factor)), (joint.child, Pose())
    return Closure(coupling.name, Weld(), *ends, active=coupling.active)


def _closure(spec: ConstraintSpec, kind: Kind) -> Closure:
    parent, child = ((end.link, pose_of(end)) for _, end in spec.frames)
    switching = spec.switching
    active = switching is None or switching.active
    return Closure(spec.name, kind, parent, child, active, switching is not None)


def stand_ins(
    mechanism: Mechanism, specs: Sequence[ConstraintSpec], kinds: Callable[[Kind], Iterator[Kind]]
) -> dict[str, Kind]:
    """By name of the constraint the first kind whose rows say what all constraints say."""
    candidates = {
        spec.name: {f"{spec.name} {n}": kind for n, kind in enumerate(kinds(spec.kind))}
        for spec in specs
        if isinstance(spec.kind, _REPLACEABLE) and len(spec.frames) == 2
    }
    more = tuple(
        replace(spec, name=name, kind=kind, switching=None)
        for spec in specs
        for name, kind in candidates.get(spec.name, {}).items()
    )
    if not more:
        return {}
    extended = _with(mechanism, mechanism.spec, more)
    dynamics = extended.dynamics("interpreted")
    places = extended.constraints.slices
    own = [k for c in mechanism.constraints.constraints for k in np.r_[places[c.name]]]
    good = {name for names in candidates.values() for name in names}
    for state in _closed_states(mechanism):
        rows = extended.terms(state).A
        residual = dynamics.residual(state).position
        every = spanning_rows(rows[own], _SAME)
        for spec in specs:
            for name in candidates.get(spec.name, {}):
                there = places[name]
                fits = (
                    np.abs(residual[there]).max() <= extended.closure_tolerance
                    and _spanned(rows[there], every)
                    and _spanned(rows[places[spec.name]], spanning_rows(rows[there], _SAME))
                )
                if not fits:
                    good.discard(name)
    return {
        constraint: next(kind for name, kind in names.items() if name in good)
        for constraint, names in candidates.items()
        if good & names.keys()
    }


def _with(mechanism: Mechanism, spec: MechanismSpec, more: Sequence[ConstraintSpec]) -> Mechanism:
    # every constraint holds here, so that those switched off are judged as well
    if not more and not any(c.switching for c in spec.constraints):
        return mechanism
    every = tuple(replace(c, switching=None) for c in spec.constraints)
    return Mechanism(replace(spec, constraints=(*every, *more)), mechanism.model.description)


def pin_points(machine: Machine, pin: Hinge) -> tuple[Pose, Pose]:
    """Two points of the axis of a pin, as far apart as its machine is large."""
    return Pose(), Pose(max(machine.mechanism.size, 1e-3) * np.array(pin.axis))


def _kinds(kind: Kind, known: Words) -> Iterator[Kind]:
    """Kinds that may stand for another."""
    axis = getattr(kind, "axis", None)
    axes = AXES if axis is None else (axis, *AXES)
    for other in known:
        made: Callable[..., Kind] = other
        if not other.keys:
            yield made()
        elif other.keys.keys() == {"axis"}:
            yield from (made(axis) for axis in axes)


def _closed_states(mechanism: Mechanism) -> Iterator[State]:
    every = _with(mechanism, mechanism.spec, ())
    chance, model = np.random.default_rng(0), mechanism.model
    rest = np.zeros(model.nv)
    home = every.assemble()
    yield State(0.0, home, rest)
    for _ in range(_SAMPLES):
        found = every.assembly(model.integrate(home, _STEP * chance.standard_normal(model.nv)))
        if found.closed:
            yield State(0.0, found.q, rest)


def _spanned(rows: Array, basis: Array) -> bool:
    rest = rows - (rows @ basis.T) @ basis
    lengths = np.maximum(np.linalg.norm(rows, axis=1), 1.0)
    return bool((np.linalg.norm(rest, axis=1) <= _SAME * lengths).all())
