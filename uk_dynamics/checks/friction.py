# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Friction of motions without inertia, which it does not determine."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.inertias import REMEDY
from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.exceptions import UndeterminedMotionError

_TURNED = 1e-9  # of a row of sliding: what depends less on a motion does not rub along it


def friction(subject: Subject) -> Iterator[Finding]:
    """Joints and contacts with friction whose motion has neither inertia nor constraint.

    Friction is a force: it opposes a motion, and that of nothing is undetermined.
    """
    mechanism, model = subject.mechanism, subject.mechanism.model
    if not (subject.closed and isinstance(subject.solution, UndeterminedMotionError)):
        return
    free = {name: model.velocity_names.index(name) for name in subject.solution.directions}
    declared, rubs = dict(mechanism.spec.joints), dict[str, list[str]]()
    for name, index in free.items():
        own = declared.get(joint := name.partition(".")[0])
        coulomb = model.friction[index] if own is None or own.friction is None else own.friction
        if coulomb or (own is not None and own.stiction):
            rubs.setdefault(joint, []).append(name)
    q, v = subject.assembly.q, np.zeros(model.nv)
    subject.workspace.update(q, v)
    rows = mechanism.constraints.evaluate(subject.workspace, 0.0, q, v)
    for one in mechanism.one_sided:
        if one.dry is None and one.sticking is not None:
            slip = np.abs(rows.A[mechanism.constraints.slices[one.sticking]])
            if moved := [x for x, k in free.items() if slip[:, k].max() > _TURNED * slip.max()]:
                rubs[one.name] = moved
    for name, moved in rubs.items():
        problem = f"has friction but no inertia to act on along {', '.join(moved)}"
        yield Finding("friction", "error", (name,), problem, REMEDY)
