"""The cache of compiled mechanisms: found again, never trusted, shared by processes."""

import os
import subprocess
import sys
import time

import pytest
from mechanism_builder import mechanism

from uk_dynamics.compilation import cache, compiler
from uk_dynamics.compilation.compiler import CompilationError

PARTS = (
    '<link name="base"/><link name="l1"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
)
SCRIPT = f"""
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.specification import MechanismSpec
machine = Mechanism.from_spec(MechanismSpec.from_text("schema: 1"),
                              robot_description='<robot name="test">{PARTS}</robot>')
print(machine.dynamics("compiled").evaluate(machine.state()).rank)
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


@pytest.mark.parametrize("damage", [foreign, cut, unsigned, other_key, binary])
def test_a_damaged_or_foreign_entry_is_made_anew(entries, damage):
    path = cache.library_for(mechanism(PARTS), compiler.find_compiler(), source)
    sound = path.read_bytes()
    # Another file than the one that was loaded: writing into a library in use would crash.
    damage(path)
    assert evaluate() == 0
    assert library(entries).read_bytes() == sound


def source():
    from uk_dynamics.compilation.generate import source

    return source(mechanism(PARTS))


def test_processes_that_start_together_share_one_entry(entries, tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    commands = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=120)[0].strip() for process in commands] == [b"0"] * 3
    assert library(entries).is_file()


def test_a_cache_that_cannot_be_written_is_an_error_with_a_remedy(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    with pytest.raises(CompilationError, match="set XDG_CACHE_HOME"):
        evaluate()


def test_a_cached_mechanism_is_there_at_once(entries):
    machine = mechanism(PARTS)
    machine.dynamics("compiled")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        machine.dynamics("compiled")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # s
