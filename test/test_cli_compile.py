"""``uk_dynamics compile``: a library in the cache, and C files that build and give the same."""

import shutil
import subprocess

import pytest
from mechanism_builder import near, shipped

from uk_dynamics.cli.main import main

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


@needs_compiler
def test_it_compiles_into_the_cache(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["compile", "four_bar", "--tasks", "four_bar_turn"]) == 0
    libraries = list(tmp_path.rglob("*.so"))
    said = capsys.readouterr().out
    assert len(libraries) == 3  # for one state and for many at a time, and for the servo law
    assert all(str(library) in said for library in libraries)


@needs_compiler
@pytest.mark.parametrize("name", ["five_bar", "two_mass_spring", "rolling_disc"])
def test_exported_files_build_without_warnings_and_give_the_same(name, tmp_path, capsys):
    assert main(["compile", name, "--export-c", str(tmp_path / "new")]) == 0
    files = [line.removeprefix("written: ") for line in capsys.readouterr().out.splitlines()]
    sources = [file for file in files if file.endswith(".c")]
    program = tmp_path / "program"
    command = [COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", *sources]
    subprocess.run([*command, "-o", str(program), "-lm"], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    (_, rank), *answers = (line.split() for line in said.splitlines())
    machine = shipped(name)
    expected = machine.dynamics().evaluate(machine.start())
    assert float(rank) == expected.rank
    assert [joint for joint, _ in answers] == list(machine.model.velocity_names)
    near([float(value) for _, value in answers], expected.qdd, relative=1e-10)


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
    ("arguments", "message"),
    [
        (["rrr3_modular"], "cannot be compiled: solver.method: hierarchical"),
        (["rrr3_modular", "--export-c", "out"], "cannot be compiled: solver.method: hierarchical"),
    ],
)
def test_what_cannot_be_compiled_is_a_mistake_of_the_user(
    arguments, message, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    assert main(["compile", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_a_mistake_of_the_user(capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert main(["compile", "two_mass_spring", "--export-c", str(file)]) == 2
    assert "file: cannot be written" in capsys.readouterr().err
