# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""uk_dynamics plot: one report, as a page and as a picture."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.cli.main import main
from uk_dynamics.cli.output.report_page import report_page
from uk_dynamics.simulation.plots import draw_for_files, empty_figure
from uk_dynamics.simulation.plots.plot_contents import contents

pytest.importorskip("matplotlib", reason="reports are drawn")


@pytest.fixture(scope="module")
def trajectory() -> ukd.Trajectory:
    mechanism = ukd.Mechanism.from_file("five_bar")
    controller = ukd.Hold(mechanism)
    return ukd.simulate(
        mechanism, mechanism.start({"crank": 0.8}), 0.2, controller=controller, control_period=0.01
    )


def _svg_texts(page: str) -> set[str]:
    start = page.index("<svg")
    svg = ET.fromstring(page[start : page.rindex("</svg>") + 6])
    return {node.text for node in svg.iter() if node.text and node.text.strip()}


@pytest.mark.parametrize("suffix", ["npz", "mcap"])
def test_a_page_and_a_picture_with_figures_and_units(trajectory, tmp_path, capsys, suffix):
    if suffix == "mcap":
        pytest.importorskip("mcap_ros2", reason="recordings in MCAP are optional")
    trajectory.save(tmp_path / f"run.{suffix}")
    assert main(["plot", str(tmp_path / f"run.{suffix}")]) == 0
    page, picture = (Path(line) for line in capsys.readouterr().out.split())
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    largest = np.abs(trajectory.residual).max()
    assert f"{largest:.2e} m or rad" in text
    assert "crank_motor" in text
    assert "[N·m or N]" in text
    assert text.count("<html") == text.count("</html>") == 1
    assert "http://" not in text.split("<svg")[0]  # complete in itself


def test_curves_and_limits_are_drawn(trajectory):
    from matplotlib.figure import Figure

    from uk_dynamics.simulation.plots.curves import draw

    figure = Figure()
    draw(trajectory, figure)
    shown = [axis for axis in figure.axes if axis.axison]  # the others are text
    panels = {axis.get_ylabel().split("\n")[0]: axis for axis in shown}
    assert all("[" in axis.get_ylabel() for axis in shown)  # units everywhere
    efforts = panels["motor efforts"].lines
    limits = {line.get_ydata()[0] for line in efforts if len(line.get_xdata()) == 2}
    assert limits == {-60.0, 60.0}
    assert np.array_equal(efforts[0].get_ydata(), trajectory.efforts[:, 0])


def _swing() -> ukd.Trajectory:
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)
    controller = ukd.ServoController(mechanism, tasks)
    start = mechanism.start({"crank": 0.7})  # not where the task begins
    return ukd.simulate(mechanism, start, 0.3, controller=controller, control_period=0.01)


def test_driven_joints_come_first_as_they_stand_with_what_they_follow():
    moved = _swing()
    first, others, *_ = contents(moved).panels
    (crank,) = first.curves
    assert (crank.name, first.unit) == ("crank", "rad")
    assert np.array_equal(crank.values, moved.position("crank"))  # absolute
    asked = [moved.references[k, 0] for k in range(len(moved.t))]
    assert crank.reference == pytest.approx(asked, abs=1e-12)  # the task asks for this joint
    assert [curve.name for curve in others.curves] == ["coupler", "middle", "right"]


def test_power_is_effort_times_speed():
    moved = _swing()
    (power,) = (panel for panel in contents(moved).panels if panel.title == "motor power")
    expected = moved.effort("crank_motor") * moved.velocity("crank")
    assert np.array_equal(power.curves[0].values, expected)


def test_rounding_and_a_constant_rank_are_lines_of_text():
    moved = _swing()
    shown = contents(moved)
    titles = {panel.title for panel in shown.panels}
    assert not titles & {"loop-closure error", "rank", "condition"}
    assert "rank of the constraints: 3 throughout" in shown.notes
    assert any(note.startswith("loop-closure error") for note in shown.notes)
    open_loop = dataclasses.replace(
        moved, residual=moved.residual + 1e-4, rank=np.arange(len(moved.t)) % 2 + 2
    )
    titles = {panel.title for panel in contents(open_loop).panels}
    assert titles >= {"loop-closure error", "rank"}


@pytest.mark.parametrize("suffix", ["npz", "mcap"])
def test_files_keep_references_units_and_limits(tmp_path, suffix):
    if suffix == "mcap":
        pytest.importorskip("mcap_ros2", reason="recordings in MCAP are optional")
    moved = _swing()
    moved.save(tmp_path / f"run.{suffix}")
    loaded = ukd.Trajectory.load(tmp_path / f"run.{suffix}")
    assert loaded.machine == moved.machine
    assert np.array_equal(loaded.references, moved.references)


def test_nothing_stands_on_a_curve(trajectory):
    from matplotlib.figure import Figure

    figure = empty_figure(None)
    assert isinstance(figure, Figure)
    draw_for_files(trajectory, figure)
    renderer = figure.canvas.get_renderer()
    for axis in figure.axes:
        if axis.axison:
            inside = axis.get_window_extent()
            legend = axis.get_legend()
            assert legend.get_window_extent(renderer).x0 >= inside.x1
            assert not axis.texts


def test_figures_as_json(trajectory, tmp_path, capsys):
    trajectory.save(tmp_path / "run.npz")
    out = tmp_path / "report"
    assert main(["plot", str(tmp_path / "run.npz"), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mechanism"] == "five_bar"
    assert out.with_name("report.html").is_file()


def test_mistakes_are_one_line(tmp_path, capsys):
    assert main(["plot", str(tmp_path / "none.npz")]) == 2
    assert "none.npz" in capsys.readouterr().err
    assert main(["plot", "run.npz", "--out", str(tmp_path / "no" / "where")]) == 2
    assert "create it first" in capsys.readouterr().err


def test_limits_far_away_leave_the_room_to_the_efforts_and_are_named(trajectory):
    from matplotlib.figure import Figure

    from uk_dynamics.simulation.plots.curves import draw

    figure = Figure()
    far = dataclasses.replace(trajectory, effort_limits=np.array([1e5]))
    draw(far, figure)
    (panel,) = (axis for axis in figure.axes if axis.get_ylabel().startswith("motor efforts"))
    low, high = panel.get_ylim()
    largest = np.abs(trajectory.efforts).max()
    assert largest < high < 2.0 * largest
    assert low <= trajectory.efforts.min()
    assert panel.get_title(loc="right") == "limits off the picture: ±100000 N·m"


def test_neighbouring_curves_differ_in_colour_and_in_style(trajectory):
    from matplotlib.figure import Figure

    from uk_dynamics.simulation.plots.curves import draw

    figure = Figure()
    draw(_swing(), figure)
    others = next(axis for axis in figure.axes if axis.get_ylabel().startswith("other joints"))
    lines = [line for line in others.lines if len(line.get_xdata()) > 2]
    assert len(lines) > 2
    for one, other in itertools.pairwise(lines):
        assert one.get_color() != other.get_color()
        assert one.get_linestyle() != other.get_linestyle()


@pytest.mark.slow
@pytest.mark.parametrize("value", [1.7e308, -1.7e308, np.inf])
@pytest.mark.parametrize("field", ["residual", "v", "efforts"])
def test_numbers_that_overflow_are_left_out(trajectory, tmp_path, field, value):
    values = getattr(trajectory, field).copy()
    values[3] = value
    dataclasses.replace(trajectory, **{field: values}).plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_what_was_not_heard_is_left_out(trajectory):
    residual = trajectory.residual.copy()
    residual[0] = np.nan
    kinetic = np.full_like(trajectory.kinetic, np.nan)  # no diagnostics were heard
    heard = dataclasses.replace(trajectory, residual=residual, kinetic=kinetic)
    text = report_page(heard, "live.mcap", "<svg></svg>")
    assert f"{np.nanmax(np.abs(residual)):.2e} m or rad" in text
    assert "nan" not in text.split("<svg")[0]


@pytest.mark.slow
def test_the_last_error_is_the_last_that_was_heard(trajectory, tmp_path, capsys):
    error = np.full((len(trajectory.t), 1), np.nan)
    error[3:6, 0] = (0.3, -0.2, 0.1)
    names = dataclasses.replace(trajectory.names, task_rows=("turn.position",))
    kinetic = np.full_like(trajectory.kinetic, np.nan)  # no diagnostics were heard
    live = dataclasses.replace(trajectory, names=names, tracking_error=error, kinetic=kinetic)
    live = dataclasses.replace(live, bounds=np.full_like(error, np.nan))
    live.save(tmp_path / "live.npz")
    assert main(["plot", str(tmp_path / "live.npz"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert figures["largest_tracking_error"] == 0.3
    assert figures["final_tracking_error"] == 0.1
    assert figures["energy_change"] is None


def test_energies_that_come_once_in_a_while_are_points_and_no_stairs(trajectory):
    from matplotlib.figure import Figure

    from uk_dynamics.simulation.plots.curves import draw

    carried = np.arange(len(trajectory.t)) // 8 * 8
    kinetic = np.linspace(0.0, 1.0, len(trajectory.t))  # changes with every sample
    for values, points in ((kinetic, len(trajectory.t)), (kinetic[carried], None)):
        figure = Figure()
        changed = dataclasses.replace(trajectory, kinetic=values, potential=0.0 * values)
        draw(changed, figure)
        (panel,) = (axis for axis in figure.axes if axis.get_ylabel().startswith("energy"))
        drawn = panel.lines[0].get_xdata()
        if points is None:
            told = [*np.flatnonzero(np.diff(carried)) + 1]
            assert drawn[:-1].tolist() == trajectory.t[[0, *told]].tolist()
            assert drawn[-1] == trajectory.t[-1]
        else:
            assert len(drawn) == points
