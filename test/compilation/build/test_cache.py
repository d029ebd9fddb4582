# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The cache of compiled mechanisms: found again, never trusted, shared by processes."""

import hashlib
import logging
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.mechanism_builder import mechanism

from uk_dynamics.cli.main import main
from uk_dynamics.compilation.build import cache, compiler
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.build.library import RECIPES, Library, part_of
from uk_dynamics.compilation.select_backend import Selection, select_backend
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import TasksSpec

PARTS = (
    '<link name="base"/><link name="l1"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
)
SCRIPT = f"""
import sys
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.mechanism.files.specification import MechanismSpec
machine = Mechanism.from_spec(MechanismSpec.from_text("schema: 1"),
                              robot_description='<robot name="test">{PARTS}</robot>')
print(machine.dynamics("compiled").evaluate(machine.state()).rank)
print("uk_dynamics.compilation.emit.generate" in sys.modules)
"""

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


@pytest.fixture
def entries(monkeypatch, tmp_path):
    """The cache directory, empty at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "uk_dynamics" / "compiled"


def library(folder):
    (found,) = folder.glob("*.so")
    return found


def evaluate():
    machine = mechanism(PARTS)
    return machine.dynamics("compiled").evaluate(machine.state()).rank


def test_a_mechanism_is_compiled_once(entries, monkeypatch):
    assert evaluate() == 0
    made = library(entries).stat().st_mtime_ns
    monkeypatch.setattr(compiler.Compiler, "build", None)  # nobody compiles any more
    assert evaluate() == 0
    assert library(entries).stat().st_mtime_ns == made
    assert not list(entries.glob(".building-*"))


def foreign(path):
    path.write_bytes(path.read_bytes() + b"more")


def cut(path):
    path.write_bytes(path.read_bytes()[:100])


def unsigned(path):
    path.with_suffix(".sha256").unlink()


def other_key(path):
    mark = path.with_suffix(".sha256")
    mark.write_text("0" * 64 + mark.read_text()[64:])


def binary(path):
    path.with_suffix(".sha256").write_bytes(b"\xff\xfe\x00")


def for_another_system(path):
    """Whole as its digest says, but nothing that can be loaded here."""
    path.unlink()
    path.write_bytes(b"\x7fELF of another system")
    key = path.with_suffix(".sha256").read_text().split()[0]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".sha256").write_text(f"{key} {digest}\n")


def endless(path):
    path.unlink()
    path.symlink_to("/dev/zero")


def pipe(path):
    digest = path.with_suffix(".sha256")
    digest.unlink()
    os.mkfifo(digest)


@pytest.mark.parametrize(
    "damage", [foreign, cut, unsigned, other_key, binary, for_another_system, endless, pipe]
)
def test_a_damaged_or_foreign_entry_is_made_anew(entries, damage):
    recipe, _ = RECIPES[Library.STATE]
    usual = replace(compiler.find_compiler(), optimization=recipe.optimization)
    path = cache.library_for(mechanism(PARTS), usual, source)
    sound = path.read_bytes()
    # Another file than the one that was loaded: writing into a library in use would crash.
    damage(path)
    assert evaluate() == 0
    assert library(entries).read_bytes() == sound


def source():
    from uk_dynamics.compilation.emit import c_text, generate

    return c_text.assemble(generate.source(mechanism(PARTS)))


def test_processes_that_start_together_share_one_entry(entries, tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    commands = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in commands]
    # who finds it in the cache does not even load what writes its source
    assert sorted(said) == [[b"0", b"False"], [b"0", b"False"], [b"0", b"True"]]
    assert library(entries).is_file()


def test_a_cache_that_cannot_be_written_is_an_error_with_a_remedy(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    with pytest.raises(CompilationError, match="set XDG_CACHE_HOME"):
        evaluate()


def test_a_cache_that_cannot_be_used_is_told_once(entries, caplog, monkeypatch):
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    path = cache.find(mechanism(PARTS), compiler.find_compiler()).library
    path.mkdir(parents=True)  # where the library belongs
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            machine = mechanism(PARTS)
            dynamics = select_backend(machine, Selection(unready="wait"))
            assert dynamics.evaluate(machine.state()).rank == 0
    assert [r.message.count("Is a directory; set XDG_CACHE_HOME") for r in caplog.records] == [1]


def test_users_without_a_home_are_told(monkeypatch, capsys):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    machine = mechanism(PARTS)
    assert machine.dynamics("cached").evaluate(machine.state()).rank == 0
    with pytest.raises(CompilationError, match="no home directory; set XDG_CACHE_HOME"):
        machine.dynamics("compiled")
    assert main(["compile", "--clean"]) == 2
    assert "no home directory" in capsys.readouterr().err


def test_gains_and_references_of_tasks_share_a_library():
    machine = mechanism(PARTS)
    text = (
        "schema: 1\ntasks: {turn: {type: joint, joint: j1, stabilization: {frequency: FREQUENCY},"
        " reference: {type: constant, value: VALUE}}}\n"
    )

    def part(value="0.0", frequency="5.0"):
        made = text.replace("VALUE", value).replace("FREQUENCY", frequency)
        return part_of(Tasks(TasksSpec.from_text(made), machine))

    assert part() == part(value="0.3") == part(frequency="2.0")
    other = "schema: 1\ntasks: {turn: {type: expression, expression: 2*j1}}\n"
    assert part_of(Tasks(TasksSpec.from_text(other), machine)) != part()


def test_a_cached_mechanism_is_there_at_once(entries):
    machine = mechanism(PARTS)
    machine.dynamics("compiled")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        machine.dynamics("compiled")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # s


DAY = 86400.0
WAITING = """
import pathlib, sys
from uk_dynamics.compilation.build.cache import locked
path = pathlib.Path(sys.argv[1])
print("begins", flush=True)
with locked(path):
    print(path.with_suffix(".lock").exists(), flush=True)
"""


def put(folder, name, age, size=1000):
    """An entry as it stands in the folder, last used so long ago, in s."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.so"
    path.write_bytes(bytes(size))
    for file in (path.with_suffix(".sha256"), path.with_suffix(".lock")):
        file.write_text("")
    used = time.time() - age
    for suffix in (".so", ".sha256", ".lock"):
        os.utime(path.with_suffix(suffix), (used, used))
    return path


def there(folder):
    return {path.name for path in folder.iterdir()}


def test_making_an_entry_removes_those_that_nobody_has_used_for_long(entries):
    old, recent = put(entries, "old", 91 * DAY), put(entries, "recent", 89 * DAY)
    killed = entries / ".building-killed"
    killed.mkdir()
    os.utime(killed, (0, 0))
    evaluate()
    assert not any(old.with_suffix(suffix).exists() for suffix in (".so", ".sha256", ".lock"))
    assert recent.exists()
    assert not killed.exists()


def test_using_an_entry_keeps_it(entries):
    evaluate()
    mark = library(entries).with_suffix(".sha256")
    os.utime(mark, (0, 0))
    evaluate()
    assert time.time() - mark.stat().st_mtime < DAY
    cache.trim(entries)
    assert library(entries).exists()


def test_the_least_recently_used_go_where_there_is_too_much(tmp_path):
    for days in range(1, 6):
        put(tmp_path, f"m{days}", days * DAY)
    put(tmp_path, "now", 0.0, size=5000)  # somebody may be about to load it
    assert cache.trim(tmp_path, largest=7000) == (3, 3000)
    assert {name for name in there(tmp_path) if name.endswith(".so")} == {
        "now.so",
        "m1.so",
        "m2.so",
    }
    assert cache.trim(tmp_path, largest=0) == (2, 2000)
    assert (tmp_path / "now.so").exists()


def test_an_entry_that_is_being_made_stays(tmp_path):
    path = put(tmp_path, "made", 100 * DAY)
    with cache.locked(path) as held:
        assert held
        assert cache.trim(tmp_path) == cache.clear(tmp_path) == (0, 0)
        assert path.exists()
    assert cache.trim(tmp_path) == (1, 1000)
    assert there(tmp_path) == set()


def test_who_waits_for_a_lock_that_was_removed_takes_the_new_one(tmp_path):
    path = put(tmp_path, "made", 100 * DAY)
    command = [sys.executable, "-c", WAITING, str(path)]
    waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with cache.locked(path):
        assert waiting.stdout.readline() == "begins\n"
        path.with_suffix(".lock").unlink()
    assert waiting.communicate(timeout=60)[0] == "True\n"


def test_the_command_removes_all(entries, capsys):
    evaluate()
    assert main(["compile", "--clean"]) == 0
    assert capsys.readouterr().out.startswith("removed: 1 libraries, ")
    assert there(entries) == set()
    assert main(["compile", "--clean"]) == 0
