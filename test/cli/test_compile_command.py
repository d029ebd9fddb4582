# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics compile``: a library in the cache, and C files that build and give the same."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import near, shipped
from support.repository import ROOT

from uk_dynamics import Mechanism
from uk_dynamics.cli.main import main
from uk_dynamics.control.servo import ServoController
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.resolution import Inputs
from uk_dynamics.resources import shipped_files

COMPILER = shutil.which("cc")
# each way of exporting in every make test, more machines in make test-all
MACHINES = ["five_bar"]
MACHINES += [pytest.param(n, marks=pytest.mark.slow) for n in ("two_mass_spring", "rolling_disc")]
CLANG = [x for x in ("clang", "clang-19", "clang-16", "clang-14") if shutil.which(x)][:1]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


@pytest.mark.slow
@needs_compiler
def test_it_compiles_into_the_cache(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["compile", "four_bar", "--tasks", "four_bar_turn"]) == 0
    libraries = list(tmp_path.rglob("*.so"))
    said = capsys.readouterr().out
    assert len(libraries) == 4  # one state, many at a time, hold, and the servo law
    assert all(str(library) in said for library in libraries)


def exported(name, folder, capsys):
    """C files of one state, and of many; each with its example, but without what verifies both."""
    assert main(["compile", name, "--export-c", str(folder)]) == 0
    files = [line.removeprefix("written: ") for line in capsys.readouterr().out.splitlines()]
    sources = [file for file in files if file.endswith(".c") and not file.endswith("_check.c")]
    batch = [file for file in sources if "_batch" in Path(file).name]
    return [file for file in sources if file not in batch], batch


def said_by(sources, standard, folder):
    """Lines of the program that the sources make, as words."""
    program = folder / "program"
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", *sources]
    subprocess.run([COMPILER, "-O1", *flags, "-o", str(program), "-lm"], check=True)
    for clang in CLANG:  # which warns of other things
        subprocess.run([clang, "-fsyntax-only", *flags], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in said.splitlines()]


@pytest.mark.slow
@needs_compiler
def test_exported_steps_over_contacts_are_those_of_the_library(tmp_path, capsys):
    """The walking machine lands within the hundred steps of the example, and its check agrees."""
    file = ROOT / "examples" / "plantigrade" / "plantigrade.yaml"
    single, batch = exported(str(file), tmp_path, capsys)
    said = said_by(single, "c99", tmp_path)
    machine = Mechanism.from_file(file)
    stepping, dynamics = ContactStepping(machine), machine.dynamics()
    inputs = Inputs(stabilize=False)
    end, active = stepping.advance(machine.start(), 0.1, 100, dynamics, inputs)
    modes = [int(value) for what, value in said if what == "mode"]
    assert modes == stepping.over(active)[1].tolist()
    assert max(modes) > 0
    found = [float(value) for what, value in said if what == "end"]
    np.testing.assert_allclose(found, end.q, rtol=0, atol=1e-12)  # rounding of 100 steps
    sources = [x for x in (*single, *batch) if not x.endswith("_example.c")]
    check = tmp_path / "plantigrade_check.c"
    assert said_by([*sources, str(check)], "gnu11", tmp_path)[0][1] == "right"
    text = check.read_text()  # of which one number is changed
    place = text.index("end_v[8]")
    check.write_text(text[:place] + text[place:].replace("\n    {", "\n    {1e-3 + ", 1))
    with pytest.raises(subprocess.CalledProcessError):
        said_by([*sources, str(check)], "gnu11", tmp_path)


def steps_alike(file, folder, capsys, tolerance):
    """A hundred exported steps end where interpreted ones do, but for rounding; that, and modes."""
    single, _ = exported(str(file), folder / "c", capsys)
    said = said_by(single, "c99", folder)
    machine = Mechanism.from_file(file)
    start, dynamics = machine.start(), machine.dynamics("interpreted")
    inputs = Inputs(stabilize=False)
    end, active = ContactStepping(machine).advance(start, 0.1, 100, dynamics, inputs)
    found = [float(value) for what, value in said if what == "end"]
    np.testing.assert_allclose(found, end.q, rtol=0, atol=tolerance)
    return end, active


@pytest.mark.slow
@needs_compiler
def test_exported_steps_with_impacts_by_poissons_law_are_those_of_the_library(tmp_path, capsys):
    """A rod that is turned falls by 1 cm, and strikes with friction within the hundred steps."""
    (tmp_path / "rod.urdf").write_text(
        '<robot name="rod"><link name="rod"><inertial><mass value="2"/><inertia ixx="0.06" ixy="0"'
        ' ixz="0" iyy="0.06" iyz="0" izz="0.06"/></inertial></link></robot>'
    )
    file = tmp_path / "rod.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: rod.urdf, root: floating}\nsolver: {impacts: poisson}\n"
        "initial_guess: {root.z: 0.01}\ncontacts:\n  tip:\n    parent: {link: world}\n"
        "    child: {link: rod, xyz: [0.2, 0.1, 0]}\n    friction: 0.3\n    restitution: 0.8\n"
    )
    end, _ = steps_alike(file, tmp_path, capsys, 1e-12)
    assert np.abs(end.v[3:]).max() > 0.1  # rad/s: it has struck


@pytest.mark.slow
@needs_compiler
def test_exported_steps_of_loop_joints_that_stick_are_those_of_the_library(tmp_path, capsys):
    """A four-bar linkage slides in its last pin, which then holds it."""
    file = tmp_path / "four_bar.yaml"
    file.write_text(
        (ROOT / "config" / "four_bar.yaml").read_text()
        + "    friction: {coulomb: 0.5, static: 0.8, radius: 0.05, exact: true}\n"
        "initial_velocity: {crank: 0.5}\njoints: {crank: {friction: 0.02, stiction: 0.05}}\n"
    )
    end, active = steps_alike(file, tmp_path, capsys, 1e-12)
    assert "rocker_pin.sticking" in active.names
    assert end.q[0] > 1.205  # rad, from 1.2: it has moved


@pytest.mark.slow
@needs_compiler
def test_exported_steps_over_hulls_are_those_of_the_library(tmp_path, capsys):
    """A box that is turned falls by 1 cm onto the rim of another one, on corners and edges."""
    (tmp_path / "box.urdf").write_text(
        '<robot name="box"><link name="slab"><collision><origin xyz="0 0 -0.1"/><geometry>'
        '<box size="0.4 0.4 0.2"/></geometry></collision></link><link name="box"><inertial><mass'
        ' value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.015" iyz="0" izz="0.03"/>'
        '</inertial><collision><geometry><box size="0.2 0.3 0.1"/></geometry></collision></link>'
        '<joint name="free" type="floating"><parent link="slab"/><child link="box"/></joint>'
        "</robot>"
    )
    file = tmp_path / "box.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: box.urdf}\ninitial_guess:\n"
        "  {free.x: 0.19, free.z: 0.09, free.qx: 0.1, free.qy: 0.2, free.qw: 0.974679434480896}\n"
        "contacts:\n  c:\n    parent: {link: slab}\n    child: {link: box}\n"
        "    surface: {type: collision}\n    friction: 0.5\n"
    )
    _, active = steps_alike(file, tmp_path, capsys, 1e-10)
    assert active.names


@needs_compiler
@pytest.mark.parametrize("name", MACHINES)
def test_exported_files_build_without_warnings_and_give_the_same(name, tmp_path, capsys):
    single, _ = exported(name, tmp_path / "new", capsys)
    (_, rank), *answers = said_by(single, "c99", tmp_path)
    machine = shipped(name)
    expected = machine.dynamics().evaluate(machine.start())
    assert float(rank) == expected.rank
    assert [joint for joint, _ in answers] == list(machine.model.velocity_names)
    near([float(value) for _, value in answers], expected.qdd, relative=1e-10)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        pytest.param("parallel_2dof", "parallel_2dof_line", marks=pytest.mark.slow),
        ("two_mass_spring", "two_mass_spring_stretch"),
    ],
)
def test_an_exported_servo_law_gives_the_same(name, tasks, tmp_path, capsys):
    assert main(["compile", name, "--tasks", tasks, "--export-c", str(tmp_path)]) == 0
    capsys.readouterr()
    sources = (x for x in tmp_path.glob("*_servo*.c") if not x.stem.endswith("_check"))
    said = said_by(sorted(map(str, sources)), "c99", tmp_path)
    machine = shipped(name)
    law = ServoController(
        machine,
        Tasks.from_file(tasks, machine),
        control_period=1e-3,
        backend="interpreted",
    )
    expected = law.compute(machine.start())
    assert [motor for motor, _ in said] == list(expected)
    near([float(value) for _, value in said], list(expected.values()), relative=1e-10)


@needs_compiler
@pytest.mark.slow
def test_an_exported_law_stands_on_its_contacts(tmp_path, capsys):
    """By a plan, with both feet and with one; efforts and forces of the library, and the check."""
    folder = ROOT / "examples" / "biped"
    files = str(folder / "biped.yaml"), str(folder / "step.yaml")
    assert main(["compile", files[0], "--tasks", files[1], "--export-c", str(tmp_path)]) == 0
    capsys.readouterr()
    servo, example, check = (
        str(tmp_path / f"biped_servo{x}.c") for x in ("", "_example", "_check")
    )
    said = {
        name: [float(x) for x in told] for name, *told in said_by([servo, example], "c99", tmp_path)
    }
    machine = Mechanism.from_file(files[0])
    law = ServoController(
        machine, Tasks.from_file(files[1], machine), control_period=1e-3, backend="interpreted"
    )
    command = law.command(machine.start())
    found = [said.pop(name)[0] for name in machine.actuators.names]
    np.testing.assert_allclose(found, command.efforts, rtol=0, atol=1e-8)  # N m, of 31
    assert said.keys() == command.contact_forces.keys()
    for name, force in command.contact_forces.items():
        np.testing.assert_allclose(said[name], force, rtol=0, atol=1e-7)  # N, of 412
    program = tmp_path / "check"
    subprocess.run([COMPILER, "-O1", servo, check, "-o", str(program), "-lm"], check=True)
    assert (
        "right at" in subprocess.run([program], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", MACHINES)
def test_exported_batches_and_trajectories_give_the_same(name, tmp_path, capsys):
    _, batch = exported(name, tmp_path, capsys)
    said = said_by(batch, "c11", tmp_path)
    machine = shipped(name)
    start, dynamics = machine.start(), machine.dynamics()
    count = sum(line[0] == "qdd" for line in said)
    tau = np.zeros((count, machine.model.nv))
    tau[:, 0] = 0.1 * np.arange(count)
    q, v = np.tile(start.q, (count, 1)), np.tile(start.v, (count, 1))
    found = np.array([line[1:] for line in said[:count]], dtype=float)
    near(found, dynamics.evaluate_batch(q, v, tau).qdd, relative=1e-10)
    ends = np.array([line[1:] for line in said[count:]], dtype=float)
    expected = dynamics.rollout(q, v, tau, steps=100, dt=1e-3, every=100).q[:, -1]
    np.testing.assert_allclose(ends, expected, rtol=0.0, atol=1e-9)  # rounding of 100 steps


@needs_compiler
def test_two_mechanisms_fit_into_one_program(tmp_path):
    names = ("two_mass_spring", "four_bar")
    for name in names:
        main(["compile", name, "--export-c", str(tmp_path)])
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    calls = "".join(f"static {name}_memory {name};\n" for name in names)
    body = " + ".join(f"{name}_evaluate(&{name})" for name in names)
    (tmp_path / "both.c").write_text(f"{includes}{calls}int main(void) {{ return {body}; }}\n")
    sources = [str(tmp_path / f"{name}.c") for name in (*names, "both")]
    program = tmp_path / "both"
    subprocess.run([COMPILER, *sources, "-o", str(program), "-lm"], check=True)
    subprocess.run([program], check=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "cannot be compiled: solver.method: kkt"),
        (
            ["--tasks", "five_bar_sweep", "--export-c", "out"],
            "cannot be written as C: solver.method: kkt",
        ),
        (["--export-c", "out"], "cannot be compiled: solver.method: kkt"),
    ],
)
def test_what_cannot_be_compiled_is_a_mistake_of_the_user(
    options, message, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    text = shipped_files("mechanism")["five_bar"].read_text()
    Path("asked.yaml").write_text(f"{text}\nsolver: {{method: kkt}}\n")
    assert main(["compile", "asked.yaml", *options]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["asked.yaml"]


def test_a_directory_that_cannot_be_made_is_a_mistake_of_the_user(capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert main(["compile", "two_mass_spring", "--export-c", str(file)]) == 2
    assert "file: cannot be written" in capsys.readouterr().err
