# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is typed first: commands without arguments, slips, and Python at a prompt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import interrupted_everywhere
from support.mechanism_builder import arm, joint, link, mechanism, shipped

from uk_dynamics import Hold, Mechanism, forward_dynamics, inverse_dynamics
from uk_dynamics.cli.main import main
from uk_dynamics.control.servo import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation import simulate

# --- command line --------------------------------------------------------------------------------


def said(capsys, *arguments: str) -> tuple[int, str]:
    """Status, and what was printed."""
    try:
        status = main(arguments)
    except SystemExit as end:
        status = int(str(end.code))
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_without_a_command_all_are_listed(capsys):
    status, text = said(capsys)
    assert status == 2
    for command in ("describe", "simulate", "init", "check"):
        assert f"\n    {command} " in text


@pytest.mark.parametrize(
    ("slip", "meant"), [("--duraton", "--duration"), ("--taks=x", "--tasks"), ("--plott", "--plot")]
)
def test_mistyped_options_are_suggested(slip, meant, capsys):
    status, text = said(capsys, "simulate", "five_bar", slip)
    assert status == 2
    assert f"did you mean {meant}?" in text


def test_a_urdf_points_to_init(tmp_path, capsys):
    file = tmp_path / "robot.urdf"
    file.write_text(f'<?xml version="1.0"?>\n<robot name="r">{arm([1.0])}</robot>')
    status, text = said(capsys, "describe", str(file))
    assert status == 0
    assert "uk_dynamics init" in " ".join(text.split())


def test_positions_have_the_unit_of_their_joint(tmp_path, capsys):
    parts = link("base") + link("cart") + link("rod", com="0 0 1")
    parts += joint("slide", "base", "cart", kind="prismatic", axis="1 0 0")
    parts += joint("swing", "cart", "rod")
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{parts}</robot>')
    file = tmp_path / "cart.yaml"
    file.write_text("schema: 1\nmodel: {urdf: robot.urdf}\ninitial_guess: {slide: 0.2, swing: 1}\n")
    text = said(capsys, "describe", str(file))[1]
    assert "slide 0.2 m, swing 1 rad" in text


@pytest.mark.slow
def test_ctrl_c_at_any_moment_is_one_line(tmp_path):
    program = Path(interrupted_everywhere.__file__)
    report = tmp_path / "report"
    # every 45th import and every 100,000th call: some thirty moments
    command = [sys.executable, program, report, "45", "100000", "simulate", "four_bar"]
    options = ["--duration", "0.01", "--backend", "interpreted"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    ends = [json.loads(line) for line in report.read_text().splitlines()]
    assert len(ends) > 20
    # while the command itself is imported, nothing can be said yet
    told = ("uk_dynamics: interrupted\n", "")
    assert [each for each in ends if each[1] != 130 or each[2] not in told] == []


# --- files ---------------------------------------------------------------------------------------


def test_names_with_capitals():
    text = "actuators: {LeftMotor: {joint: j1}}\nconstraints: {Pin_A: {type: joint, joint: j2}}\n"
    machine = mechanism(arm([1.0, 1.0]), text)
    assert machine.actuators.names == ("LeftMotor",)
    assert machine.constraints.names == ("Pin_A",)


def test_no_effort_limit_is_ordinary_where_there_is_no_motor():
    parts = arm([1.0, 1.0], [(-1.0, 1.0), (-1.0, 1.0)]).replace('effort="100"', 'effort="0"')
    assert mechanism(parts).warnings == ()
    (warning,) = mechanism(parts, "actuators: {motor: {joint: j2}}\n").warnings
    assert "joint j2: limit effort is 0" in warning
    limited = mechanism(parts, "actuators: {motor: {joint: j2, effort_limit: 5}}\n")
    assert limited.warnings == ()


# --- Python --------------------------------------------------------------------------------------

TASK = "schema: 1\ntasks: {sway: {type: joint, joint: crank, "
TASK += "reference: {type: constant, value: 0.3}}}\n"


def test_start_takes_positions_by_keyword():
    machine = shipped("four_bar")
    assert np.array_equal(machine.start(crank=0.7).q, machine.start({"crank": 0.7}).q)
    with pytest.raises(InputError, match="crnk"):
        machine.start(crnk=0.7)


def test_a_position_beyond_a_limit_is_an_error():
    machine = mechanism(arm([1.0, 1.0], [(-0.6, 0.6), None]))
    for closing in (machine.assemble, machine.start):
        with pytest.raises(InputError, match=r"j1 = 3 is outside \[-0.6, 0.6\]"):
            closing(j1=3.0)


def test_a_controller_is_told_which_constraints_are_active():
    machine = shipped("landing_leg")
    tasks = Tasks.from_spec(
        TasksSpec.from_text(TASK.replace("crank", machine.joint_names[0])), machine
    )
    controller = ServoController(machine, tasks, active=["foot"])
    assert controller.active is not None
    assert controller.active.names == {"foot"}
    state = machine.start()
    other = ServoController(machine, tasks, active=[])
    assert not np.allclose(controller.command(state).requested, other.command(state).requested)
    with pytest.raises(InputError, match="foott"):
        ServoController(machine, tasks, active=["foott"])


def test_trajectories_by_name_and_as_a_table():
    machine = shipped("five_bar")
    motion = simulate(machine, machine.start(), 0.05)
    joint_name, motor = machine.joint_names[1], machine.actuators.names[0]
    assert np.array_equal(motion.velocity(joint_name), motion.v[:, 1])
    assert np.array_equal(motion.effort(motor), motion.efforts[:, 0])
    with pytest.raises(InputError, match="no motor"):
        motion.effort("engine")
    table = motion.columns()
    assert next(iter(table)) == "t"
    assert table[f"v.{joint_name}"] == motion.v[:, 1].tolist()
    assert {len(column) for column in table.values()} == {len(motion.t)}


def test_reprs_say_something():
    machine = shipped("five_bar")
    motion = simulate(machine, machine.start(), 0.02)
    assert repr(machine) == "<Mechanism five_bar: 4 joints, 4 constraint rows, 1 motor>"
    tasks = Tasks.through(machine, [0.0, 1.0], crank=[0.6, 0.7])
    said = "<ServoController crank of five_bar, every 0.001 s>"
    assert repr(ServoController(machine, tasks, control_period=0.001)) == said
    assert repr(Hold(machine)) == "<Hold of five_bar>"
    assert repr(machine.constraints) == "<ConstraintSet middle_pin, right_pin: 4 rows>"
    assert repr(machine.model) == "<RobotModel five_bar: 5 links, 4 velocities>"
    assert repr(motion) == "<Trajectory five_bar: 3 samples from 0 to 0.02 s>"


def test_wrong_types_are_named():
    machine = shipped("five_bar")
    with pytest.raises(InputError, match=r"state: expected a State.*found ndarray"):
        simulate(machine, machine.assemble(), 1.0)
    with pytest.raises(InputError, match=r"mechanism: expected a Mechanism.*found str"):
        simulate("five_bar", machine.start(), 1.0)
    tasks = Tasks.from_file("five_bar_sweep", machine)
    doors = {
        "path or a name, found int": lambda: Mechanism.from_file(5),
        "spec: expected a MechanismSpec": lambda: Mechanism("five_bar", "five_bar"),
        "mechanism: expected a ResolvedMechanism": lambda: Tasks.from_file("five_bar_sweep", "x"),
        "tasks: expected a Tasks": lambda: ServoController(machine, "five_bar_sweep"),
        "mechanism: expected a Mechanism": lambda: ServoController("five_bar", tasks),
        "of a Mechanism|expected a Mechanism": lambda: Hold("five_bar"),
        "state: expected a State": lambda: forward_dynamics(machine, machine.assemble()),
        "state: expected a State.*found tuple": lambda: inverse_dynamics(machine, (0.0,), [1.0]),
        "duration: expected a positive number, found '1'": lambda: simulate(
            machine, machine.start(), "1"
        ),
        "data: expected a dict": lambda: Tasks.from_data("tasks: {}", machine),
        "found object; valid": lambda: Tasks.from_data({"tasks": object()}, machine),
        "point in it.*found": lambda: machine.pose(("coupler_link", 1, 2)),
        "point in coupler_link: expected 3": lambda: machine.pose(("coupler_link", (1, 2))),
        r"pose: expected .* found \(3,\); position=": lambda: machine.inverse_kinematics(
            "coupler_link", (0.1, 0.0, 0.2)
        ),
        "pose: expected numbers": lambda: machine.inverse_kinematics("coupler_link", "up"),
        "wrench on coupler_link": lambda: machine.wrench_forces({"coupler_link": [1, 2]}),
    }
    for text, wrong in doors.items():
        with pytest.raises(InputError, match=text):
            wrong()


# Two links on a pin each, whose ends meet: a triangle with the ground.
ROBOT = link("base") + link("boom") + link("tube") + link("rod")
ROBOT += joint("lift", "base", "boom", xyz="0 0 0.5") + joint(
    "swing", "base", "tube", xyz="0.3 0 0"
)
ROBOT += joint("stroke", "tube", "rod", kind="prismatic", axis="0 0 1", limits=(0.3, 0.9))
LOOP = {
    "actuators": {"cylinder": {"joint": "stroke", "effort_limit": 500.0}},
    "constraints": {
        "pin": {
            "type": "frame",
            "axes": ("x", "z"),
            "parent": {"link": "rod"},
            "child": {"link": "boom", "xyz": np.array([0.6, 0.0, 0.1])},
        }
    },
    "initial_guess": {"stroke": np.float64(0.6)},
}


@pytest.mark.slow
def test_a_mechanism_and_its_tasks_without_a_file():
    machine = Mechanism.from_data(
        LOOP, robot_description=f'<robot name="r">{ROBOT}</robot>', name="lifter"
    )
    assert (machine.name, machine.constraints.names) == ("lifter", ("pin",))
    closed = machine.start()
    here = machine.pose("rod", closed.q)[0] - machine.pose(("boom", (0.6, 0.0, 0.1)), closed.q)[0]
    assert np.abs(here[[0, 2]]).max() < 1e-9  # the closure tolerance, of a machine of 1 m
    begin = float(closed.q[machine.model.position_names.index("stroke")])
    tasks = Tasks.through(machine, [0.0, 0.5], stroke=[begin, begin + 0.05])
    controller = ServoController(machine, tasks, control_period=0.001)
    motion = simulate(machine, closed, 0.5, controller=controller, control_period=0.001)
    # the law is exact in the middle of each period: the error is of the order of its square
    assert abs(motion.position("stroke")[-1] - begin - 0.05) < 1e-5
    with pytest.raises(InputError, match="strok"):
        Tasks.through(machine, [0.0, 1.0], strok=[0.5, 0.6])
    with pytest.raises(InputError, match='pin: the key "parent"'):
        Mechanism.from_data({**LOOP, "constraints": {"pin": {"type": "frame", "axes": 3}}})


def test_forces_on_links_do_the_work_of_their_points():
    """Σ τ·v is F·(velocity of the point) + T·ω, for every motion."""
    machine = shipped("stewart_platform")
    q = machine.assemble()
    point = ("platform", (0.1, -0.2, 0.05))
    force, torque = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.1])
    tau = machine.wrench_forces({point: [*force, *torque]}, q)
    rng = np.random.default_rng(5)
    for _ in range(3):
        v, h = rng.standard_normal(machine.model.nv), 1e-6
        (ahead, turned), (behind, before) = (
            machine.pose(point, machine.model.integrate(q, step * v)) for step in (h, -h)
        )
        velocity = (ahead - behind) / (2.0 * h)
        spin = (turned - before) @ turned.T / (2.0 * h)
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        # central differences: h² times third derivatives, and rounding 1e-16 / h
        assert abs(tau @ v - force @ velocity - torque @ omega) < 1e-6
    assert np.array_equal(
        machine.wrench_forces({point: force}, q),
        machine.wrench_forces({point: [*force, 0.0, 0.0, 0.0]}, q),
    )


def test_points_of_links_see_each_other():
    machine = shipped("five_bar")
    place, _ = machine.pose(
        ("coupler_link", (0.2, 0.0, 0.0)), relative_to=("coupler_link", (0.05, 0.0, 0.0))
    )
    np.testing.assert_allclose(place, [0.15, 0.0, 0.0], rtol=0.0, atol=1e-15)  # rounding
