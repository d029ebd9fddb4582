# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Examples 2 to 4 of the review: which constraints can be integrated."""

from __future__ import annotations

import numpy as np

from uk_dynamics import Mechanism
from uk_dynamics.mechanism.analysis import examine_integrability
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics_studies.papers.output.study import Bound, Study, Table

# Constraint, what the paper says of it, and the left side of Lemma 1 that it finds.
EXAMPLES = (
    ("2", "(12)", "d(x) + 2*y*d(y) + d(z)", "holonomic, scleronomic", "integral (13)"),
    ("3", "(14)", "d(x) + 2*y*d(y) + d(z) - 1", "holonomic, rheonomic", "integral (15)"),
    ("4", "(16)", "d(x) + 2*z*d(y) + d(z)", "nonholonomic", "(17): 1 ≠ 0"),
)
_PLACE = np.array([0.3, -0.4, 0.7])

_FINDINGS = (
    (
        "Integrability: we agree with examples 2 to 4. The left side of (11) for example 4 is"
        " α(∂β/∂z − ∂γ/∂y) = 2, not the 1 of (17); not zero either way. For unit forms it is"
        " 2/(2 + 4z²)."
    ),
)


def study(*, quick: bool = False) -> Study:
    """The examples tested at a few states, or at many."""
    rows: list[tuple[str | float, ...]] = []
    wrong = 0
    for example, equation, text, published, reason in EXAMPLES:
        mechanism = particle(text)
        found = examine_integrability(mechanism, _PLACE, samples=3 if quick else 20)
        nature = found.constraints["example"]
        verdict: str = nature.verdict
        if verdict == "holonomic":
            verdict += ", rheonomic" if nature.rheonomic else ", scleronomic"
        wrong += verdict != published
        rows.append((f"{example}, {equation}", text, published, reason, verdict, nature.curvature))
    return Study(
        paper="review",
        title="Examples 2 to 4: integrability",
        tables=(
            Table(
                "Integrability of examples 2 to 4",
                ("example", "constraint", "published", "because", "measured", "curvature"),
                rows,
                "Curvature: largest |ω([z₁, z₂])| of the unit form over unit motions at the states"
                " tested, which Lemma 1 wants to be zero.",
            ),
        ),
        figures=(),
        findings=_FINDINGS,
        bounds=(Bound("examples 2 to 4, verdicts that differ", float(wrong), 0.0),),
    )


def particle(text: str) -> Mechanism:
    """A particle in space with one constraint, in joints x, y, z along the axes."""
    links = "".join(
        f'<link name="at_{name}">{_MASS if name == "z" else ""}</link>' for name in "xyz"
    )
    joints = "".join(
        f'<joint name="{name}" type="prismatic"><parent link="{parent}"/>'
        f'<child link="at_{name}"/><axis xyz="{axis}"/>'
        '<limit lower="-10" upper="10" effort="100" velocity="100"/></joint>'
        for name, parent, axis in (
            ("x", "ground", "1 0 0"),
            ("y", "at_x", "0 1 0"),
            ("z", "at_y", "0 0 1"),
        )
    )
    spec = MechanismSpec.from_text(
        "schema: 1\nconstraints:\n  example: {type: expression, expression: " + text + "}\n"
    )
    urdf = f'<robot name="particle"><link name="ground"/>{links}{joints}</robot>'
    return Mechanism.from_spec(spec, robot_description=urdf)


_MASS = (
    '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)
