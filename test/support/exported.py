# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism written in another format is compared with: itself, without what is lost."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from support.mechanism_builder import closed_states
from uk_dynamics.conversion import Export, import_file
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism

# Absolute, in m/s² and rad/s²: texts hold all digits, so what is left is rounding of rotations
# (1e-16) times speeds and forces of the states and conditions of M and A; 1e-12 is usual.
SAME = 1e-9
CLOSED = 1e-9  # m or rad
_READERS_GRAVITY = (0.0, 0.0, -9.81)


def written(export: Export, folder: Path) -> Path:
    """Write the files; the one that names the others."""
    for name, text in export.texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / min(export.texts, key=lambda name: not name.endswith(".yaml"))


def read_again(path: Path) -> Mechanism:
    """The mechanism as our own reader of the format has it."""
    if path.suffix == ".urdf":
        return Mechanism.from_file(path)
    return import_file(path).load()


def without_losses(mechanism: Mechanism, export: Export) -> Mechanism:
    """The machine less what the list of losses says, read from that list."""
    spec = mechanism.spec
    joints, forces = dict(spec.joints), {force.name: force for force in spec.forces}
    constraints = {constraint.name: constraint for constraint in spec.constraints}
    for remark in export.remarks:
        kind, _, rest = remark.subject.partition(" ")
        if not remark.lost:
            continue
        if kind == "gravity":
            spec = replace(spec, model=replace(spec.model, gravity=_READERS_GRAVITY))
        elif kind == "root":
            spec = replace(spec, model=replace(spec.model, root="fixed"))
        elif kind == "force":
            del forces[rest]
        elif kind == "constraint" and (remark.structural or "not written" in remark.reason):
            del constraints[rest]
        elif kind == "constraint" and "friction" in remark.reason:
            constraints[rest] = replace(constraints[rest], friction=None)
        elif kind == "constraint" and "compliance" in remark.reason:
            constraints[rest] = replace(constraints[rest], compliance=0.0)
        elif kind in ("joint", "joints"):
            word = remark.reason.partition(";")[0]
            fields = {"armature": "armature", "spring": "spring_stiffness"}.get(word)
            for name in re.split(", ", rest):
                if fields:
                    joints[name] = replace(joints[name], **{fields: 0.0})
                elif word == "stop":
                    joints[name] = replace(joints[name], stop_stiffness=0.0, stop_damping=0.0)
    spec = replace(
        spec,
        joints=tuple(joints.items()),
        forces=tuple(forces.values()),
        constraints=tuple(constraints.values()),
    )
    return Mechanism(MechanismSpec(**vars(spec)), mechanism.model.description)


def same_accelerations(
    ours: Mechanism, theirs: Mechanism, export: Export, *, states: int = 2, seed: int = 0
) -> None:
    """Compare by name at closed states by chance, under motor efforts by chance."""
    chance = np.random.default_rng(seed)
    assert set(theirs.model.velocity_names) == set(ours.model.velocity_names)
    order = [theirs.model.velocity_index(name) for name in ours.model.velocity_names]
    zero = np.array([export.zero.get(name, 0.0) for name in ours.model.position_names])
    one, other = ours.dynamics("interpreted"), theirs.dynamics("interpreted")
    for state in closed_states(ours, chance, states):
        efforts = chance.standard_normal(len(ours.actuators))
        inputs = ours.inputs(efforts=efforts if len(efforts) else None)
        expected = one.evaluate(state, inputs).qdd
        q = theirs.configuration(dict(zip(ours.model.position_names, state.q - zero, strict=True)))
        there = theirs.state(q, dict(zip(ours.model.velocity_names, state.v, strict=True)))
        assert np.abs(other.residual(there).position).max(initial=0.0) < CLOSED
        assert np.abs(other.residual(there).velocity).max(initial=0.0) < CLOSED
        found = other.evaluate(
            State(state.t, there.q, there.v),
            theirs.inputs(dict(zip(ours.model.velocity_names, inputs.tau, strict=True))),
        ).qdd
        assert np.abs(found[order] - expected).max() < SAME
