# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compilers end with what wants them, at whatever moment Ctrl-C arrives."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from support.waiting import wait_until

from uk_dynamics.compilation.build.compiler import Compiler, compiling_threads


def compiler(folder: Path, first: str = ":") -> Compiler:
    """One that writes down its process, does something first, takes long, and writes that down."""
    program = folder / "cc"
    program.write_text(
        f"#!/bin/sh\necho $$ >>{folder}/started\n{first}\nsleep 20\ntouch {folder}/done\n"
    )
    program.chmod(0o755)
    (folder / "mechanism.c").write_text("")
    (folder / "started").touch()
    return Compiler((str(program),), "")


def started(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "started").read_text().split()]


def see_that_all_end(folder: Path) -> None:
    """A thread that Ctrl-C cut off from its pool ends its compiler a moment later."""
    of_all = [Path(f"/proc/{process}") for process in started(folder)]
    wait_until(lambda: not any(process.exists() for process in of_all), "their end")
    assert not (folder / "done").exists()  # they were ended


def test_interrupt_while_compilers_are_started(tmp_path: Path) -> None:
    slow = compiler(tmp_path)
    build = partial(slow.build, tmp_path / "mechanism.c", tmp_path / "mechanism.so")

    def begin() -> None:
        with compiling_threads(2) as start:
            start(build)
            wait_until(lambda: started(tmp_path), "a compiler")
            start(build)  # nothing waits for its answer yet
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin()
    see_that_all_end(tmp_path)


def test_interrupt_at_the_moment_when_a_compiler_begins(tmp_path: Path) -> None:
    slow = compiler(tmp_path, first=f"kill -INT {os.getpid()}")
    for count in range(1, 21):  # another moment each time
        with pytest.raises(KeyboardInterrupt):
            slow.build(tmp_path / "mechanism.c", tmp_path / "mechanism.so")
        assert len(started(tmp_path)) == count
        see_that_all_end(tmp_path)
