# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics import``: mechanisms from SDF, MJCF, USD, and YAML files of closed loops."""

import argparse
from collections import Counter

from uk_dynamics.cli.output.printing import remark_data, remark_rows, show, table
from uk_dynamics.conversion import import_file, write_files


def run(arguments: argparse.Namespace) -> int:
    """Write both files, and list what was lost or changed."""
    found = import_file(
        arguments.file,
        model=arguments.model,
        urdf=arguments.urdf,
        fixed=arguments.fixed,
        contacts=arguments.contacts,
    )
    facts = found.load()
    paths = [arguments.out / f"{found.name}{suffix}" for suffix in (".urdf", ".yaml")]
    write_files(dict(zip(paths, (found.urdf, found.mechanism), strict=True)), force=arguments.force)
    own = {name for one in facts.one_sided for name in one.constraints}
    constraints = [c.name for c in facts.constraints.constraints if c.name not in own]
    contacts = Counter(contact.name.partition(".")[0] for contact in facts.spec.contacts)
    rows = [
        ("links", str(len(facts.model.link_names))),
        ("joints", ", ".join(facts.joint_names) or "none"),
        ("constraints", ", ".join(constraints) or "none"),
        ("motors", ", ".join(facts.actuators.names) or "none"),
    ]
    if contacts:
        told = (f"{name} ({n} points)" if n > 1 else name for name, n in contacts.items())
        rows.insert(3, ("contacts", ", ".join(told)))
    rows += remark_rows(found.remarks)
    rows.append(("next", f"uk_dynamics check {paths[1]}"))
    text = "\n".join([*map(str, paths), table(rows)])
    show(arguments, {"files": paths, **remark_data(found.remarks)}, text)
    return 0
