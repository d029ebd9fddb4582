# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics export``: mechanisms as SDF, MJCF, URDF with loops, or Gepetto's YAML."""

import argparse

from uk_dynamics.cli.output.printing import remark_data, remark_rows, show, table
from uk_dynamics.conversion import export_mechanism, write_files
from uk_dynamics.mechanism_class import Mechanism

_INCOMPLETE = 1


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and list what was lost or changed; status 1 where rows are missing."""
    found = export_mechanism(Mechanism.from_file(arguments.file), arguments.format)
    refused = bool(found.missing) and not arguments.partial
    texts = {arguments.out / name: text for name, text in found.texts.items()}
    if not refused:
        write_files(texts, force=arguments.force)
    paths = [] if refused else list(texts)
    missing = [remark.subject for remark in found.missing]
    facts = {"files": paths, "missing": missing, "zero": found.zero}
    rows = remark_rows(found.remarks)
    if refused:
        reason = f"without {', '.join(missing)} it is another machine; --partial"
        rows.append(("not written", reason))
    lines = [*map(str, paths), *([table(rows)] if rows else [])]
    show(arguments, {**facts, **remark_data(found.remarks)}, "\n".join(lines))
    return _INCOMPLETE if found.missing else 0
