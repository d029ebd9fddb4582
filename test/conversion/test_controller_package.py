# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Packages for controller_manager: their servo in C++ says what the law in Python says."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.mechanism_builder import shipped
from support.repository import ROOT
from support.wrong_compiler import wrong_compiler

import uk_dynamics as ukd
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion import controller_package
from uk_dynamics.conversion.controller_package.parts import identifier, sensed
from uk_dynamics.conversion.ros2_control_files import MOCK
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array

needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="there is no C++ compiler on this machine"
)
PERIOD, BLEND, RAMP = 0.002, 0.1, 0.02  # s
ANY = float("inf")  # error of tracking that is allowed
JUMP, BASE, FROZEN, TRACKING = 2, 6, 7, 8  # faults
DRIVER = ROOT / "test" / "conversion" / "controller_package_driver.cpp"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsanitize=address,undefined", "-O1")
HOSTILE = 'b"1\\\\?*/ ä'  # a passive joint; a string of C++ needs four escapes for it


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> ukd.Mechanism:
    """parallel_2dof (mobility 2, three motors, three encoders) with a hostile name."""
    folder = tmp_path_factory.mktemp("machine")
    text = shipped("parallel_2dof").model.description.text
    escaped = HOSTILE.replace('"', "&quot;")
    (folder / "p.urdf").write_text(text.replace('name="b1"', f'name="{escaped}"'))
    spec = (ROOT / "config" / "parallel_2dof.yaml").read_text()
    spec = spec.replace("package://uk_dynamics/urdf/parallel_2dof.urdf.xacro", "p.urdf")
    spec = spec.replace(
        "  b1:", f"  {yaml.safe_dump(HOSTILE, allow_unicode=True).splitlines()[0]}:"
    )
    (folder / "Two DoF.yaml").write_text(spec)
    return ukd.Mechanism.from_file(folder / "Two DoF.yaml")


@pytest.fixture(scope="module")
def tasks(machine: ukd.Mechanism, tmp_path_factory: pytest.TempPathFactory) -> ukd.Tasks:
    """parallel_2dof_line with gains of 25 Hz, which a delay of some milliseconds makes unstable."""
    text = (ROOT / "config" / "tasks" / "parallel_2dof_line.yaml").read_text()
    file = tmp_path_factory.mktemp("tasks") / "stiff.yaml"
    file.write_text(
        text.replace("type: frame", "type: frame\n    stabilization: {frequency: 25.0}")
    )
    return ukd.Tasks.from_file(file, machine)


@pytest.fixture(scope="module")
def texts(machine: ukd.Mechanism, tasks: ukd.Tasks) -> dict[str, str]:
    return controller_package(tasks, machine, plugin=MOCK, rate=500)


@pytest.fixture(scope="module")
def driver(texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(texts, tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def five_bar(tmp_path_factory: pytest.TempPathFactory) -> tuple[ukd.Mechanism, ukd.Tasks, Path]:
    machine = shipped("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", machine)
    texts = controller_package(tasks, machine, plugin=MOCK, rate=500)
    return machine, tasks, built(texts, tmp_path_factory.mktemp("five_bar"))


@pytest.fixture(scope="module")
def adaptive(tmp_path_factory: pytest.TempPathFactory) -> tuple[ukd.Mechanism, ukd.Tasks, Path]:
    machine = shipped("five_bar")
    mass, friction = "links.coupler_link.mass", "joints.crank.friction"
    data = yaml.safe_load((ROOT / "config" / "tasks" / "five_bar_sweep.yaml").read_text())
    data["robust"] = {"parameters": {mass: [1.0, 3.0], friction: [0.0, 1.0]}, "delay": 0.001}
    data |= {"adaptive": [mass, friction], "observer": 2.0}
    tasks = ukd.Tasks.from_data(data, machine)
    texts = controller_package(tasks, machine, plugin=MOCK, rate=500)
    return machine, tasks, built(texts, tmp_path_factory.mktemp("adaptive"))


@pytest.fixture(scope="module")
def biped(tmp_path_factory: pytest.TempPathFactory) -> tuple[ukd.Mechanism, ukd.Tasks, Path]:
    folder = ROOT / "examples" / "biped"
    machine = ukd.Mechanism.from_file(folder / "biped.yaml")
    data = yaml.safe_load((folder / "squat.yaml").read_text())
    data["contacts"]["right_sole"] = {"stands": [[0.0, 0.06]]}
    tasks = ukd.Tasks.from_data(data, machine)
    texts = controller_package(tasks, machine, plugin=MOCK, rate=500)
    # a megabyte of C, which takes minutes with sanitizers
    return machine, tasks, built(texts, tmp_path_factory.mktemp("biped"), strict=STRICT[:4])


def built(
    texts: dict[str, str],
    folder: Path,
    compiler: str = "gcc",
    strict: tuple[str, ...] = STRICT,
) -> Path:
    """The servo of a package, compiled without a warning, with sanitizers."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sources = sorted((folder / "src").glob("*.c"))
    package = sources[-1].stem.replace("_loops", "_controller")
    header = f'-DSERVO_HEADER="{package}/closed_loop_servo.hpp"'
    wrap = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
    options = (*strict, "-Iinclude")
    objects = [f"{source.stem}.o" for source in sources]
    program = (str(DRIVER), *objects, "-lm", "-o", "driver")
    loops = f"-DLOOPS={package}"
    for command in (
        (compiler, "-std=c99", *options, "-c", *map(str, sources)),
        ("g++", "-std=c++17", *options, header, loops, wrap, *program),
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder / "driver"


class Moving:
    """A reference that goes on from a sample at constant acceleration."""

    def __init__(self, t: float, sample: ReferenceSample) -> None:
        self._t, self._sample = t, sample

    def sample(self, t: float) -> ReferenceSample:
        h, (value, rate, bend) = t - self._t, self._sample
        return ReferenceSample(value + h * (rate + 0.5 * h * bend), rate + h * bend, bend)


def line(*parts: float | Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in np.concatenate([np.ravel(p) for p in parts])) + "\n"


def said_by(driver: Path, lines: Iterable[str], *options: str) -> tuple[Array, str]:
    """Answers of the driver, and why it stopped."""
    command = [driver, *options]
    done = subprocess.run(
        command, input="".join(lines), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [list(map(float, row.split())) for row in done.stdout.splitlines()]
    return np.array(found), done.stderr.strip()


def answers(driver: Path, lines: Iterable[str]) -> Array:
    return said_by(driver, lines)[0]


def measured_motion(
    machine: ukd.Mechanism, tasks: ukd.Tasks, count: int
) -> Iterator[tuple[float, Array, Array, ReferenceSample]]:
    """A motion as encoders see it, which contradict each other a little, with references."""
    controller = ukd.ServoController(machine, tasks, control_period=PERIOD, backend="interpreted")
    start = machine.start(tasks=tasks)
    motion = ukd.simulate(
        machine, start, duration=count * PERIOD, controller=controller, control_period=PERIOD
    )
    encoders = StateCompletion(machine).encoders
    rng = np.random.default_rng(4)
    for k in range(count):
        t = k * PERIOD
        at = int(np.abs(motion.t - t).argmin())
        positions = motion.q[at][encoders.places] + 1e-6 * rng.normal(size=len(encoders.names))
        velocities = motion.v[at][encoders.columns] + 1e-3 * rng.normal(size=len(encoders.names))
        sample = tasks.sample(t)
        assert sample is not None
        yield t, positions, velocities, ReferenceSample(sample.value + 0.01, *sample[1:])


@pytest.mark.slow
@needs_compiler
def test_the_servo_in_cpp_is_the_law_in_python_and_allocates_nothing(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    completion = StateCompletion(machine)
    controller = ukd.ServoController(
        machine, tasks, control_period=PERIOD, blend_time=BLEND, backend="interpreted"
    )
    assert completion.redundant == 1
    lines, wanted, limited = [line(PERIOD, 0.0, BLEND, RAMP, ANY, 0.0)], [], 0
    for t, positions, velocities, sample in measured_motion(machine, tasks, 150):
        lines.append(line(t, positions, velocities, *sample))
        state = completion.complete(positions, velocities, t)
        follow = {"point": Moving(t, sample)}
        command = controller.command(ukd.State(t, state.q, state.v), follow)
        limited += bool(command.saturated)
        wanted.append(np.concatenate((command.efforts, state.q, state.v, (0, 0))))
    assert 0 < limited < len(wanted), "the closed form and the search within limits"
    found = answers(driver, lines)
    # efforts of up to 5 N m; rounding of two different eliminations is some 1e-14 of that, times
    # the 1e2 of the feedback
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-11)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("wrong", [False, True])
def test_estimated_joints_tell_what_a_compiler_has_made_wrongly(
    wrong: bool, texts: dict[str, str], machine: ukd.Mechanism, tasks: ukd.Tasks, tmp_path: Path
) -> None:
    """A sine that is off by a millionth, in the C of a package beside Python."""
    completion = StateCompletion(machine)
    lines, wanted = [line(PERIOD, 0.0, BLEND, RAMP, ANY, 0.0)], []
    for t, positions, velocities, sample in measured_motion(machine, tasks, 10):
        lines.append(line(t, positions, velocities, *sample))
        state = completion.complete(positions, velocities, t)
        wanted.append(np.concatenate((state.q, state.v)))
    compiler = str(wrong_compiler(tmp_path)) if wrong else "gcc"
    found = answers(built(texts, tmp_path / "package", compiler), lines)
    off = np.abs(found[:, -2 - len(wanted[0]) : -2] - wanted).max()
    assert off > 1e-8 if wrong else off < 1e-11, off


@pytest.mark.slow
@needs_compiler
def test_robust_adaptive_and_observing_laws_act_in_cpp(
    adaptive: tuple[ukd.Mechanism, ukd.Tasks, Path],
) -> None:
    machine, tasks, driver = adaptive
    sweep = ukd.Tasks.from_file("five_bar_sweep", machine).spec
    completion = StateCompletion(machine)
    laws = [
        ukd.ServoController(machine, x, control_period=PERIOD, backend="interpreted")
        for x in (tasks, ukd.Tasks(sweep, machine))
    ]
    lines, wanted, nominal = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)], [], []
    for t, positions, velocities, sample in measured_motion(machine, tasks, 150):
        lines.append(line(t, positions, velocities, *sample))
        state = completion.complete(positions, velocities, t)
        follow = {"sweep": Moving(t, sample)}
        now = ukd.State(t, state.q, state.v)
        wanted.append(laws[0].command(now, follow).efforts)
        nominal.append(laws[1].command(now, follow).efforts)
    assert np.abs(np.subtract(wanted, nominal)).max() > 1.0, "the terms act"
    assert abs(laws[0].estimates[0].value - 2.0) > 1e-3
    # efforts of 40 N m, divided by pivots of 1e-2
    np.testing.assert_allclose(answers(driver, lines)[:, :1], wanted, rtol=0.0, atol=1e-7)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("part", range(3), ids=["robust", "adapts", "observes"])
def test_parts_of_the_law_that_are_turned_off_cease_gradually(
    part: int,
    adaptive: tuple[ukd.Mechanism, ukd.Tasks, Path],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, tasks, driver = adaptive
    field, off, transfer = request.node.callspec.id, 50, 0.2  # line, s
    completion = StateCompletion(machine)
    laws = [
        ukd.ServoController(machine, tasks, control_period=PERIOD, backend="compiled")
        for _ in range(2)
    ]
    lines, wanted = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)], []
    for k, (t, positions, velocities, far) in enumerate(measured_motion(machine, tasks, 170)):
        sample = far._replace(value=far.value - 0.0095)  # else the observer drives into the limit
        lines.append(line(t, positions, velocities, *sample))
        state = completion.complete(positions, velocities, t)
        now, follow = ukd.State(t, state.q, state.v), {"sweep": Moving(t, sample)}
        if k >= off:
            share = max(1.0 - (k - off + 1) * PERIOD / transfer, 0.0)
            laws[1].memory.fields[field][0] = share
            if field == "robust":  # which a period writes into the memory
                monkeypatch.setattr(laws[1], "_robust", share)
        wanted.append([law.command(now, follow).efforts for law in laws])
    kept, turned = np.moveaxis(wanted, 1, 0)
    assert np.abs(turned - kept).max() > 0.1, "N m: it matters"
    # in the first of 100 periods a hundredth of what the part does, which is below 20 N m here
    assert np.abs(turned[off] - kept[off]).max() < 0.2
    found, _ = said_by(driver, lines, str(off), str(part))
    # efforts of 40 N m, divided by pivots of 1e-2
    np.testing.assert_allclose(found[:, :1], turned, rtol=0.0, atol=1e-7)


@pytest.mark.slow
@needs_compiler
def test_after_a_jump_efforts_go_to_zero_along_the_ramp(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)]
    for k, (t, positions, velocities, sample) in enumerate(measured_motion(machine, tasks, 30)):
        jumped = positions + (1.0 if k >= 10 else 0.0)
        lines.append(line(t, jumped, velocities, *sample))
    found = answers(driver, lines)
    efforts, faults = found[:, :3], found[:, -2]
    assert (faults[:10] == 0).all()
    assert (faults[10:] == JUMP).all()
    left = np.clip(1.0 - PERIOD / RAMP * np.arange(1, 21), 0.0, 1.0)
    # the last effort times what is left of the ramp, to rounding
    np.testing.assert_allclose(efforts[10:], np.outer(left, efforts[9]), rtol=0.0, atol=1e-12)
    assert np.abs(efforts[9]).min() > 0.01, "there was something to take back"
    assert not efforts[-1].any()


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("frozen", [(0, 1, 2), (1,)], ids=["all", "one"])
def test_measurements_that_stand_still_are_a_fault(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks, frozen: tuple[int, ...]
) -> None:
    lines, last = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)], np.zeros(3)
    for k, (t, positions, velocities, sample) in enumerate(measured_motion(machine, tasks, 60)):
        if k == 20:
            last = positions[[*frozen]]
        if k >= 20:
            positions[[*frozen]] = last
        lines.append(line(t, positions, velocities, *sample))
    found, reason = said_by(driver, lines)
    efforts, faults = found[:, :3], found[:, -2]
    assert (faults[:20] == 0).all()
    # two periods, and as many as the joint needs for 2e-4 rad; the ramp is ten
    assert faults[30] == FROZEN
    assert not efforts[41:].any()
    assert reason.startswith(f"the measurement of a{frozen[0] + 1} stands still at ") or (
        len(frozen) > 1 and "stands still" in reason
    )


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("speed", [0.0, 45.0], ids=["pushed", "whole turns"])
def test_what_stands_still_is_no_jump_that_is_bridged_once_more(
    speed: float, five_bar: tuple[ukd.Mechanism, ukd.Tasks, Path]
) -> None:
    """Before state_timeout is over the model expects more than a jump, or a turn of the crank."""
    machine, tasks, driver = five_bar
    completion, sample = StateCompletion(machine), tasks.sample(0.0)
    assert sample is not None
    crank = machine.start(tasks=tasks).q[completion.encoders.places]
    away = ReferenceSample(sample.value + 1.0, np.zeros(1), np.zeros(1))
    timeout = 0.2
    way = speed * PERIOD * np.minimum(np.arange(200), 3)  # then its measurement stands still
    lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, timeout)]
    lines += [line(k * PERIOD, crank + way[k], [speed], *away) for k in range(200)]
    found = answers(driver, lines)
    late = np.flatnonzero(found[:, 0])[-1] * PERIOD
    assert np.abs(found[:80, 0]).min() > 1.0, "N m: it is driven"
    # six periods: the first four, that in which the fault is noticed, rounding of sums
    assert late <= timeout + RAMP + 6 * PERIOD


@pytest.mark.slow
@needs_compiler
def test_an_encoder_that_stops_where_the_motion_turns_round_is_a_fault(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    """Its joint hardly moves there; the model has predicted it before, and is believed longer."""
    encoders, motion = StateCompletion(machine).encoders, list(measured_motion(machine, tasks, 500))
    speeds = np.array([velocities for _, _, velocities, _ in motion])
    turn = 150 + int(np.abs(speeds[150:400, 0]).argmin())
    lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)]
    for k, (t, positions, velocities, sample) in enumerate(motion):
        if k >= turn:
            positions[0], velocities[0] = motion[turn][1][0], motion[turn][2][0]
        lines.append(line(t, positions, velocities, *sample))
    faults = answers(driver, lines)[:, -2]
    assert not faults[:turn].any()
    noticed = int(np.flatnonzero(faults == FROZEN)[0])
    moved = np.abs([q[0] for _, q, _, _ in motion[turn:noticed]] - motion[turn][1][0]).max()
    assert moved < 1e-3, "rad"
    assert len(encoders.names) == 3


@pytest.mark.slow
@needs_compiler
def test_a_machine_at_rest_may_stand_still(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    state, encoders = machine.start(tasks=tasks), StateCompletion(machine).encoders
    sample = tasks.sample(0.0)
    assert sample is not None
    at_rest = ReferenceSample(sample.value, np.zeros(2), np.zeros(2))
    positions = state.q[encoders.places]
    lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)]
    lines += [line(k * PERIOD, positions, np.zeros(3), *at_rest) for k in range(200)]
    assert not answers(driver, lines)[:, -2].any()


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("friction", [0.0, 20.0])
def test_dry_friction_holds_a_machine_that_is_pushed(friction: float, tmp_path: Path) -> None:
    """The same error of 50 mm without any motion: a frozen encoder, or joints that stick."""
    spec = (ROOT / "config" / "parallel_2dof.yaml").read_text()
    joints = {name: {"friction": friction} for name in ("a1", "a2", "a3")}
    spec += yaml.safe_dump({"joints": joints})
    (tmp_path / "rough.yaml").write_text(spec)
    machine = ukd.Mechanism.from_file(tmp_path / "rough.yaml")
    tasks = ukd.Tasks.from_file("parallel_2dof_line", machine)
    driver = built(controller_package(tasks, machine, plugin=MOCK, rate=500), tmp_path)
    state, encoders = machine.start(tasks=tasks), StateCompletion(machine).encoders
    sample = tasks.sample(0.0)
    assert sample is not None
    away = ReferenceSample(sample.value + 0.05, np.zeros(2), np.zeros(2))
    positions = state.q[encoders.places]
    lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0)]
    lines += [line(k * PERIOD, positions, np.zeros(3), *away) for k in range(200)]
    found = answers(driver, lines)
    assert (FROZEN in found[:, -2]) is (friction == 0.0)
    assert friction == 0.0 or np.abs(found[-1, :3]).max() > 0.1, "it is pushed"


@pytest.mark.slow
@needs_compiler
def test_a_task_that_does_not_follow_is_a_fault(
    driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    """References are 0.01 m away from the motion."""
    for allowed, fault in ((0.02, 0), (0.005, TRACKING)):
        lines = [line(PERIOD, 0.0, 0.0, RAMP, allowed, 0.0)]
        motion = measured_motion(machine, tasks, 20)
        lines += [line(t, q, v, *sample) for t, q, v, sample in motion]
        found, reason = said_by(driver, lines)
        assert found[-1, -2] == fault
        assert not fault or "is 0.01 m or rad from its reference, at most 0.005" in reason


@pytest.mark.slow
@needs_compiler
def test_a_machine_that_has_fallen_starts_from_where_it_is(
    five_bar: tuple[ukd.Mechanism, ukd.Tasks, Path],
) -> None:
    """Every angle of the crank closes the five-bar; at its dead centres there is no start."""
    machine, tasks, driver = five_bar
    encoders, sample = StateCompletion(machine).encoders, tasks.sample(0.0)
    assert sample is not None
    for angle in np.arange(-3.1, 3.1, 0.26):
        lines = [line(PERIOD, 0.0, 0.0, RAMP, ANY, 0.0), line(0.0, angle, 0.0, *sample)]
        q = answers(driver, lines)[0][len(machine.actuators) :][: machine.model.nq]
        assert np.cos(q[encoders.places[0]] - angle) > 1.0 - 1e-12
        residual = machine.dynamics().residual(ukd.State(0.0, q, np.zeros_like(q)))
        assert np.abs(residual.position).max() < 1e-8  # m; Newton's last step was below 1e-11


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(not Path("/usr/include/gtest").is_dir(), reason="needs libgtest-dev")
@pytest.mark.parametrize("of", ["driver", "adaptive", "biped"])
def test_the_tests_of_the_package_pass(of: str, request: pytest.FixtureRequest) -> None:
    """As colcon would build them, by what ament_add_gtest links."""
    given = request.getfixturevalue(of)
    folder = (given if of == "driver" else given[-1]).parent
    files = [str(folder / "test/test_closed_loop_servo.cpp"), *map(str, folder.glob("*.o"))]
    libraries = ["-lgtest", "-lgtest_main", "-lpthread", "-lm", "-o", str(folder / "tests")]
    options = ["-std=c++17", *STRICT, f"-I{folder / 'include'}"]
    subprocess.run(["g++", *options, *files, *libraries], check=True)
    done = subprocess.run([folder / "tests"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"[  PASSED  ] {6 if of == 'biped' else 5} tests." in done.stdout


@pytest.mark.slow
@needs_compiler
def test_a_biped_stands_by_its_encoders_and_its_base(
    biped: tuple[ukd.Mechanism, ukd.Tasks, Path],
) -> None:
    """It squats and shifts its weight; one foot ceases to stand, efforts are those of Python."""
    machine, tasks, driver = biped
    controller, moves = (
        ukd.ServoController(machine, tasks, control_period=PERIOD, blend_time=BLEND)
        for _ in range(2)
    )
    motion = ukd.simulate(
        machine,
        machine.start(tasks=tasks),
        duration=50 * PERIOD,
        controller=moves,
        control_period=PERIOD,
        sample_period=PERIOD,
    )
    encoders, lines, wanted = StateCompletion(machine).encoders, [], []
    for k in range(50):
        at = int(np.abs(motion.t - k * PERIOD).argmin())
        q, v, sample = motion.q[at], motion.v[at], tasks.sample(k * PERIOD)
        assert sample is not None
        measured = q[encoders.places], v[encoders.columns]
        lines.append(line(k * PERIOD, *measured, sensed(q, v), *sample))
        follow = {
            name: Moving(k * PERIOD, ReferenceSample(*(part[rows] for part in sample)))
            for name, rows in tasks.constraints.slices.items()
        }
        command = controller.command(ukd.State(k * PERIOD, q, v), follow)
        wanted.append(np.concatenate((command.efforts, q[7:], v[6:], (0, 0))))
    assert len(command.contact_forces) == 4  # of the foot that stands
    found = answers(driver, [line(PERIOD, 0.0, BLEND, RAMP, ANY, 0.0), *lines])
    # N m of 30, rad and rad/s: rounding of two eliminations is some 1e-14, times the search's 1e2
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-10)
    away = [x.split() for x in lines]
    for row in away[30:]:  # the base is told to be half a metre away
        row[1 + 2 * len(encoders.names)] = repr(0.5)
    moved = [line(*map(float, row)) for row in away]
    stopped = answers(driver, [line(PERIOD, 0.0, BLEND, RAMP, ANY, 0.0), *moved])
    assert stopped[29, -2] == 0.0
    assert stopped[30, -2] == BASE
    np.testing.assert_array_equal(stopped[-1, : len(machine.actuators)], 0.0)


@pytest.mark.slow
@needs_compiler
def test_the_delay_is_predicted(driver: Path, machine: ukd.Mechanism, tasks: ukd.Tasks) -> None:
    """Commands that act three periods later keep a stiff loop as stable as at once."""
    periods = 3
    dynamics, controller = machine.dynamics("interpreted"), ukd.ServoController(machine, tasks)
    encoders, S = StateCompletion(machine).encoders, machine.actuators.matrix
    state = machine.start(tasks=tasks)
    process = subprocess.Popen(driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line(PERIOD, periods * PERIOD, 0.0, RAMP, ANY, 0.0))
    sent = [np.zeros(3)] * periods
    errors = []
    for _ in range(150):
        sample = tasks.sample(state.t)
        assert sample is not None
        measured = state.q[encoders.places], state.v[encoders.columns]
        process.stdin.write(line(state.t, *measured, *sample))
        process.stdin.flush()
        sent.append(np.array(process.stdout.readline().split()[:3], dtype=float))
        acting = ukd.Inputs(tau=S @ sent.pop(0))
        for _ in range(2):  # explicit midpoint, 1 ms
            h = 0.5 * PERIOD
            a = dynamics.evaluate(state, acting).qdd
            middle = ukd.State(
                state.t + 0.5 * h, state.q + 0.5 * h * state.v, state.v + 0.5 * h * a
            )
            a = dynamics.evaluate(middle, acting).qdd
            state = ukd.State(state.t + h, state.q + h * middle.v, state.v + h * a)
        errors.append(controller.tracking_error(state))
    process.stdin.close()
    assert process.wait(10) == 0
    # m; without efforts for the first 6 ms the mechanism falls behind its reference by
    # ½ a t² = 4e-6 m, which the loop takes back
    assert np.abs(errors[-20:]).max() < 1e-5


def test_templates_keep_to_the_length_of_ament_cpplint() -> None:
    folder = ROOT / "uk_dynamics" / "conversion" / "controller_package" / "templates"
    written = [*folder.glob("*.cpp.in"), *folder.glob("*.hpp.in")]
    words = re.compile(r"@\w+@")  # whatever is put there
    lines = [words.sub("", x) for file in written for x in file.read_text().splitlines()]
    assert len(lines) > 1000
    assert not [line for line in lines if len(line) > 100]


@pytest.mark.slow
def test_the_package_is_whole_and_well_formed(texts: dict[str, str]) -> None:
    assert not [name for name, text in texts.items() if "@" in text.replace("maintainer@todo", "")]
    manifest = ET.fromstring(texts["package.xml"])
    assert manifest.findtext("name") == "two_dof_controller"
    described = ET.fromstring(texts["controller_plugin.xml"]).find("class")
    assert described is not None
    parameters = yaml.safe_load(texts["config/controllers.yaml"])
    manager = parameters["controller_manager"]["ros__parameters"]
    assert manager["two_dof_servo"]["type"] == described.attrib["name"]
    above = parameters["two_dof_trajectory"]["ros__parameters"]
    assert above["joints"] == ["two_dof_servo/point/x", "two_dof_servo/point/y"]
    compile(texts["launch/controller.launch.py"], "controller.launch.py", "exec")
    assert "\nNAMESPACE = ''\n" in texts["launch/controller.launch.py"]
    names = {j.attrib["name"] for j in ET.fromstring(texts["config/two_dof.urdf"]).iter("joint")}
    assert HOSTILE in names


@pytest.mark.slow
@needs_compiler
def test_only_parts_that_the_tasks_have_are_parameters(
    texts: dict[str, str], adaptive: tuple[ukd.Mechanism, ukd.Tasks, Path]
) -> None:
    parts = {"robust", "adaptive", "observer", "transfer_time"}
    (own,) = (adaptive[-1].parent / "src").glob("*_parameters.yaml")
    assert parts <= yaml.safe_load(own.read_text())["five_bar_controller"].keys()
    (other,) = (text for name, text in texts.items() if name.endswith("_parameters.yaml"))
    assert not parts & yaml.safe_load(other)["two_dof_controller"].keys()


@pytest.mark.slow
def test_the_goal_in_the_readme_is_the_start(
    texts: dict[str, str], machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    (line,) = (line for line in texts["README.md"].splitlines() if "send_goal" in line)
    goal = yaml.safe_load(shlex.split(line)[-1])["trajectory"]
    above = yaml.safe_load(texts["config/controllers.yaml"])["two_dof_trajectory"]
    assert goal["joint_names"] == above["ros__parameters"]["joints"]
    (point,) = goal["points"]
    state, workspace = machine.start(), tasks.model.workspace()
    workspace.update(state.q, state.v)
    values, rest = np.array(point["positions"]), np.array(point["velocities"])
    follow = {"point": ReferenceSample(values, rest, rest)}
    error = tasks.evaluate(workspace, state.q, state.v, 0.0, follow).residual
    assert np.abs(error).max() < 5.1e-5, "m, rounded to four digits"


@pytest.mark.slow
def test_a_namespace_is_that_of_nodes_parameters_and_commands(
    machine: ukd.Mechanism, tasks: ukd.Tasks
) -> None:
    texts = controller_package(tasks, machine, plugin=MOCK, rate=500, namespace="/left/")
    assert "\nNAMESPACE = '/left'\n" in texts["launch/controller.launch.py"]
    assert set(yaml.safe_load(texts["config/controllers.yaml"])) == {
        "/left/controller_manager",
        "/left/two_dof_servo",
        "/left/two_dof_trajectory",
    }
    for command in ("-r __ns:=/left ", "/left/two_dof_trajectory/follow_joint_trajectory"):
        assert command in texts["README.md"]


def test_names_become_identifiers_and_strings() -> None:
    assert identifier("7 Bär--x_") == "mechanism_7_b_r_x"


def test_what_controller_manager_cannot_do_is_refused(machine: ukd.Mechanism) -> None:
    tree = shipped("flexible_joint_arm")
    with pytest.raises(InputError, match="no loops"):
        controller_package(
            ukd.Tasks.from_file("flexible_joint_arm_links", tree), tree, plugin=MOCK, rate=500
        )
    folder = ROOT / "examples" / "biped"
    biped = ukd.Mechanism.from_file(folder / "biped.yaml")
    data = yaml.safe_load((folder / "stand.yaml").read_text())
    data["contacts"]["left_sole"] = {"stands": "detected"}
    with pytest.raises(InputError, match=r"left_sole\.stands: no state interface tells"):
        controller_package(ukd.Tasks.from_data(data, biped), biped, plugin=MOCK, rate=500)
