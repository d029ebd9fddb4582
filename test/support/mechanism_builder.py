# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms for tests: shipped ones, small ones as URDF and YAML text, and states of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import ArrayLike

from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.natural_scale import local_structure, natural_row_scale
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import package_directory


@cache
def shipped(name: str) -> Mechanism:
    """A mechanism that the package ships; the test is skipped where its robot is missing."""
    if name == "dual_panda":
        try:
            package_directory("example-robot-data")
        except InputError:
            pytest.skip("the optional package example-robot-data is not installed")
    return Mechanism.from_file(name)


def closed_states(
    mechanism: Mechanism,
    rng: np.random.Generator,
    count: int,
    *,
    excursion: int = 250,
    backend: Backend = "auto",
) -> Iterator[State]:
    """States on the constraints by a random walk, which returns home after every excursion.

    Args:
        mechanism: Whose states.
        rng: Where chance comes from.
        count: How many.
        excursion: States between two returns.
        backend: What projects them.
    """
    dynamics = mechanism.dynamics(backend)
    model = mechanism.model
    home = State(0.0, mechanism.assemble(), np.zeros(model.nv))
    here = home
    for number in range(count):
        if number % excursion == 0:
            here = home
        step = rng.uniform(0.02, 0.2) / (1.0 + np.linalg.norm(here.v))
        q = model.integrate(here.q, step * here.v)
        v = rng.standard_normal(model.nv)
        try:
            here = dynamics.project(State(0.0, q, v))
        except SimulationError:  # a dead end: leave in another direction
            here = dynamics.project(State(0.0, here.q, v))
        yield here


def link(name: str, mass: float = 1.0, inertia: float = 0.1, com: str = "0 0 0") -> str:
    """A link; one without mass has no inertial element."""
    if mass == 0.0:
        return f'<link name="{name}"/>'
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{inertia!r}" iyy="{inertia!r}" izz="{inertia!r}"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(
    name: str,
    parent: str,
    child: str,
    *,
    kind: str = "continuous",
    axis: str = "0 1 0",
    xyz: str = "0 0 0",
    limits: tuple[float, float] | None = None,
    more: str = "",
) -> str:
    """A joint; limits make it revolute (or keep it prismatic)."""
    if limits is not None and kind == "continuous":
        kind = "revolute"
    lower, upper = limits or (-9.0, 9.0)
    limit = f'<limit lower="{lower!r}" upper="{upper!r}" effort="100" velocity="100"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/><origin xyz="{xyz}"/>'
        f"{limit if kind in ('revolute', 'prismatic') else ''}{more}</joint>"
    )


def arm(
    lengths: Sequence[float], limits: Sequence[tuple[float, float] | None] | None = None
) -> str:
    """A planar arm j1, j2 ... with links l1, l2 ... on the link base, stretched along x at zero.

    The masses sit in the middle of the links; the tip is at the end of the last one.
    """
    text = link("base")
    at = 0.0
    for number, length in enumerate(lengths, start=1):
        text += link(f"l{number}", com=f"{length / 2!r} 0 0")
        text += joint(
            f"j{number}",
            "base" if number == 1 else f"l{number - 1}",
            f"l{number}",
            xyz=f"{at!r} 0 0",
            limits=limits[number - 1] if limits else None,
        )
        at = length
    return text


def mechanism(parts: str, text: str = "") -> Mechanism:
    """A mechanism from the inner part of a URDF and the part of a mechanism file after ``schema``.

    Args:
        parts: Links and joints.
        text: YAML.
    """
    spec = MechanismSpec.from_text(f"schema: 1\n{text}")
    return Mechanism.from_spec(spec, robot_description=f'<robot name="test">{parts}</robot>')


def pinned_arm(
    constraints: str, lengths: Sequence[float] = (1.0, 1.0), more: str = ""
) -> Mechanism:
    """An arm with constraints, indented by two, and more of a mechanism file behind them."""
    return mechanism(arm(lengths), f"constraints:\n{constraints}{more}")


SLOT = """
  {name}: {{type: frame, axes: [z], parent: {{link: base}}, child: {{link: l2, xyz: [0.6, 0, 0]}}}}
"""


def massless(constraints: str = "") -> Mechanism:
    """A pendulum with a massless link at its end; rows that hold it, such as SLOT, are indented."""
    parts = link("base") + link("l1", com="0.5 0 0") + link("l2", mass=0.0)
    parts += joint("j1", "base", "l1") + joint("j2", "l1", "l2", xyz="1 0 0")
    return mechanism(parts, constraints and f"constraints:{constraints}")


def cases(
    machine: Mechanism, count: int = 20, seed: int = 0
) -> Iterator[tuple[State, Inputs, np.random.Generator]]:
    """Closed states with random forces."""
    rng = np.random.default_rng(seed)
    for state in closed_states(machine, rng, count):
        yield state, Inputs(tau=rng.standard_normal(machine.model.nv)), rng


# Rounding of 1e-16 times conditions of M and A of up to 1e3 each, relative to forces and
# accelerations: a few orders are left to the worst of the states.
RELATIVE = 1e-9


def near(
    found: ArrayLike,
    expected: ArrayLike,
    size: float | None = None,
    relative: float = RELATIVE,
) -> None:
    """Assert that arrays agree relative to their own size (at least one), or to a given one."""
    if size is None:
        size = float(np.max(np.abs(expected), initial=1.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=relative * size)


def clustered(machine: Mechanism) -> Mechanism:
    """The same mechanism, taken by clusters of coupled joints as large ones are."""
    other = Mechanism(machine.spec, machine.model.description)
    length = other.spec.model.length
    other.local = local_structure(
        other.model, other.constraints, other.hierarchy, other.spec.solver, length, least=0
    )
    assert other.local is not None, "its loops are not local, or its rows not of frame pairs"
    other.natural_scale = natural_row_scale(
        other.model,
        other.local.constraints,
        other.initial_guess,
        other.spec.solver,
        length=length,
        whiten=False,
    )
    return other
