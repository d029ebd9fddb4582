# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is drawn over a mechanism is what its dynamics say."""

from __future__ import annotations

import numpy as np
import pytest

from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.scene.marks import Marker


def _marks(mechanism, state, tasks=None):
    dynamics = mechanism.dynamics()
    solution = dynamics.evaluate(state)
    residual = dynamics.residual(state).position
    return Marker(mechanism, tasks).marks(state, residual, solution), solution


@pytest.mark.parametrize("name", ["stewart_platform", "rrr3", "five_bar", "four_bar"])
def test_forces_are_those_that_act_on_the_joints(name):
    """Power of the drawn forces and torques equals that of the constraint force, for any motion."""
    mechanism = Mechanism.from_file(name)
    rng = np.random.default_rng(1)
    state = mechanism.state(mechanism.assemble(), rng.normal(size=mechanism.model.nv))
    marks, solution = _marks(mechanism, state)
    workspace, model = mechanism.model.workspace(), mechanism.model
    workspace.update_positions(state.q)
    power = 0.0
    for k, constraint in enumerate(mechanism.constraints.constraints):
        for frame, sign in ((constraint.child, 1.0), (constraint.parent, -1.0)):
            jacobian = workspace.jacobian * model.ancestor_mask[frame]
            linear, angular = np.split(jacobian @ state.v, 2)
            velocity = linear + np.cross(angular, marks.children[k])  # where the force is drawn
            power += sign * (marks.forces[k] @ velocity + marks.torques[k] @ angular)
    expected = solution.constraint_force @ state.v
    # both are sums of some 20 products of like size
    assert abs(power - expected) < 1e-10 * (1.0 + abs(expected))


def test_closed_loops_have_no_gap_and_an_open_one_shows_its_own():
    mechanism = Mechanism.from_file("four_bar")
    q = mechanism.assemble()
    marks, _ = _marks(mechanism, mechanism.state(q))
    assert np.abs(marks.closure_errors).max() < 1e-9  # as far as assemble() closes them
    q[mechanism.model.position_index("rocker")] += 0.1
    marks, _ = _marks(mechanism, mechanism.state(q))
    between = marks.parents - marks.children
    assert np.linalg.norm(marks.closure_errors[0]) > 0.01
    # the pin of a planar mechanism holds x and z, and y is closed anyway
    assert np.abs(marks.closure_errors - between).max() < 1e-12


def test_targets_of_tasks_stand_where_the_reference_is():
    mechanism = Mechanism.from_file("stewart_platform")
    tasks = Tasks.from_file("stewart_platform_heave_roll", mechanism)
    marker = Marker(mechanism, tasks)
    state = mechanism.state(mechanism.assemble(), t=0.3)
    marks, _ = _marks(mechanism, state, tasks)
    assert len(marker.tasks) == len(marks.task_points) > 0
    error = marker.tracking_error(state)
    rows = tasks.constraints.position_rows
    linear = [i for i, name in enumerate(tasks.row_names) if name[-2:] in (".x", ".y", ".z")]
    assert rows[linear].all()
    # rows x, y and z of a pose are the differences themselves
    drawn = np.linalg.norm(marks.task_targets - marks.task_points)
    assert abs(drawn - np.linalg.norm(error[linear])) < 1e-12


def test_forces_that_redundant_pins_share_somehow_are_marked():
    mechanism = Mechanism.from_file("five_bar")
    marks, solution = _marks(mechanism, mechanism.state(mechanism.assemble()))
    assert not solution.determined.all()
    assert not marks.determined.all()


def test_a_constraint_that_is_off_has_no_gap():
    mechanism = Mechanism.from_file("landing_leg")
    state = mechanism.start()  # the foot is in the air
    marks, _ = _marks(mechanism, state)
    assert np.linalg.norm(marks.parents[0] - marks.children[0]) > 0.1
    assert not marks.closure_errors.any()


def test_frames_that_are_welded_together_have_the_same_axes():
    mechanism = Mechanism.from_file("coordinated_robots")
    marks, _ = _marks(mechanism, mechanism.start())
    # as far as assemble() closes the loops; a planar weld leaves the other axes closed anyway
    assert np.abs(marks.parent_axes - marks.child_axes).max() < 1e-8
