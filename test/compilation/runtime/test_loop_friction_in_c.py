# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Friction of loop joints that stick, in C: steps are the interpreted ones, alone and of many."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from simulation.test_loop_stiction import PIN, SPATIAL
from support.mechanism_builder import mechanism
from support.repository import ROOT

from uk_dynamics.compilation.build import compiler
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.contact import ClosedContacts, ContactStepping
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.resolution import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)
STEP, LEVER = 1e-3, 0.1  # s, m
FRICTION = {"coulomb": 0.5, "static": 0.8, "radius": PIN, "exact": True}
FLOOR = {
    "parent": {"link": "base", "xyz": [0, 0, -0.32]},
    "child": {"link": "body"},
    "points": {"a": [0.2, 0, -0.2], "b": [0.2, 0.1, -0.2]},
    "restitution": 0.6,
}


def jointed(kind: str, law: str = "", rubs: float = 0.1) -> Mechanism:
    """A body below a joint of the world, which strikes a floor where there is a law of impacts."""
    ends = {"parent": {"link": "base"}, "child": {"link": "body", "xyz": [0, 0, LEVER]}}
    data = {
        "constraints": {"joint": yaml.safe_load(f"{{type: {kind}}}") | ends},
        "initial_guess": {"z": -LEVER},
    }
    data["constraints"]["joint"]["friction"] = FRICTION
    if law:
        data |= {"solver": {"impacts": law}, "contacts": {"floor": FLOOR | {"friction": rubs}}}
    return mechanism(SPATIAL, yaml.safe_dump(data))


def four_bar(*kinds: str) -> Mechanism:
    """A four-bar linkage whose last pin is held in each of some ways, on a crank that sticks."""
    data = yaml.safe_load((ROOT / "config" / "four_bar.yaml").read_text())
    pin = data["constraints"].pop("rocker_pin") | {"friction": FRICTION}
    for k, kind in enumerate(kinds):
        own = {key: x for key, x in pin.items() if key != "axes"}
        data["constraints"][f"pin_{k}"] = own | yaml.safe_load(f"{{type: {kind}}}")
    data["joints"] = {"crank": {"friction": 0.02, "stiction": 0.05}}
    return Mechanism.from_data(data)


def moving(machine: Mechanism, speed: float) -> State:
    """A state on the loops, where all is free to slide; what has a lever turns to the floor."""
    v = np.zeros(machine.model.nv)
    v[-3:] = speed * np.array([0.3, 1.0, 0.5])
    base = ClosedContacts(machine).without(machine.hierarchy.initial)
    start = State(0.0, machine.assemble(), v)
    return machine.dynamics("interpreted").project(start, Inputs(active=base))


HINGE, PLANE = "hinge, axis: [0, 1, 0]", "frame, axes: [x, z]"
CASES = {
    "pin": lambda: (four_bar(PLANE), 0.5),
    "redundant pins": lambda: (four_bar(HINGE, PLANE), 0.5),
    "ball": lambda: (jointed("point"), 0.7),
    "cross": lambda: (jointed("universal, parent_axis: [0, 0, 1], child_axis: [1, 0, 0]"), 0.7),
    "slope": lambda: (jointed("planar, axis: [0, 0.2, 0.9797958971132712]"), 0.7),
    "four directions": lambda: (jointed("frame, axes: [z, rx]"), 0.7),
    "impacts": lambda: (jointed(HINGE, "newton"), 2.0),
    "impacts by Poisson's law": lambda: (jointed("point", "poisson"), 2.0),
}
OFTEN = "redundant pins", "impacts by Poisson's law"


@pytest.mark.parametrize(
    "case", [x if x in OFTEN else pytest.param(x, marks=pytest.mark.slow) for x in CASES]
)
def test_its_steps_are_those_of_the_interpreted_evaluator(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, speed = CASES[case]()
    start, ends, seen = moving(machine, speed), [], set()
    names = [one.name for one in machine.one_sided]
    for backend in ("interpreted", "compiled"):
        stepping, dynamics = ContactStepping(machine), machine.dynamics(backend)
        state, active = stepping.begin(start, dynamics, Inputs(stabilize=False))
        if backend == "compiled":
            monkeypatch.setattr(stepping, "step", None)  # none is left to Python
        passed = []
        for k in range(200):
            given = Inputs(active=active, stabilize=False)
            state, active = stepping.advance(state, STEP * (k + 1), 1, dynamics, given)
            passed.append(np.concatenate([state.q, state.v]))
            pushed = [names[i] for i in np.flatnonzero(stepping.tables.impulse[:, 0])]
            seen |= {f"{name} sticks" for name in active.names}
            seen |= {f"{name} slides" for name in active.sliding}
            seen |= {"strikes" for name in pushed if "floor" in name}
        ends.append(np.array(passed))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-10)
    strikes = "impacts" in case
    assert ("strikes" in seen) is strikes
    for name in names:
        if not name.startswith(("floor", "crank")):
            assert f"{name} slides" in seen
            assert strikes or f"{name} sticks" in seen


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_joint_that_jams_in_an_impact_is_told(backend: Backend) -> None:
    """Friction of the floor turns the body as much as friction of the joint holds it."""
    machine = jointed(HINGE, "newton", rubs=0.5)
    stepping, dynamics = ContactStepping(machine), machine.dynamics(backend)
    start, given = moving(machine, 2.0), Inputs(stabilize=False)
    end, _ = stepping.advance(start, 0.08, 80, dynamics, given)
    assert "forces of contacts" in "".join(stepping.problem() or ())
    assert np.isfinite(end.v).all()


@pytest.mark.slow
def test_many_motions_are_those_of_single_ones() -> None:
    """In threads, where impulses begin from none."""
    machine = four_bar(HINGE, PLANE)
    starts = [moving(machine, speed) for speed in (0.5, 1.0, 2.0)]
    q, v = (np.array([getattr(start, x) for start in starts]) for x in "qv")
    over = {"dt": STEP, "steps": 200, "method": "moreau"}
    found = machine.dynamics("compiled").rollout(q, v, threads=2, **over)
    for k, start in enumerate(starts):
        alone = simulate(machine, start, 0.2, method="moreau", step=STEP, backend="interpreted")
        np.testing.assert_allclose(found.q[k, -1], alone.q[-1], rtol=0, atol=1e-10)


def test_what_else_resists_in_the_joint_is_not_compiled() -> None:
    data = yaml.safe_load((ROOT / "config" / "four_bar.yaml").read_text())
    data["constraints"]["rocker_pin"]["friction"] = FRICTION | {"viscous": 0.1}
    with pytest.raises(UkDynamicsError, match=r"constraints\.rocker_pin\.friction"):
        Mechanism.from_data(data).dynamics("compiled")
