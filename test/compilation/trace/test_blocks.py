# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is shared by the legs of a machine, and what is a leg's own."""

from __future__ import annotations

from uk_dynamics.compilation.trace.blocks import blocks_of

BASE, LEGS, JOINTS, ROWS = 7, 12, 6, 9


def legs(joining: int = 0) -> dict[int, list[int]]:
    """Rows of legs on a body with a crank, and those that join the first two legs."""
    base = list(range(BASE))
    rows = {}
    for k in range(LEGS):
        own = [BASE + JOINTS * k + i for i in range(JOINTS)]
        rows |= {ROWS * k + r: base + own for r in range(ROWS)}
    return rows | {ROWS * LEGS + r: [*base, BASE, BASE + JOINTS] for r in range(joining)}


def test_legs_are_apart_behind_the_body_and_the_crank() -> None:
    found = blocks_of(legs(), BASE + LEGS * JOINTS)
    assert found is not None
    assert found.shared == list(range(BASE))
    assert [len(x) for x in found.columns] == [JOINTS] * LEGS
    assert [len(x) for x in found.rows] == [ROWS] * LEGS


def test_legs_that_are_joined_are_one_and_arms_have_no_rows() -> None:
    velocities = BASE + LEGS * JOINTS + 5
    found = blocks_of(legs(joining=1), velocities)
    assert found is not None
    assert sorted(len(x) for x in found.columns) == [5] + [JOINTS] * (LEGS - 2) + [2 * JOINTS]
    assert found.rows[-1] == []
    every = sorted(sum(found.columns, found.shared))
    assert every == list(range(velocities))


def test_small_or_dense_machines_have_none() -> None:
    assert blocks_of({r: range(6) for r in range(3)}, 6) is None
    assert blocks_of({r: range(60) for r in range(50)}, 60) is None


def test_smaller_machines_have_them_without_redundant_rows() -> None:
    velocities = BASE + 4 * JOINTS
    some = {r: x for r, x in legs().items() if r < 4 * ROWS}
    assert blocks_of(some, velocities) is None
    assert blocks_of({r: x for r, x in some.items() if r % ROWS < 4}, velocities) is not None
