# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts as commands tell of them: forces, and whether and how surely a machine stands."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from uk_dynamics import Standing
from uk_dynamics.constraints.rows import HULL_CONSTANTS
from uk_dynamics.mechanism.contact import Contact, Patch

# m: bodies touch in fewer points than there may be
_FAR = 0.5 * HULL_CONSTANTS["HULL_SPARE"]
_ROUNDING = 1e-6  # of the normal force: less friction is the solver's


def contact_facts(contacts: Mapping[str, Contact]) -> dict[str, Any]:
    """Contacts as plain values, by name."""
    return {
        name: {
            "mode": one.mode.value,
            "gap": one.gap,
            "force": one.force.tolist(),
            "unique": one.unique,
            "slip_margin": one.slip_margin,
        }
        for name, one in contacts.items()
    }


def contact_lines(contacts: Mapping[str, Contact]) -> Iterator[tuple[str, str]]:
    """A line per contact that touches or is open."""
    for name, one in contacts.items():
        if one.gap > _FAR:
            continue
        if not one.force[0] > 0.0:
            yield name, f"no force, {one.gap:.3g} m or rad open"
            continue
        text = f"{one.force[0]:.6g} N or N m"
        if one.friction:
            along = math.hypot(*one.force[1:])
            along = along if along > _ROUNDING * one.force[0] else 0.0
            text += f", friction {along:.3g} ({1.0 - one.slip_margin:.0%} of what is possible)"
        yield name, text + ("" if one.unique else "  (one of many: contacts share it)")


def patch_lines(patches: Mapping[str, Patch]) -> Iterator[tuple[str, str]]:
    """A line per patch of several points."""
    for name, one in patches.items():
        if one.tipping_margin is not None:
            x, y, z = (round(value, 9) + 0.0 for value in one.center)
            told = f"at {x:.4g}, {y:.4g}, {z:.4g} m, {one.tipping_margin:.4g} m from its edge"
            yield f"{name} presses", f"{told} over {', '.join(one.tips_over)}"


def standing_facts(found: Standing) -> dict[str, Any]:
    """Whether a machine stands, as plain values."""
    return {
        "stands": found.stands,
        "contacts": contact_facts(found.motion.contacts),
        "overtaxed": dict(found.motion.overtaxed),
        "missing": dict(found.motion.missing),
        "beyond_limits": list(found.motion.beyond_limits),
        "friction_needed": found.friction_needed,
        "tips_at": found.tips_at,
        "tips_over": list(found.tips_over),
        "patches": found.patches,
    }


def standing_lines(found: Standing) -> Iterator[tuple[str, str]]:
    """Lines on whether a machine stands, and how surely."""
    motion = found.motion
    if found.stands:
        yield "stands", f"with {found.friction_needed:.3g} of its friction, motors at their best"
    else:
        reasons = [f"{name} would have to {what}" for name, what in motion.overtaxed.items()]
        reasons += [f"{name} is too weak" for name in motion.beyond_limits]
        reasons += [f"{name} moves" for name in motion.missing] if not reasons else []
        yield "does not stand", ", ".join(reasons)
    if found.tips_at is not None:
        over = f" over {', '.join(found.tips_over)}" if found.tips_over else ""
        yield "tips", f"at {math.degrees(found.tips_at):.4g} deg{over}  (joints locked, no slip)"
    yield from patch_lines(found.patches)
    yield from contact_lines(motion.contacts)
