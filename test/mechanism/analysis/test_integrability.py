# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which constraints of a mechanism bind coordinates: rolling, skating, loops, driven motions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.carts import CART, ROLLING
from support.mechanism_builder import arm, joint, link, mechanism, shipped

from uk_dynamics.cli.main import main
from uk_dynamics.mechanism.analysis.integrability import examine_integrability
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism

SKATE = "constraints: {{edge: {{type: no_slip, parent: {{link: world}}, child: {{link: {0}}}}}}}\n"


def examined(machine, q=None):
    return examine_integrability(machine, machine.assemble() if q is None else q)


def verdicts(machine):
    return {name: nature.verdict for name, nature in examined(machine).constraints.items()}


def test_a_knife_edge_is_nonholonomic():
    found = examined(mechanism(CART, SKATE.format("cart")))
    assert found.constraints["edge"].verdict == "nonholonomic"
    assert not found.constraints["edge"].rheonomic
    # With forwards f and turning e_ψ of the kernel, |ω([f, e_ψ])| = |ω(sideways)| = 1.
    assert found.constraints["edge"].curvature == pytest.approx(1.0, abs=1e-8)
    assert (found.samples, found.bound_velocities, found.bound_coordinates) == (5, 1, 0)


def test_a_skate_on_a_planar_root_is_nonholonomic_though_its_row_is_constant():
    """In body velocities A = [0 1 0] everywhere; only the bracket of the joint tells."""
    text = (
        "schema: 1\nconstraints: {edge: {type: frame_velocity, axes: [y], expressed_in: child,"
        " parent: {link: world}, child: {link: skate}}}\n"
    )
    urdf = (
        '<robot name="skate">'
        + link("world")
        + link("skate")
        + '<joint name="base" type="planar"><parent link="world"/><child link="skate"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    spec = MechanismSpec.from_text(text)
    machine = Mechanism.from_spec(spec, robot_description=urdf)
    workspace = machine.model.workspace()
    generator = np.random.default_rng(0)
    for _ in range(5):
        q = machine.model.integrate(machine.model.neutral(), generator.standard_normal(3))
        workspace.update_positions(q)
        A, _ = machine.constraints.position(workspace, 0.0, q)
        np.testing.assert_allclose(A, [[0.0, 1.0, 0.0]], rtol=0, atol=1e-12)
    found = examined(machine)
    assert found.constraints["edge"].verdict == "nonholonomic"
    assert found.constraints["edge"].curvature == pytest.approx(1.0, abs=1e-8)


def test_a_rolling_wheel_is_nonholonomic_and_holonomic_on_a_line():
    free = mechanism(CART, ROLLING)
    assert verdicts(free) == {"wheel": "nonholonomic"}
    line = (
        ROLLING + "  heading: {type: joint, joint: yaw, reference: {type: constant, value: 0.4}}\n"
    )
    held = mechanism(CART, line + "initial_guess: {yaw: 0.4}\n")
    assert verdicts(held) == {"wheel": "holonomic", "heading": "holonomic"}
    assert examined(held).bound_coordinates == 3


def test_a_wheel_that_turns_as_it_rolls_is_holonomic_again():
    """A coupling of yaw and roll leaves a circle: one motion, and one motion always integrates."""
    text = ROLLING + "  steer: {type: joint_coupling, joints: {yaw: 1.0, roll: -0.5}}\n"
    machine = mechanism(
        CART.replace(
            joint("swing", "cart", "arm", axis="0 0 1", xyz="0 0 0.5"),
            joint("swing", "world", "arm"),
        ),
        text,
    )
    assert verdicts(machine) == {"wheel": "holonomic", "steer": "holonomic"}


PARTICLE = (
    link("world")
    + link("a", mass=0.0)
    + link("b", mass=0.0)
    + link("point")
    + joint("x", "world", "a", kind="prismatic", axis="1 0 0")
    + joint("y", "a", "b", kind="prismatic", axis="0 1 0")
    + joint("z", "b", "point", kind="prismatic", axis="0 0 1")
)


@pytest.mark.parametrize(
    ("equation", "verdict", "rheonomic"),
    [
        ("d(x) + 2*y*d(y) + d(z)", "holonomic", False),  # (12)
        ("d(x) + 2*y*d(y) + d(z) - 1", "holonomic", True),  # (14)
        ("d(x) + 2*z*d(y) + d(z)", "nonholonomic", False),  # (16)
        ("x + y**2 + z", "holonomic", False),  # (13)
        ("x + y**2 + z - t", "holonomic", True),  # (15)
        ("d(x)**2 + d(y)**2 - 1", "not linear in velocities", False),
        ("dd(x) + y", "not of velocities", False),
    ],
)
def test_examples_of_the_review(equation, verdict, rheonomic):
    machine = mechanism(
        PARTICLE, f"constraints: {{c: {{type: expression, expression: {equation}}}}}\n"
    )
    nature = examined(machine).constraints["c"]
    assert (nature.verdict, nature.rheonomic) == (verdict, rheonomic)


@pytest.mark.parametrize("name", ["five_bar", "five_bar_maximal", "slider_crank"])
def test_loops_are_holonomic(name):
    machine = shipped(name)
    found = examined(machine)
    assert {nature.verdict for nature in found.constraints.values()} == {"holonomic"}
    assert not any(nature.rheonomic for nature in found.constraints.values())
    assert max(nature.curvature for nature in found.constraints.values()) < 1e-7
    assert found.bound_velocities == found.bound_coordinates == machine.report().rank


def test_parts_of_a_rotation_are_holonomic():
    """ω_x = 0 of a free body binds no coordinate, a component of the rotation vector does."""
    urdf = (
        '<robot name="ball">' + link("world") + link("body") + '<joint name="free" type="floating">'
        '<parent link="world"/><child link="body"/></joint></robot>'
    )
    angle = "k: {type: frame, axes: [rx], parent: {link: world}, child: {link: body}}"
    spin = angle.replace("frame,", "frame_velocity,")
    for text, verdict in ((angle, "holonomic"), (spin, "nonholonomic")):
        spec = MechanismSpec.from_text(f"schema: 1\nconstraints: {{{text}}}\n")
        machine = Mechanism.from_spec(spec, robot_description=urdf)
        assert verdicts(machine) == {"k": verdict}


def test_references_make_constraints_rheonomic():
    text = """constraints:
  still: {type: joint, joint: x, reference: {type: constant, value: 0.2}}
  moved: {type: joint, joint: y, reference: {type: sinusoid, amplitude: 0.1, frequency: 1.0}}
  turned: {type: frame_velocity, axes: [rz], parent: {link: world}, child: {link: cart},
           reference: {type: constant, value: 0.3}}
  fed: {type: joint, joint: swing, reference: {type: live}}
"""
    found = examined(mechanism(CART, text)).constraints
    assert {name: nature.rheonomic for name, nature in found.items()} == {
        "still": False,
        "moved": True,
        "turned": True,  # its angle would be 0.3 t + constant
        "fed": True,
    }
    assert {nature.verdict for nature in found.values()} == {"holonomic"}


@pytest.mark.slow
def test_a_driven_twist_in_body_axes_is_holonomic_when_nothing_is_left_free():
    """All three velocities prescribed: the path is given, whatever its shape. Two: it is not."""
    text = """constraints:
  drive: {{type: frame_velocity, axes: [{0}], expressed_in: child, parent: {{link: world}},
          child: {{link: cart}}, reference: {{type: polynomial, coefficients: [0.3, 0.1]}}}}
  rest: {{type: joint, joint: roll}}
  quiet: {{type: joint, joint: swing}}
"""
    complete = examined(mechanism(CART, text.format("x, y, rz")))
    assert complete.constraints["drive"].verdict == "holonomic"
    assert complete.constraints["drive"].rheonomic
    partial = examined(mechanism(CART, text.format("x, y")))
    assert partial.constraints["drive"].verdict == "nonholonomic"


@pytest.mark.slow
def test_describe_tells_it(tmp_path, capsys):
    (tmp_path / "cart.urdf").write_text(f'<robot name="cart">{CART}</robot>')
    file = tmp_path / "cart.yaml"
    extra = "  stop: {type: joint, joint: swing}\n"
    file.write_text(f"schema: 1\nmodel: {{urdf: cart.urdf}}\n{ROLLING}{extra}")
    assert main(["describe", str(file)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "nonholonomic, scleronomic: wheel; holonomic, scleronomic: stop" in said
    assert "tested at 5 states" in said
    assert "3 velocities, 1 integrably: configurations have 4 dimensions" in said
    assert main(["describe", str(file), "--json", "--samples", "2"]) == 0
    facts = json.loads(capsys.readouterr().out)["integrability"]
    assert facts["samples"] == 2
    assert facts["constraints"]["wheel"]["verdict"] == "nonholonomic"
    assert main(["describe", str(file), "--samples", "0"]) == 0
    assert "integrability" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_report_tests_it_when_asked():
    machine = shipped("differential_drive")
    assert machine.report().integrability is None
    found = machine.report(samples=2).integrability
    assert found.samples == 2
    # Five velocities are bound, and for good the difference of the wheels' turns with the heading.
    assert (found.bound_velocities, found.bound_coordinates) == (5, 1)
    assert {nature.verdict for nature in found.constraints.values()} == {"nonholonomic"}


def test_a_mechanism_without_constraints_has_nothing_to_say():
    found = examined(mechanism(arm((1.0,))))
    assert found.constraints == {}
    assert found.bound_velocities == found.bound_coordinates == 0
