# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Random trees of links and joints as URDF text, for tests against independent computations."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

TYPES = ("revolute", "prismatic", "continuous", "fixed", "floating", "planar")


@dataclass(frozen=True)
class RandomTree:
    """URDF text with what a test needs to know about it."""

    text: str
    seed: int
    parents: tuple[int, ...]  # parent link index of link i + 1
    types: tuple[str, ...]  # of the joint that moves link i + 1


@st.composite
def trees(draw, types=TYPES, max_joints=6):
    count = draw(st.integers(1, max_joints))
    parents = tuple(draw(st.integers(0, i)) for i in range(count))
    kinds = tuple(draw(st.sampled_from(types)) for _ in range(count))
    seed = draw(st.integers(0, 2**32 - 1))
    return RandomTree(urdf(parents, kinds, seed), seed, parents, kinds)


def urdf(parents, kinds, seed):
    rng = np.random.default_rng(seed)
    parts = ['<robot name="random">', link("link0", rng)]
    for number, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        parts.append(link(f"link{number}", rng))
        parts.append(joint(number, parent, kind, rng))
    return "".join([*parts, "</robot>"])


def link(name, rng):
    mass, center, inertia = body(rng)
    return (
        f'<link name="{name}"><inertial><origin xyz="{text(center)}" rpy="{text(angles(rng))}"/>'
        f'<mass value="{mass!r}"/><inertia ixx="{inertia[0, 0]!r}" iyy="{inertia[1, 1]!r}"'
        f' izz="{inertia[2, 2]!r}" ixy="{inertia[0, 1]!r}" ixz="{inertia[0, 2]!r}"'
        f' iyz="{inertia[1, 2]!r}"/></inertial></link>'
    )


def body(rng):
    """A cloud of point masses: its inertia is physical whatever the numbers are."""
    points = rng.normal(scale=0.3, size=(6, 3))
    masses = rng.uniform(0.1, 1.0, 6)
    arms = points - np.average(points, axis=0, weights=masses)
    inertia = np.einsum("n,nij->ij", masses, [(a @ a) * np.eye(3) - np.outer(a, a) for a in arms])
    center = rng.normal(scale=0.2, size=3)
    as_float = np.vectorize(float, otypes=[object])
    return float(masses.sum()), center, as_float(inertia)


def joint(number, parent, kind, rng):
    # Pinocchio's own URDF reader ignores the normal of planar joints and takes z.
    axes = {"planar": np.array([0.0, 0.0, 1.0])}
    axis = axes.get(kind, random_axis(rng))
    limit = '<limit lower="-2" upper="2" effort="10" velocity="10"/>'
    return (
        f'<joint name="joint{number}" type="{kind}"><parent link="link{parent}"/>'
        f'<child link="link{number}"/><axis xyz="{text(axis)}"/>'
        f'<origin xyz="{text(rng.normal(scale=0.5, size=3))}" rpy="{text(angles(rng))}"/>'
        f"{limit if kind in ('revolute', 'prismatic') else ''}</joint>"
    )


def random_axis(rng):
    aligned = np.eye(3)[rng.integers(3)]
    return aligned if rng.random() < 0.5 else rng.normal(size=3)


def angles(rng):
    return rng.uniform(-3.0, 3.0, 3)


def text(values):
    return " ".join(repr(float(value)) for value in values)
