# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Spatial cuts as ball joints, hinges or welds, chosen by the mobility that each leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from uk_dynamics.constraints.kinds import registry
from uk_dynamics.conversion.drafting.candidate_cuts import CandidateCut
from uk_dynamics.mechanism.analysis import MechanismReport

_DEFAULT = "point"


def _types() -> dict[str, dict[str, object]]:
    """What to try, the loosest first: keys of a constraint by what the draft calls them."""
    kinds = [kind for kind in registry.kinds().values() if kind.cuts]
    kinds.sort(key=lambda kind: kind.removes if isinstance(kind.removes, int) else 0)
    return {name: {"type": kind.name, **keys} for kind in kinds for name, keys in kind.cuts.items()}


def choose_types(
    cuts: Sequence[CandidateCut],  # those to close; spatial ones as ball joints
    report: MechanismReport,
    motors: int,
    examine: Callable[[Sequence[CandidateCut]], MechanismReport | None],
) -> tuple[tuple[CandidateCut, ...], MechanismReport]:
    """Try all spatial cuts as each type; take the one that leaves as many freedoms as motors.

    They stay ball joints where no type does, or several do. What was found is said with each.
    """
    spatial = sum(cut.spatial for cut in cuts)
    if not spatial:
        return tuple(cuts), report
    found = {_DEFAULT: report}
    for name in _types():
        if name != _DEFAULT and (other := examine(_with(cuts, name))) is not None:
            found[name] = other
    matching = [name for name, facts in found.items() if motors and facts.mobility == motors]
    chosen = matching[0] if len(matching) == 1 else _DEFAULT
    reason = _reason({name: facts.mobility for name, facts in found.items()}, matching, motors)
    together = f" at all {spatial} cuts in space" if spatial > 1 else ""
    words = f"Mobility that is left here{together}: {reason}"
    result = [
        replace(cut, reasons=(*cut.reasons, words)) if cut.spatial else cut
        for cut in _with(cuts, chosen)
    ]
    return tuple(result), found[chosen]


def _with(cuts: Sequence[CandidateCut], name: str) -> list[CandidateCut]:
    """The spatial ones as this type."""
    return [
        replace(cut, data={**_types()[name], **_ends(cut)}) if cut.spatial else cut for cut in cuts
    ]


def _ends(cut: CandidateCut) -> dict[str, object]:
    return {key: cut.data[key] for key in ("parent", "child")}


def _reason(mobilities: dict[str, int], matching: Sequence[str], motors: int) -> str:
    left = ", ".join(
        f"{mobilities[name]} with {name}" if name in mobilities else f"{name} does not close"
        for name in _types()
    )
    driven = f"{motors} motor{'' if motors == 1 else 's'}"
    if not motors:
        return f"{left}; no motors are known to compare it with."
    if len(matching) == 1:
        return f"{left}. There {'is' if motors == 1 else 'are'} {driven}: {matching[0]} (guess)."
    return f"{left}. There {'is' if motors == 1 else 'are'} {driven}, which does not decide."
