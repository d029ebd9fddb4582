# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Large mechanisms in C: loops over clusters give what the interpreted clusters give."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from support.mechanism_builder import clustered, joint, link, mechanism, near
from support.random_urdf import urdf

from uk_dynamics.compilation.build.compilable import obstacles
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.control.delay_compensation import DelayCompensation
from uk_dynamics.control.servo import ServoController
from uk_dynamics.control.servo.compiled_period import CompiledPeriod
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics_studies.benchmarks.loop_ladder import loop_ladder, swinging
from uk_dynamics_studies.benchmarks.loop_ladder import urdf as ladder_urdf
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

# Links 1 to 4 hang on each other, 5 to 7 on link 1, 8 to 10 on link 3; every loop is local, and
# one is on a body that moves. Between them they have rows of every type that two frames have.
PARENTS = (0, 1, 2, 3, 1, 5, 6, 3, 8, 9, 10, 0)
TYPES = ("revolute", "prismatic") + ("revolute", "continuous") * 5
LOOPS = """
constraints:
  hinge: {type: hinge, axis: [0, 0.6, 0.8], parent: {link: link1}, child: {link: link7}}
  screw: {type: screw, axis: [0, 1, 0], pitch: 0.7, parent: {link: link1}, child: {link: link6}}
  weld: {type: weld, parent: {link: link10}, child: {link: link11, xyz: [0.1, 0.2, -0.3]}}
  turn: {type: frame, axes: [x, ry], parent: {link: link8}, child: {link: link3}}
  rod: {type: distance, distance: 0.8, parent: {link: link0}, child: {link: link12}}
joints:
  joint1: {damping: 0.3, spring: {stiffness: 3.0, rest: 0.1}, stop: {stiffness: 90, damping: 2}}
  joint4: {friction: 0.2, armature: 0.4}
  joint8: {spring: {stiffness: 5.0, rest: -0.4}}
"""


@pytest.fixture(scope="module")
def tree() -> tuple[InterpretedDynamics, CompiledDynamics]:
    """Both evaluators of a tree with local loops."""
    spec = MechanismSpec.from_text(f"schema: 1\nmodel: {{length: 0.4}}{LOOPS}")
    text = urdf(PARENTS, TYPES, seed=3)
    machine = clustered(Mechanism.from_spec(spec, robot_description=text))
    interpreted = InterpretedDynamics(machine)
    return interpreted, CompiledDynamics(machine, interpreted)


@pytest.mark.slow
def test_rows_of_every_type_and_forces_of_joints(tree):
    interpreted, compiled = tree
    nv = interpreted.model.nv
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v, tau = rng.uniform(-2.5, 2.5, (3, nv))  # beyond the stops of joint1, too
        state, inputs = State(0.0, q, v), Inputs(tau=tau)
        expected, found = interpreted.evaluate(state, inputs), compiled.evaluate(state, inputs)
        assert found.method == expected.method == "nullspace"
        assert found.rank == expected.rank
        assert found.status is expected.status
        assert list(found.determined) == list(expected.determined)
        assert found.condition == pytest.approx(expected.condition, rel=1e-9)
        for name in ("qdd", "constraint_force", "multipliers", "residual"):
            near(getattr(found, name), getattr(expected, name), relative=1e-9 * found.condition)
        near(compiled.acceleration(q, v, tau), found.qdd, relative=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("project", [True, False])
@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
def test_trajectories(method, project):
    machine = clustered(loop_ladder(3))
    interpreted = InterpretedDynamics(machine)
    compiled = CompiledDynamics(machine, interpreted)
    states = [swinging(machine, seed) for seed in range(3)]
    q, v = np.array([s.q for s in states]) + 1e-4, np.array([s.v for s in states])
    v[2, 0] = 1e200  # its square is not finite
    tau = np.random.default_rng(0).standard_normal((3, 8, machine.model.nv))
    wanted = {"steps": 8, "dt": 2e-3, "every": 4, "method": method, "project": project}
    expected = interpreted.rollout(q, v, tau, **wanted)
    found = compiled.rollout(q, v, tau, **wanted, threads=2)
    assert found.stopped.keys() == expected.stopped.keys() == {2}
    near(found.q[:2], expected.q[:2], relative=1e-12)
    near(found.v[:2], expected.v[:2], relative=1e-11)
    assert np.isnan(found.q[2, -1]).all()
    alone = compiled.project(State(0.0, q[0], v[0]))
    near(alone.q, interpreted.project(State(0.0, q[0], v[0])).q, relative=1e-13)


def test_values_given_at_run_time_are_those_of_the_tables():
    machine = loop_ladder(25)
    heavy = machine.with_parameters({"links.left_rail_1.mass": 7.0})
    assert heavy.local is not None, "large enough for clusters"
    state = swinging(heavy, 0)
    expected = InterpretedDynamics(heavy).evaluate(state).qdd
    assert np.abs(expected - InterpretedDynamics(machine).evaluate(state).qdd).max() > 0.1
    near(CompiledDynamics(heavy).evaluate(state).qdd, expected, relative=1e-11)


TASKS = """
schema: 1
tasks:
  first: {type: joint, joint: left_1, reference: {type: constant, value: 0.3}}
  third: {type: joint, joint: right_3, priority: 2, reference: {type: constant, value: -0.2}}
  tip:
    type: frame
    axes: [x, z]
    parent: {link: rung_0}
    child: {link: rung_3}
    reference: {type: sinusoid, offset: [0.1, -0.6], amplitude: 0.05, frequency: 2.0, phase: 0.0}
"""
MOTORS = """  upper: {joint: left_1, effort_limit: 400.0}
  middle: {joint: left_2, effort_limit: 9.0, rate_limit: 500.0}
  lower: {joint: left_3, effort_limit: 40.0}
joints:
  left_2: {damping: 0.5, friction: 0.3}
"""


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["model", "none"])
def test_a_servo_law_within_limits_and_the_motion_under_it(friction):
    """More task rows than motors, two priorities, motors at limits of effort and rate."""
    hip = "  hip: {joint: left_1, effort_limit: 60.0}\n"
    machine = clustered(loop_ladder(3, **{hip: MOTORS}))
    tasks = Tasks(TasksSpec.from_text(TASKS), machine)
    found = {}
    for backend in ("compiled", "interpreted"):
        controller = ServoController(
            machine, tasks, control_period=0.002, backend=backend, friction=friction
        )
        if backend == "compiled":
            assert isinstance(controller.compiled(), CompiledPeriod)
        found[backend] = simulate(
            machine,
            swinging(machine),
            0.03,
            controller=controller,
            control_period=0.002,
            backend=backend,
            method="rk4",
            step=1e-3,
        )
    expected, compiled = found["interpreted"], found["compiled"]
    assert (np.abs(expected.efforts).max(axis=0) == [400.0, 9.0, 40.0]).any()  # limits act
    for name in ("q", "v", "efforts", "tracking_error", "multipliers", "residual"):
        near(getattr(compiled, name), getattr(expected, name), relative=1e-10)
    assert (compiled.rank == expected.rank).all()


def test_a_motion_without_inertia_is_named():
    parts = link("base") + link("l1", mass=0.0) + joint("j1", "base", "l1")
    machine = clustered(mechanism(parts))
    with pytest.raises(UndeterminedMotionError, match="j1"):
        CompiledDynamics(machine).evaluate(State(0.0, np.zeros(1), np.zeros(1)))


def test_what_is_not_compiled_is_named():
    rows = "type: frame\n    axes: [x, z]"
    machine = clustered(
        loop_ladder(2, **{rows: f"{rows}\n    reference: {{type: constant, value: [0, 0]}}"})
    )
    assert obstacles(machine) == ("constraints.pin_1.reference", "constraints.pin_2.reference")


def hexapod(cells: int, more: str = "") -> Mechanism:
    """A floating body on six legs, each a ladder of parallelograms: 6 + 18 velocities a cell.

    more: Further sections of the file.
    """
    robot = ET.fromstring('<robot name="hexapod"/>')
    body = ET.SubElement(robot, "link", name="body")
    inertial = ET.SubElement(body, "inertial")
    ET.SubElement(inertial, "origin", xyz="0.03 -0.02 0.1")
    ET.SubElement(inertial, "mass", value="7.0")
    ET.SubElement(
        inertial, "inertia", ixx="0.3", iyy="0.5", izz="0.7", ixy="0.02", ixz="-0.01", iyz="0.03"
    )
    pins = []
    for leg in range(6):
        for part in ET.fromstring(ladder_urdf(cells)):
            for element in part.iter():
                for key in ("name", "link"):
                    if element.get(key) and (element is part or element.tag in ("parent", "child")):
                        element.set(key, f"{element.get(key)}_of_{leg}")
            robot.append(part)
        hip = ET.SubElement(robot, "joint", name=f"hip_{leg}", type="fixed")
        ET.SubElement(hip, "parent", link="body")
        ET.SubElement(hip, "child", link=f"rung_0_of_{leg}")
        ET.SubElement(hip, "origin", xyz=f"{0.4 * (leg // 2 - 1)} {leg % 2} 0", rpy=f"0 0 {leg}")
        pins += [
            f"  pin_{cell}_of_{leg}:\n    type: frame\n    axes: [x, z]\n"
            f"    parent: {{link: rung_{cell}_of_{leg}, xyz: [0.3, 0, 0]}}\n"
            f"    child: {{link: right_rail_{cell}_of_{leg}, xyz: [0.2, 0, 0]}}\n"
            for cell in range(1, cells + 1)
        ]
    text = f"schema: 1\nmodel: {{root: floating}}\nconstraints:\n{''.join(pins)}{more}"
    return Mechanism.from_spec(
        MechanismSpec.from_text(text), robot_description=ET.tostring(robot, encoding="unicode")
    )


def _from_positions(machine: Mechanism, state: State, tau: np.ndarray) -> np.ndarray:
    """q̈ of least squares of all KKT equations, of Pinocchio's M, h and positions of points alone.

    The rows are all three components of each pin, so that a third of them is redundant.
    """
    model, data = machine.model.pinocchio, machine.model.pinocchio.createData()
    pairs = [
        [model.getFrameId(f"{pin_.name}/{role}") for role in ("child", "parent")]
        for pin_ in machine.constraints.constraints
    ]

    def openings(motion: np.ndarray) -> np.ndarray:
        pin.framesForwardKinematics(model, data, pin.integrate(model, state.q, motion))
        return np.concatenate(
            [data.oMf[child].translation - data.oMf[parent].translation for child, parent in pairs]
        )

    assert np.abs(openings(0.0 * state.v)).max() < 1e-14, "closed"
    h = 1e-4
    A = np.column_stack([(openings(h * e) - openings(-h * e)) / (2 * h) for e in np.eye(model.nv)])
    A_dot_v = (openings(h * state.v) + openings(-h * state.v)) / h**2
    M = pin.crba(model, data, state.q)
    F = tau - pin.nonLinearEffects(model, data, state.q, state.v)
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    return np.linalg.lstsq(K, np.concatenate([F, -A_dot_v]), rcond=1e-9)[0][: model.nv]


@pytest.mark.slow
def test_a_floating_hexapod_with_closed_legs():
    cells = 4
    machine = hexapod(cells)
    assert machine.local is not None, "large enough for clusters"
    dense = hexapod(cells)
    dense.local = None
    model = machine.model
    rng = np.random.default_rng(5)
    motion = rng.uniform(-1.0, 1.0, (3, model.nv))
    for joint_name in model.joint_names:
        if joint_name.startswith("left_"):
            left, right, level = (
                model.velocity_index(joint_name.replace("left", part))
                for part in ("left", "right", "level")
            )
            motion[:, right], motion[:, level] = motion[:, left], -motion[:, left]
    q, v, tau = model.integrate(model.neutral(), motion[0]), motion[1], motion[2]
    state, inputs = State(0.0, q, v), Inputs(tau=tau)
    expected = InterpretedDynamics(dense).evaluate(state, inputs)
    clusters = InterpretedDynamics(machine)
    compiled = CompiledDynamics(machine, clusters)
    for found in (clusters.evaluate(state, inputs), compiled.evaluate(state, inputs)):
        assert found.rank == expected.rank == 12 * cells
        assert found.status is expected.status
        for name in ("qdd", "constraint_force", "multipliers"):
            near(getattr(found, name), getattr(expected, name), relative=1e-10)
    near(PinocchioPeer(dense).acceleration(state, tau), expected.qdd, relative=1e-10)
    # rows along v are differences, of rounding 1e-16 over the square of their step
    near(_from_positions(dense, state, tau), expected.qdd, relative=1e-7)
    batch = compiled.evaluate_batch(np.array([q, q]), np.array([v, 0.5 * v]), np.array([tau, tau]))
    near(batch.qdd[0], expected.qdd, relative=1e-10)
    near(clusters.energy(state).total, InterpretedDynamics(dense).energy(state).total)
    ahead = State(0.0, model.integrate(q, 1e-3 * rng.standard_normal(model.nv)), v)
    near(compiled.project(ahead).v, InterpretedDynamics(dense).project(ahead).v, relative=1e-9)


HIPS = "actuators:\n" + "".join(
    f"  hip_{leg}: {{joint: left_1_of_{leg}, effort_limit: {6.0 if leg == 1 else 400.0}}}\n"
    for leg in range(6)
)
STANCE = """
schema: 1
tasks:
  body:
    type: frame
    axes: [z, rx]
    parent: {link: world}
    child: {link: body}
    reference: {type: sinusoid, offset: [0.05, 0.0], amplitude: 0.05, frequency: 2.0, phase: 0.0}
  hip: {type: joint, joint: left_1_of_1, reference: {type: constant, value: 0.4}}
  foot:
    type: frame
    axes: [x]
    priority: 2
    parent: {link: body}
    child: {link: rung_1_of_4}
    reference: {type: constant, value: 0.1}
"""


@pytest.fixture(scope="module")
def tumbling() -> tuple[Mechanism, Mechanism, State]:
    """A hexapod by clusters, the same with dense matrices, and a state on the loops that turns."""
    dense = hexapod(1, HIPS)
    model = dense.model
    rng = np.random.default_rng(5)
    q = model.integrate(model.neutral(), rng.uniform(-0.3, 0.3, model.nv))
    v = rng.uniform(-0.3, 0.3, model.nv)  # of legs that stay bent
    v[:6] = [0.7, -0.4, 0.9, 3.0, -5.0, 4.0]
    return clustered(dense), dense, InterpretedDynamics(dense).project(State(0.0, q, v))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 0.02), ("semi_implicit_euler", 0.01), ("DOP853", None)]
)
def test_a_floating_root_moves_on_its_group(tumbling, method, step):
    """Steps that turn the root by 0.14 rad: rates of the coordinates in a step are not v."""
    machine, dense, state = tumbling
    compiled = CompiledDynamics(machine)
    assert compiled.motion() is not None
    found, expected = (
        simulate(m, state, 0.15, method=method, step=step, sample_period=0.025, backend=backend)
        for m, backend in ((machine, "compiled"), (dense, "interpreted"))
    )
    for name in ("q", "v", "multipliers", "residual"):
        near(getattr(found, name), getattr(expected, name), relative=1e-10)
    assert found.statistics.steps == expected.statistics.steps
    if step is None:
        return
    plan = {"steps": 8, "dt": step, "every": 4, "method": method}
    rolled = (
        dynamics.rollout(state.q[None], state.v[None], **plan)
        for dynamics in (compiled, InterpretedDynamics(dense))
    )
    near(next(rolled).q, next(rolled).q, relative=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.004])
def test_a_servo_law_on_a_floating_root(tumbling, delay):
    """Two priorities, more task rows than motors can serve, and one motor at its limit."""
    machine, dense, state = tumbling
    found = []
    for m, backend in ((machine, "compiled"), (dense, "interpreted")):
        servo = ServoController(
            m, Tasks(TasksSpec.from_text(STANCE), m), control_period=0.002, backend=backend
        )
        law = DelayCompensation(servo, delay, control_period=0.002, backend=backend)
        if backend == "compiled":
            assert not isinstance(law.compiled(), str)
        found.append(
            simulate(
                *(m, state, 0.03),
                controller=law,
                control_period=0.002,
                delay=delay,
                backend=backend,
                method="rk4",
                step=1e-3,
            )
        )
    compiled, expected = found
    largest = np.abs(expected.efforts).max(axis=0)[:2]
    # limits act; motors at several of them are solved for together, to rounding
    np.testing.assert_allclose(largest, [400.0, 6.0], rtol=1e-14)
    for name in ("q", "v", "tracking_error"):
        near(getattr(compiled, name), getattr(expected, name), relative=1e-10)
    # at the last instant with a delay, efforts sampled in C are those of after it
    near(compiled.efforts[:-1], expected.efforts[:-1], relative=1e-10)
