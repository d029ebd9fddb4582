# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numbers of a mechanism as inputs of its compiled code."""

import re

import numpy as np
import pytest
from support.mechanism_builder import closed_states, shipped

from uk_dynamics.compilation.build.library import library_of
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism_class import Mechanism

# Of the largest entry, or of one: rounding of some thousand operations. Where other lengths leave a
# machine no motion, accelerations are what is left of larger ones: up to 1.5e-12 in Python, too.
TOLERANCE = 1e-11
# Redundant rows in maximal coordinates; lengths in a loop; rows of velocities; springs
CASES = {
    "five_bar_maximal": ["gravity."],
    "five_bar": ["constraints.right_pin.parent.x", "joints.coupler.origin.x"],
    "skate": ["gravity.", "joints."],
    "flexible_joint_arm": ["forces.", "joints."],
}


def _varied(mechanism, prefixes, rng):
    """Other values for some parameters, masses and inertias of links among them."""
    known = mechanism.parameters
    wanted = [name for name in known if name.startswith("links.")][::3]
    wanted += [name for name in known if name.startswith(tuple(prefixes))]
    wanted += [name for name in known if name.endswith((".mass", ".stiffness", ".damping"))]
    return {
        name: known[name].value * rng.uniform(0.8, 1.2)
        + (0.0 if known[name].value else 1e-3 * rng.random())
        for name in wanted
    }


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("five_bar_maximal", "skate")),
        *("five_bar", "flexible_joint_arm"),
    ],
)
def test_one_library_serves_all_values(name):
    rng = np.random.default_rng(3)
    mechanism = shipped(name)
    libraries = set()
    for _ in range(2):
        varied = mechanism.with_parameters(_varied(mechanism, CASES[name], rng))
        libraries.add(library_of(varied))
        compiled, interpreted = varied.dynamics("compiled"), varied.dynamics("interpreted")
        for state in closed_states(varied, rng, 3):
            inputs = varied.inputs(rng.standard_normal(varied.model.nv))
            found, right = (d.evaluate(state, inputs) for d in (compiled, interpreted))
            scale = max(1.0, np.abs(right.qdd).max())
            assert np.abs(found.qdd - right.qdd).max() <= TOLERANCE * scale
            assert found.rank == right.rank
    assert len(libraries) == 1
    assert (
        np.abs(right.qdd - mechanism.dynamics("interpreted").evaluate(state, inputs).qdd).max()
        > 1e-3
    )


def test_values_are_those_of_a_changed_description():
    mechanism = shipped("five_bar")
    text = mechanism.model.description.text
    heavier = Mechanism.from_spec(
        mechanism.spec, robot_description=re.sub(r'mass value="[^"]*"', 'mass value="2.5"', text)
    )
    masses = [name for name in mechanism.parameters if name.endswith(".mass")]
    varied = mechanism.with_parameters(dict.fromkeys(masses, 2.5))
    state = mechanism.start()
    expected = heavier.dynamics("interpreted").evaluate(state).qdd
    assert np.abs(varied.dynamics("interpreted").evaluate(state).qdd - expected).max() <= TOLERANCE
    assert varied.parameters[masses[0]].value == 2.5
    again = varied.with_parameters({masses[0]: 1.0})
    assert (again.parameters[masses[0]].value, again.parameters[masses[1]].value) == (1.0, 2.5)


def test_what_cannot_be_varied_is_refused():
    mechanism = shipped("five_bar")
    with pytest.raises(UnknownNameError, match="links"):
        mechanism.with_parameters({"links.crank_linc.mass": 1.0})
    with pytest.raises(InputError, match=r"damping: found -1.0; give a finite number >= 0"):
        mechanism.with_parameters({"joints.crank.damping": -1.0})
    with pytest.raises(InputError, match=r"damping: found a; give a finite number >= 0"):
        mechanism.with_parameters({"joints.crank.damping": "a"})
