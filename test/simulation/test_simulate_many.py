# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops side by side are those that are simulated one at a time."""

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism, shipped

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.delay_compensation import DelayCompensation
from uk_dynamics.control.hold_and_gravity_compensation import Hold
from uk_dynamics.control.servo import ServoController, ServoModes
from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import MechanismSpec, TasksSpec, find_file
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate, simulate_many

TOLERANCE = 1e-10  # of q, v and, in parts of the largest, efforts
PERIOD = 1e-3
# A redundant row and a motor beyond its limit; rows of velocities
CASES = {
    "five_bar": ("five_bar_sweep", 0.04),
    "differential_drive": ("differential_drive_wheels", 1.0),
}


def _mechanism(name):
    if name != "five_bar":
        return shipped(name)
    found, _ = find_file(name, "mechanism")
    text = found.read_text().replace("axes: [x, z]", "axes: [x, y, z]")
    limits = "effort_limit: 60.0, rate_limit: 2.0e+4, jerk_limit: 1.0e+7"
    text = text.replace("effort_limit: 60.0", limits)
    assert limits in text
    mechanism = Mechanism.from_spec(
        MechanismSpec.from_text(text, file="redundant.yaml", directory=found.parent)
    )
    assert len(mechanism.constraints) == 6
    return mechanism


def _runs(name, tasks, limit, count):
    """Mechanisms of other masses, starts and controllers of other gains, and how to make those."""
    rng = np.random.default_rng(5)
    base = _mechanism(name)
    masses = [parameter for parameter in base.parameters if parameter.endswith(".mass")][:3]
    runs = []
    for _ in range(count):
        mechanism = base.with_parameters(
            {mass: base.parameters[mass].value * rng.uniform(0.7, 1.3) for mass in masses}
        )
        made = Tasks.from_file(tasks, mechanism)
        state = mechanism.start()
        factor, blend = rng.uniform(0.5, 1.5), float(rng.choice([0.0, 0.05]))

        def controller(mechanism=mechanism, made=made, factor=factor, blend=blend):
            found = ServoController(
                mechanism, made, control_period=PERIOD, blend_time=blend, backend="compiled"
            )
            found.gains.stiffness = found.gains.stiffness * factor
            found.limits.effort = found.limits.effort * limit
            return found

        runs.append((mechanism, state, controller))
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_side_by_side_as_one_at_a_time(name):
    tasks, limit = CASES[name]
    runs = _runs(name, tasks, limit, 9)  # more than the lanes of any vector, and not a multiple
    duration = 0.2
    together = simulate_many(
        [run[0] for run in runs],
        [run[1] for run in runs],
        duration,
        controllers=[run[2]() for run in runs],
        control_period=PERIOD,
        backend="compiled",
        threads=1,  # vectors of motions move by turns
    )
    for k in (0, 3, 8):
        mechanism, state, controller = runs[k]
        single = simulate(
            mechanism,
            state,
            duration,
            controller=controller(),
            control_period=PERIOD,
            backend="compiled",
        )
        found = together[k]
        assert np.array_equal(found.t, single.t)
        assert np.abs(found.q - single.q).max() <= TOLERANCE
        assert np.abs(found.v - single.v).max() <= TOLERANCE
        largest = np.abs(single.efforts).max()
        assert np.abs(found.efforts - single.efforts).max() <= TOLERANCE * largest
        assert found.warnings == single.warnings
        assert found.statistics.steps == single.statistics.steps
        if limit < 1.0:  # the case is one of limits
            most = limit * mechanism.actuators.effort_limits
            assert (np.abs(single.efforts) >= most * (1.0 - 1e-12)).any()
    assert np.abs(together[0].q[-1] - together[1].q[-1]).max() > 1e-9  # each its own motion


LAWS = {
    "predicted": lambda mechanism, tasks, controller: DelayCompensation(
        controller(), 2.5 * PERIOD, control_period=PERIOD, backend="compiled"
    ),
    "held": lambda mechanism, tasks, controller: Hold(
        mechanism, control_period=PERIOD, backend="compiled"
    ),
    "modes": lambda mechanism, tasks, controller: ServoModes(
        mechanism, tasks, PERIOD, backend="compiled"
    ),
}


@pytest.mark.parametrize(
    "law", [*(pytest.param(x, marks=pytest.mark.slow) for x in ("predicted", "modes")), "held"]
)
def test_other_laws_move_side_by_side_too(law, caplog):
    """Late efforts between the periods, laws that lanes do not know."""
    runs = _runs("five_bar", "five_bar_sweep", 1.0, 3)
    made = [
        LAWS[law](mechanism, controller().tasks, controller)
        for mechanism, _, controller in (*runs, runs[1])
    ]
    options = {"control_period": PERIOD, "delay": 2.5 * PERIOD, "backend": "compiled"}
    with caplog.at_level("INFO"):
        found = simulate_many(
            [run[0] for run in runs],
            [run[1] for run in runs],
            0.1,
            controllers=made[:3],
            **options,
        )[1]
    assert "one after the other" not in caplog.text
    mechanism, state, _ = runs[1]
    # a motion of its own, with a controller that has not moved yet
    single = simulate(mechanism, state, 0.1, controller=made[3], **options)
    assert np.array_equal(found.t, single.t)
    assert np.abs(found.q - single.q).max() <= TOLERANCE
    assert np.abs(found.v - single.v).max() <= TOLERANCE
    assert np.abs(found.efforts - single.efforts).max() <= TOLERANCE * np.abs(single.efforts).max()
    assert np.abs(single.efforts[1:]).max() > 0.0
    assert not single.efforts[0].any()  # nothing acts before the delay is over


CARTS = (
    link("base")
    + link("platform", mass=2.0)
    + joint("lift", "base", "platform", kind="prismatic", axis="0 0 1")
    + link("one", mass=1.0)
    + joint("left", "platform", "one", kind="prismatic", axis="0 0 1")
    + link("two", mass=3.0)
    + joint("right", "platform", "two", kind="prismatic", axis="0 0 1")
)
PULLEY = """\
constraints:
  pulley: {type: joint_coupling, joints: {left: 1.0, right: 1.0}}
  latch: {type: joint, joint: lift, reference: {type: live, value: 0.0}, switchable: true,
          on_activation: require, active: false}
actuators: {m1: {joint: lift}, m2: {joint: left}, m3: {joint: right}}
"""
RAISED = """\
schema: 1
tasks: {raised: {type: joint, joint: left, reference: {type: live, value: VALUE}}}
"""


@pytest.mark.slow
def test_live_samples_switched_constraints_and_internal_forces():
    """Each motion has others: of its task, of what the law takes for switched on, of a force."""
    machine = mechanism(CARTS, PULLEY)
    settings = [
        {"value": 0.1},
        {"value": 0.12},
        {"active": ("latch",)},
        {"active": ("latch",), "latch": 0.3},
        {"force": 4.0},
        {"force": 9.0},
    ]

    def prepared(value=0.1, active=(), latch=0.0, force=0.0):
        tasks = Tasks(TasksSpec.from_text(RAISED.replace("VALUE", str(value))), machine)
        made = ServoController(
            machine, tasks, control_period=PERIOD, backend="compiled", active=active
        )
        made.structure = {"latch": ReferenceSample.at_rest(np.array([latch]))}
        if force:
            made.set_internal_forces({"pulley": force})
        return made

    state = machine.start(velocities={"lift": 0.2})
    options = {"control_period": PERIOD, "backend": "compiled"}
    controllers = [prepared(**one) for one in settings]
    together = simulate_many(machine, [state] * 6, 0.1, controllers=controllers, **options)
    for one, found in zip(settings, together, strict=True):
        single = simulate(machine, state, 0.1, controller=prepared(**one), method="rk4", **options)
        assert np.array_equal(found.t, single.t)
        assert np.abs(found.q - single.q).max() <= TOLERANCE
        assert np.abs(found.v - single.v).max() <= TOLERANCE
        largest = np.abs(single.efforts).max()
        assert np.abs(found.efforts - single.efforts).max() <= TOLERANCE * largest
        assert found.warnings == single.warnings
    last = np.array([found.efforts[-1] for found in together])
    apart = np.abs(last[:, None] - last).max(axis=2)
    assert apart[~np.eye(6, dtype=bool)].min() > 1e-3  # N; each setting is seen


def test_what_does_not_fit_together_is_refused():
    mechanism, state, controller = _runs("five_bar", "five_bar_sweep", 1.0, 1)[0]
    one = controller()
    with pytest.raises(InputError, match="a controller of its own"):
        simulate_many(mechanism, [state, state], 0.1, controllers=[one, one], control_period=PERIOD)
    with pytest.raises(InputError, match="controllers and a control period, or neither"):
        simulate_many(mechanism, [state], 0.1, controllers=[one])
    with pytest.raises(InputError, match="controllers and a control period, or neither"):
        simulate_many(mechanism, [state], 0.1, control_period=PERIOD)


def test_the_state_that_cannot_begin_is_named():
    """Of those that nothing controls, and of those side by side."""
    lift = joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
    floor = "contacts: {floor: {parent: {link: base}, child: {link: ball}}}"
    ball = mechanism(link("base") + link("ball", 2.0) + lift, floor)
    starts = [ball.state({"z": z}) for z in (0.1, -0.2, 0.3)]
    with pytest.raises(SimulationError, match=r"states\[1\]: .*floor") as caught:
        simulate_many(ball, starts, 0.1, backend="interpreted")
    assert caught.value.time == 0.0
    five_bar, state, controller = _runs("five_bar", "five_bar_sweep", 1.0, 1)[0]
    broken = State(0.0, state.q, np.full_like(state.v, np.nan))
    laws = [controller(), controller()]
    with pytest.raises(InputError, match=r"states\[1\]: "):
        simulate_many(five_bar, [state, broken], 0.1, controllers=laws, control_period=PERIOD)


@pytest.mark.parametrize("method", [None, "moreau"])
def test_what_nothing_controls_moves_as_by_itself(method):
    lift = joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
    floor = "contacts: {floor: {parent: {link: base}, child: {link: ball}, restitution: 0.5}}"
    ball = mechanism(link("base") + link("ball", 2.0) + lift, floor)
    starts = [ball.state({"z": z}) for z in (0.1, 0.2, 0.3)]
    found = simulate_many(ball, starts, 0.4, method=method, backend="interpreted")
    for start, run in zip(starts, found, strict=True):
        single = simulate(ball, start, 0.4, method=method, backend="interpreted")
        np.testing.assert_array_equal(run.q, single.q)
        assert run.v.max() > 0.5  # m/s: it leaves the floor again
