# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What may have been meant by a name that does not exist."""

import difflib
from collections.abc import Collection, Iterable
from pathlib import Path

_SIMILAR = 0.65  # of files, as difflib counts: one letter of three may be another
_SHORTEST = 3  # letters that name a longer name by a part of it


def did_you_mean(close: str | None, otherwise: str) -> str:
    """The question whether a name was meant; what else is said where there is none."""
    return f'did you mean "{close}"?' if close else otherwise


def closest(name: str, candidates: Iterable[str], similar: float = 0.6) -> str | None:
    """The candidate that is most similar, at least as much as this, as difflib counts."""
    close = difflib.get_close_matches(name, list(candidates), n=1, cutoff=similar)
    return close[0] if close else None


def instead(name: str, candidates: Collection[str]) -> str:
    """What may be written instead of a name that does not exist; empty: there is nothing."""
    close = closest(name, candidates)
    if close is None and name:  # cut short
        longer = [candidate for candidate in candidates if candidate.startswith(name)]
        close = longer[0] if len(longer) == 1 else None
    return did_you_mean(close, f"there are: {some(candidates, 12)}" if candidates else "")


def some(names: Iterable[str], most: int) -> str:
    """Names as text; of many the first ones, and how many more there are."""
    names = tuple(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def nearest_file(name: str, names: Iterable[str]) -> str | None:
    """The file that may have been meant: endings, which files share, do not make them similar."""
    wanted = Path(name)
    by_stem: dict[str, str] = {}
    for other in sorted(names, key=lambda other: Path(other).suffix != wanted.suffix):
        by_stem.setdefault(Path(other).stem, other)
    close = closest(wanted.stem, by_stem, _SIMILAR)
    part = (stem for stem in by_stem if len(wanted.stem) >= _SHORTEST and wanted.stem in stem)
    found = close or next(part, None)
    return None if found is None else by_stem[found]
