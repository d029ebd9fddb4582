# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Programs, commands and files of the documentation: they run, print what is shown, are valid.

Commands run in this process and in quick form: a tenth of a second of simulated time, and one
picture per page. The command line of ROS is not on PyPI: what it would start is looked for.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support import docs_blocks
from support.docs_blocks import Block

from uk_dynamics import Reality
from uk_dynamics.cli.main import build_parser, main
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.resources import shipped_files

# thirty simulations on a cluster of one's own; twenty machines; much that is compiled or fitted
SLOW = {"sweeps", "mechanisms", "compiled", "derivatives", "identification", "robust"}
# a second each
SLOW |= {"motor_limits", "kinematics", "export", "recordings", "two_arms", "planning"}
SLOW |= {"ros2_control_plugin", "without_ros", "forces_and_friction"}
SHELL = ("sh", "bash")
DURATION = 0.1  # s of simulated time
# What else a command takes so that it ends soon.
SHORT = {
    "view": ["--duration", "0.1", "--port", "0"],
    "benchmark": ["--quick", "--parts", "single"],
    "reproduce": ["--quick"],
}
# Extras that a command or an argument needs.
NEEDS = {"view": "viser", "--plot": "matplotlib", "plot": "matplotlib", "sweep": "distributed"}
NEEDS |= {"dual_panda": "example_robot_data", ".mcap": "mcap_ros2", "benchmark": "mujoco"}
WITH_ROS = ("demo", "replay")  # run by tests of their own
ROOT = docs_blocks.DOCS.parent
KINDS: dict[str, Callable[..., object]] = {
    "parameters": lambda text: Reality.from_data(yaml.safe_load(text)),
    "vary": lambda text: None,  # read when the page runs it
    "tasks": TasksSpec.from_text,
    "constraints": MechanismSpec.from_text,
    "forces": MechanismSpec.from_text,
    "solver": MechanismSpec.from_text,
    "measured": MechanismSpec.from_text,
    "joints": MechanismSpec.from_text,
    "model": MechanismSpec.from_text,
}


def shown(page: Path) -> str:
    return docs_blocks.name(page)


def pages(*languages: str) -> list[object]:
    """Pages that have a block to run in one of these languages."""
    found = []
    for page in docs_blocks.PAGES:
        if any(b.language in languages and not b.not_run for b in docs_blocks.blocks(page)):
            marks = [pytest.mark.slow] if shown(page) in SLOW else []
            found.append(pytest.param(page, id=shown(page), marks=marks))
    return found


def lay_down(block: Block) -> None:
    """Write the files that a block is or needs."""
    for name, mechanism in block.files:
        if mechanism:
            shutil.copy(shipped_files("mechanism")[mechanism], name)
        else:
            Path(name).write_text(block.text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", pages("python", *SHELL))
def test_programs_and_commands_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drawn = False
    scope: dict[str, object] = {}
    printed = ""
    for block in docs_blocks.blocks(page):
        lay_down(block)
        if block.language == "text" and printed:
            assert block.text == printed
        printed = ""
        if block.not_run or any(importlib.util.find_spec(needed) is None for needed in block.needs):
            continue
        if block.language == "python":
            exec(compile(block.text, str(page), "exec"), scope)
            printed = capsys.readouterr().out
        elif block.language in SHELL:
            for command in block.commands:
                if missing(command):
                    continue
                run(command, drawn=drawn)
                drawn = drawn or "--plot" in command


def missing(command: str) -> bool:
    """Whether a command needs something that is not installed here."""
    needed = [module for word, module in NEEDS.items() if word in command.replace(",", " ")]
    return any(importlib.util.find_spec(module) is None for module in needed)


def run(command: str, *, drawn: bool) -> None:
    """Run a line as a shell would, quickly."""
    words = shlex.split(command)
    if words[0] == "ros2":
        look_for(words[1:])
        return
    if words[0] == "uk_dynamics" and words[1] in WITH_ROS:
        pytest.importorskip("rclpy")
        build_parser(words[1:]).parse_args(words[1:])
        return
    if words[0] == "uk_dynamics" and not re.search(r"[|&;<>$]", command):
        assert main(shortened(words[1:], drawn=drawn)) == 0, command
        return
    programs = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    line = f'{command}\necho "$PWD"'  # the next line goes on where this one ends
    done = subprocess.run(["bash", "-ec", line], env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    os.chdir(done.stdout.splitlines()[-1])


ROS = ROOT / "uk_dynamics" / "ros"


def look_for(arguments: list[str]) -> None:
    """What ``ros2 run`` and ``ros2 launch`` start is there, with the arguments that are given."""
    verb, *rest = arguments
    if verb == "run":
        package, executable = rest[:2]
        assert package == "uk_dynamics"
        assert (ROS / "nodes" / f"{executable}.py").is_file(), executable
    if verb == "launch":
        package, file = rest[:2]
        assert package == "uk_dynamics"
        text = (ROOT / "launch" / file).read_text(encoding="utf-8")
        shared = re.findall(r"from uk_dynamics\.ros\.(\w+)\.(\w+) import", text)
        modules = (ROS / folder / f"{module}.py" for folder, module in shared)
        texts = [text, *(module.read_text(encoding="utf-8") for module in modules)]
        for argument in rest[2:]:
            name, given, _ = argument.partition(":=")
            known = any(f'"{name}"' in text for text in texts)
            assert known or not given, f"{file} has no argument {name}"


def shortened(arguments: list[str], *, drawn: bool) -> list[str]:
    """The same command with less to do."""
    command = arguments[0]
    if command == "simulate":
        if drawn:
            arguments = without(arguments, "--plot")
        if "--switch" not in arguments:
            arguments = [*without(arguments, "--duration"), "--duration", str(DURATION)]
    if command == "sweep":
        file = Path(arguments[1])
        text = re.sub(r"duration: [\d.]+", f"duration: {DURATION}", file.read_text())
        file.write_text(re.sub(r"count: \d+", "count: 2", text))
    return arguments + SHORT.get(command, [])


def without(arguments: list[str], option: str) -> list[str]:
    """Arguments without an option and its value."""
    if option not in arguments:
        return arguments
    place = arguments.index(option)
    return arguments[:place] + arguments[place + 2 :]


@pytest.mark.parametrize("page", pages("yaml"))
def test_files_are_valid(page):
    for block in docs_blocks.blocks(page):
        if block.language != "yaml" or block.not_run:
            continue
        keys = yaml.safe_load(block.text).keys()
        kind = next((KINDS[key] for key in KINDS if key in keys), None)
        if kind is not None:
            kind(block.text if "schema" in keys else f"schema: 1\n{block.text}")


def test_what_is_not_run_has_a_reason():
    for page in docs_blocks.PAGES:
        text = page.read_text(encoding="utf-8")
        reasons = [block.not_run for block in docs_blocks.blocks(page) if block.not_run]
        assert text.count("<!-- not run") == len(reasons), page
        assert all(len(reason.split()) >= 3 for reason in reasons), page
