# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names are data: whatever a file calls its parts, no writer turns it into code or another line."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr, unescape

import pytest
import xacro
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.mechanism_builder import joint, link

from uk_dynamics import escaping
from uk_dynamics.cli.main import main
from uk_dynamics.cli.output.report_page import report_page
from uk_dynamics.compilation.build import write_c_files
from uk_dynamics.conversion import FORMATS, c_programs, export_mechanism
from uk_dynamics.conversion.drafting.draft import draft
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.conversion.ros2_control_files import (
    complete_description,
    controllers,
    hardware_block,
)
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory, simulate
from uk_dynamics.simulation.plots.curves import draw
from uk_dynamics.viewing.layouts import foxglove_layout, plotjuggler_layout

COMPILER = shutil.which("cc")

FRAGMENTS = (
    "*/ int evil(void){return 1;} /*",
    "*",
    "/",
    '"); evil(); ("',
    "\\",
    "??/",
    "%s%n",
    "${1/0}",
    "$$(find nowhere)",
    "$",
    "{{0}}",
    "<script>alert(1)</script>",
    "&amp;",
    "' # : - ?",
    "UK_NV uk_evaluate",
    "_",
    "$x^$",
    "a|b",
    ", yes",
    "=1+1",
    "é🦾",
    "]]>",
    "--><evil/><!-",
)
names = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join)


def robot(first: str, second: str) -> str:
    """A double pendulum whose second joint, and whose links, have these names."""
    base, rod, tip = (f"{first} {part}" for part in ("base", "rod", "tip"))
    parts = [link("0"), link("1"), link("2", com="0.5 0 0"), joint("3", "0", "1")]
    parts.append(joint("4", "1", "2", xyz="0.5 0 0"))
    root = ET.fromstring(f"<robot name={quoteattr(first)}>{''.join(parts)}</robot>")
    plain = {"0": base, "1": rod, "2": tip, "3": first, "4": second}
    for node in root.iter():
        for key in ("name", "link"):
            if node.get(key) in plain:
                node.set(key, plain[node.get(key)])
    return ET.tostring(root, encoding="unicode")


def sdf(first: str, second: str) -> str:
    """The same robot as SDF."""
    rod, tip = escape(f"{first} rod"), escape(f"{first} tip")
    ends = {first: ("world", rod), second: (rod, tip)}
    links = "".join(f"<link name={quoteattr(unescape(part))}/>" for part in (rod, tip))
    joints = "".join(
        f'<joint name={quoteattr(name)} type="revolute"><parent>{parent}</parent>'
        f"<child>{child}</child><axis><xyz>0 1 0</xyz></axis></joint>"
        for name, (parent, child) in ends.items()
    )
    return f'<sdf version="1.9"><model name="m">{links}{joints}</model></sdf>'


def machine(first: str, second: str, file: str = "hostile.yaml") -> Mechanism:
    """The same with a motor at its first joint and the second held."""
    text = json.dumps(
        {
            "schema": 1,
            "actuators": {"motor": {"joint": first}},
            "constraints": {"held": {"type": "joint", "joint": second}},
        },
        ensure_ascii=False,
    )
    return Mechanism.from_spec(
        MechanismSpec.from_text(text, file=file), robot_description=robot(first, second)
    )


class _Page(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(first=names, second=names)
def test_programs_read_the_same_names(folder, first, second):
    """What reads XML, xacro, YAML, JSON, HTML, CSV, npz or MCAP finds the names as they were."""
    first, second = f"{first}1", f"{second}2"
    described = robot(first, second)
    machine_ = machine(first, second)

    block = folder / "block.xacro"
    block.write_text(hardware_block(machine_, "some/Plugin"), encoding="utf-8")
    read = ET.fromstring(xacro.process_file(str(block)).toxml())
    assert (read.get("name"), read.find("ros2_control/joint").get("name")) == (first, first)
    whole = ET.fromstring(complete_description(machine_, "some/Plugin"))  # not read by xacro
    assert whole.find("ros2_control/joint").get("name") == first

    parameters = yaml.safe_load(controllers(machine_))
    assert parameters["effort_controller"]["ros__parameters"]["joints"] == [first]
    urdf = folder / "hostile.urdf"
    urdf.write_text(described, encoding="utf-8")
    spec = MechanismSpec.from_text(draft(str(urdf), folder, positions={first: 0.5}).text)
    assert dict(spec.initial_guess) == {first: 0.5}

    (folder / "hostile.sdf").write_text(sdf(first, second), encoding="utf-8")
    assert import_file(folder / "hostile.sdf").load().joint_names == (first, second)

    for to in FORMATS:
        written = export_mechanism(machine_, to).texts
        for file, text in written.items():
            (folder / file).write_text(text, encoding="utf-8")
            assert not file.endswith("yaml") or yaml.safe_load(text)["name_mot"] == [first]
        path = folder / min(written, key=lambda name: not name.endswith("yaml"))
        again = MechanismSpec.from_file(path) if to.startswith("urdf") else import_file(path).load()
        if to.startswith("urdf"):
            again = Mechanism.from_spec(again)
        assert again.joint_names == (first, second), to
        path.unlink()

    layout = json.loads(foxglove_layout(machine_))
    assert first in {line["label"] for line in layout["configById"]["Plot!motion_0"]["paths"]}
    curves = ET.fromstring(plotjuggler_layout(machine_)).iter("curve")
    assert f"/joint_states/{first}/position" in {curve.get("name") for curve in curves}

    motion = simulate(machine_, machine_.start(), 0.02)
    page = _Page(report_page(motion, first, ""))
    assert "script" not in page.tags
    assert first in page.text
    for suffix in (".npz", ".mcap"):
        motion.save(folder / f"motion{suffix}")
        assert Trajectory.load(folder / f"motion{suffix}").names.positions == (first, second)
    motion.save(folder / "motion.csv")
    with (folder / "motion.csv").open(newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert f"q.{first}" in header


def test_plots_show_names_as_they_are(folder):
    names = ("_left $x^$", "$broken{$")
    machine_ = machine(*names)
    motion = simulate(machine_, machine_.start(), 0.02)
    motion.plot(folder / "motion.svg")
    figure = Figure()
    draw(motion, figure)
    shown = " ".join(text.get_text().replace("\\$", "$") for text in figure.findobj(Text))
    assert all(name in shown for name in names)


@settings(max_examples=200)
@given(text=st.one_of(names, st.text()))
def test_escaped_text_is_what_it_was(text):
    """Strings of C and YAML read back; comments of C stay one comment; lines stay lines."""
    assert yaml.safe_load(escaping.yaml_string(text)) == text
    assert json.loads(escaping.yaml_string(text)) == text
    assert re.fullmatch(r'"([^"\\?\x00-\x1f]|\\["\\?]|\\[0-7]{3})*"', escaping.c_string(text))
    comment = f"/* {escaping.c_comment(text)} */"
    assert comment.index("*/") == len(comment) - 2
    assert "/*" not in comment[2:]
    assert len(escaping.one_line(text).splitlines()) <= 1
    assert not escaping.control_character(escaping.one_line(text))
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", escaping.c_identifier(text))


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_exported_c_has_no_code_of_names(folder):
    """Compiled, the export of a hostile robot defines what that of a harmless one does."""

    def built(first: str, second: str, name: str) -> tuple[set[str], list[str]]:
        out = folder / f"{len(first)}"
        files = write_c_files(out, c_programs(machine(first, second, file=name), None))
        symbols = set()
        for file in files:
            if file.suffix == ".c":
                command = [COMPILER, "-O0", "-w", "-trigraphs", "-c", str(file), "-o"]
                subprocess.run([*command, str(file.with_suffix(".o"))], check=True)
                listed = subprocess.run(
                    ["nm", "--defined-only", str(file.with_suffix(".o"))],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
                symbols |= {line.split()[-1] for line in listed.splitlines()}
        stem = files[0].stem
        program = [out / f"{stem}.o", out / f"{stem}_example.o"]
        subprocess.run([COMPILER, *program, "-lm", "-o", out / "run"], check=True)
        said = subprocess.run([out / "run"], check=True, capture_output=True, text=True).stdout
        lines = [line.rpartition(" ")[0] for line in said.splitlines()]
        return {symbol.replace(stem, "ID") for symbol in symbols}, lines[1:]

    hostile = "".join(FRAGMENTS)
    harmless, _ = built("a", "b", "plain.yaml")
    symbols, said = built(
        f"{hostile}1", f"{hostile}2", f"*? int evil(void) {{}}{hostile[:20]}.yaml"
    )
    assert symbols == harmless
    assert said == [f"{hostile}1", f"{hostile}2"]


CONTROLS = ("\x1b[31m", "\n", "\r", "\x85", "\x9b", "\u2028", "\u202e")


@pytest.mark.parametrize("control", [c for c in CONTROLS if c != "\x1b[31m"])
def test_readers_refuse_control_characters(control, tmp_path, capsys):
    """Not in names of URDF, SDF, MJCF or YAML; the error is one line without them."""
    name, code = f"crank{control}error: all is well", f"U+{ord(control[0]):04X}"
    reference = f"crank&#{ord(control)};"
    files = {
        "a.urdf": robot("crank", "b").replace('"crank"', f'"{reference}"'),
        "b.sdf": sdf("crank", "b").replace('"crank"', f'"{reference}"'),
        "c.xml": f'<mujoco><worldbody><body name="{reference}"/></worldbody></mujoco>',
        "d.yaml": json.dumps({"schema": 1, "joints": {name: {"armature": 1.0}}}),
    }
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
        command = {".urdf": ["init"], ".yaml": ["describe"]}.get(
            Path(file).suffix, ["import", "--out", str(tmp_path)]
        )
        assert main([*command, str(tmp_path / file)]) == 2
        said = capsys.readouterr().err
        assert code in said, file
        assert len(said.splitlines()) == 1
        assert control not in said.removesuffix("\n")


def test_errors_are_one_line_without_control_characters():
    text = "".join(CONTROLS)
    with pytest.raises(UkDynamicsError) as caught:
        machine("a", "b").model.to_positions({f"crank{text}": 0.0})
    assert not escaping.control_character(str(caught.value))
    assert "\\x1b[31m" in str(caught.value)
