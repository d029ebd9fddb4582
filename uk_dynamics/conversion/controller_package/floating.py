# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Floating bases and standing contacts in generated controllers: what is refused, and their words.

Encoders know nothing of where the base is: joints are estimated by the loops of the machine on a
fixed base, whose C is a file of its own.
"""

from dataclasses import replace

import numpy as np

from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion.controller_package.parts import filled
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import UNIT_TOLERANCE


def on_fixed_base(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its root fixed, without contacts; InputError: it floats otherwise."""
    bases, spec = mechanism.model.bases, mechanism.spec
    if not bases:
        return mechanism
    problem = ""
    if len(bases) > 1 or bases[0].planar or not bases[0].aligned or spec.model.root != "floating":
        found = ", ".join(base.name for base in bases)
        problem = f"found {found}; the controller knows one base: the root of the URDF, floating"
    guess = tuple(x for x in spec.initial_guess if not x[0].startswith(f"{bases[0].name}."))
    model = replace(spec.model, root="fixed")
    fixed = Mechanism.from_spec(replace(spec, model=model, contacts=(), initial_guess=guess))
    held = len(StateCompletion(mechanism).rows.held)
    if not problem and len(StateCompletion(fixed).rows.held) != held:
        problem = "constraints between a floating machine and the world cannot be controlled in"
        problem += " controller_manager; use servo_controller"
    if problem:
        raise InputError(problem, file=spec.file, place="model.root")
    return fixed


def check_contacts(tasks: Tasks) -> None:
    """Refuse contacts that stand while they are detected: nothing tells of them."""
    for contact in tasks.spec.contacts:
        if contact.stands == "detected":
            raise InputError(
                "no state interface tells of contacts; give it intervals, or use servo_controller",
                file=tasks.spec.file,
                place=f"contacts.{contact.name}.stands",
            )


def base_words(tasks: Tasks, name: str, package: str) -> dict[str, str]:
    """Words of templates; name is that of the mechanism."""
    mechanism, standing = tasks.mechanism, tasks.standing
    floats, loops = bool(mechanism.model.bases), f"{name}_loops"
    encoders = f"{name}_encoders" if floats else loops
    points = np.full(len(mechanism.constraints), -1)
    for k, names in enumerate(() if standing is None else standing.constraints):
        for one in names:
            points[mechanism.constraints.slices[one]] = k
    parts = filled("base_controller.cpp", {}).split("@@ ")[1:]  # by words
    words = {
        "include_encoders": f'#include "{package}/{encoders}.h"\n',
        "encoder_source": f" src/{encoders}.c",
        "written": f"\n      include/{package}/{encoders}.h\n      src/{encoders}.c",
        "readme_encoders": f"| `include/{package}/{encoders}.h`, `src/{encoders}.c` |"
        " C99: joints by the encoders |\n",
        "find_nav": "find_package(nav_msgs REQUIRED)\n",
        "link_nav": "\n  ${nav_msgs_TARGETS}",
        "nav": " nav_msgs",
        "depend_nav": "  <depend>nav_msgs</depend>\n",
        **{word: text for word, _, text in (part.partition("\n") for part in parts)},
        "base_parameters": filled("base_parameters.yaml", {}),
        "readme_base": filled("README_base.md", {}),
    }
    return {
        **(words if floats else dict.fromkeys(words, "")),
        "eid": encoders,
        "EID": encoders.upper(),
        "base_velocities": "6" if floats else "0",
        "contact_of_row": ", ".join(map(str, points.tolist())),
        "unit_tolerance": repr(UNIT_TOLERANCE),
    }
