# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ``docs/constraints.md`` says of each kind, from the kinds themselves."""

from __future__ import annotations

from docs.generators.markdown import code, heading, listing, plain, table
from docs.generators.schema_pages import own_keys
from uk_dynamics.constraints.kinds.kind import Kind
from uk_dynamics.constraints.kinds.registry import kinds

_OTHERS = ("SDF", "MJCF", "URDF", "Gepetto", "Drake")


def block() -> str:
    """Rows, own keys, friction, names elsewhere and an example of every kind."""
    found = list(kinds().values())
    rubbing = [kind for kind in found if kind.friction is not None]
    known = [kind for kind in found if kind.foreign_names]
    examples = "\n".join(f"  {kind.example}" for kind in found)
    parts = [
        table(
            ("type", "rows", "what stays free, or is held", "order", "own keys"),
            (
                (code(k.name), str(k.removes), plain(k.summary), k.order, listing(k.keys))
                for k in found
            ),
        ),
        "All but these have a `parent` and a `child`: "
        + "; ".join(_ends(k) for k in found if _ends(k))
        + ".",
        heading(3, "Own keys"),
        own_keys(),
        heading(3, "Examples"),
        f"```yaml\nconstraints:\n{examples}\n```",
        heading(3, "Friction of the types"),
        table(
            ("type", "friction acts", "radius"),
            ((code(k.name), *_friction(k)) for k in rubbing),
        ),
        heading(3, "What others call them"),
        table(
            ("type", *_OTHERS),
            (
                (code(k.name), *(listing(k.foreign_names.get(other, ())) for other in _OTHERS))
                for k in known
            ),
        ),
    ]
    return "\n\n".join(parts)


def _ends(kind: type[Kind]) -> str:
    if kind.optional_frames:
        return f"{code(kind.name)} at most a {listing(kind.optional_frames)}"
    return "" if kind.frames else f"{code(kind.name)} neither"


def _friction(kind: type[Kind]) -> tuple[str, str]:
    assert kind.friction is not None
    return kind.friction.acts, f"of {kind.friction.turns_on}" if kind.friction.turns_on else ""
