# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a conversion lost or changed, as rows of a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uk_dynamics.conversion import Remark


def remark_rows(remarks: Iterable[Remark]) -> list[tuple[str, str]]:
    """Label and text of each."""
    every = list(remarks)
    return [
        (label, f"{remark.subject}: {remark.reason}")
        for lost, label in ((True, "not converted"), (False, "in another form"))
        for remark in every
        if remark.lost == lost
    ]


def remark_data(remarks: Sequence[Remark]) -> dict[str, object]:
    """The same for JSON."""

    def chosen(*, lost: bool) -> list[dict[str, str]]:
        return [{"subject": r.subject, "reason": r.reason} for r in remarks if r.lost == lost]

    return {"not_carried_over": chosen(lost=True), "in_another_form": chosen(lost=False)}
