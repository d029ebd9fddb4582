# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Identification: known parameters come back, and what cannot be told is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.recorded import five_bar_recording
from support.repository import ROOT

from uk_dynamics import Mechanism, Trajectory
from uk_dynamics.cli.main import main
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.identification import (
    Identification,
    Regressor,
    excitation,
    identify,
    linear_parameters,
)
from uk_dynamics.identification.identifiability import identifiability, random_motions
from uk_dynamics.identification.possible_values import (
    Estimate,
    free_numbers,
    from_free_numbers,
    possible,
    whole_body,
)
from uk_dynamics.model import (
    PARAMETERS_OF_A_LINK,
    body_of_parameters,
    parameters_of,
    parameters_of_body,
    pseudo_inertia,
)

DAMPING, FRICTION = 0.8, 1.5
LOAD, CENTER = 1.3, (1.0, 0.0, 0.1)
FRICTIONS = ["joints.crank.damping", "joints.crank.friction"]


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


@pytest.fixture(scope="module")
def machine(five_bar: Mechanism) -> Mechanism:
    """A five-bar with friction and a load that its files do not know."""
    rubbing = {"joints.crank.damping": DAMPING, "joints.crank.friction": FRICTION}
    return five_bar.with_parameters(rubbing).with_payload("coupler_link", LOAD, CENTER)


@pytest.fixture(scope="module")
def noisy(machine: Mechanism) -> Trajectory:
    return five_bar_recording(machine, noise=True)


@pytest.fixture(scope="module")
def loaded(five_bar: Mechanism, noisy: Trajectory) -> Identification:
    return identify(five_bar, [noisy], estimate=FRICTIONS, payload="coupler_link")


@pytest.mark.parametrize("name", ["five_bar", "excavator", "diagonal_spring"])
def test_the_regressor_times_the_parameters_is_the_force_that_moves_the_machine(name: str) -> None:
    mechanism = Mechanism.from_file(name)
    parameters = [x for x in linear_parameters(mechanism, ("*",)) if x.kind != "motor"]
    regressor = Regressor(mechanism, parameters)
    motions = random_motions(regressor, mechanism.assemble()).part(slice(20))
    equations = regressor.equations(motions)
    values = np.array([parameter.value for parameter in parameters])
    force = equations.efforts - equations.missing
    # rounding, of forces of up to 1e6 N in the excavator
    np.testing.assert_allclose(
        equations.matrix @ values, force, atol=1e-10 * (1.0 + np.abs(force).max()), rtol=0
    )


def test_a_five_bar_has_five_base_parameters(five_bar: Mechanism) -> None:
    # The legs turn with θ, the coupler only translates, on a circle of 1 m: the one equation is
    #   (Σ I_leg + m) θ̈ + g (Σ mx_leg + m) cos θ − g Σ mz_leg sin θ + Σ d θ̇ + Σ f tanh(θ̇/v₀).
    parameters = linear_parameters(five_bar)
    regressor = Regressor(five_bar, parameters)
    motions = random_motions(regressor, five_bar.assemble(crank=0.9))
    matrix = regressor.equations(motions).matrix.reshape(-1, len(parameters))
    names, sizes = [x.name for x in parameters], np.array([x.size for x in parameters])
    found = identifiability(matrix, names, sizes)
    legs = [f"links.{leg}" for leg in ("left_leg", "middle_leg", "right_leg")]
    coupler = "links.coupler_link.mass"
    joints = [f"joints.{joint}" for joint in ("crank", "coupler", "middle", "right")]
    expected = [
        {*(f"{leg}.moment.x" for leg in legs), coupler},
        {f"{leg}.moment.z" for leg in legs},
        {*(f"{leg}.inertia.yy" for leg in legs), coupler},
        {f"{joint}.damping" for joint in joints},
        {f"{joint}.friction" for joint in joints},
    ]
    assert found.rank == 5
    sums = [set(x.terms) for x in found.base]
    assert len(sums) == 5
    assert all(one in sums for one in expected)
    for one in found.base:
        np.testing.assert_allclose(list(one.terms.values()), 1.0, atol=1e-6, rtol=0)
    told = set().union(*expected)
    assert set(found.without_effect) == {x.name for x in parameters} - told


@pytest.mark.slow
def test_payload_and_friction_come_back_from_noisy_encoders(loaded: Identification) -> None:
    # the payload on the coupler acts by its mass alone, as the coupler only translates
    assert loaded["payload.coupler_link.mass"].value == pytest.approx(LOAD, rel=0.01)
    assert loaded["joints.crank.friction"].value == pytest.approx(FRICTION, rel=0.05)
    assert loaded["joints.crank.damping"].value == pytest.approx(DAMPING, rel=0.05)
    for name, true in ((FRICTIONS[0], DAMPING), (FRICTIONS[1], FRICTION)):
        assert abs(loaded[name].value - true) < 5.0 * loaded[name].deviation
    assert loaded["payload.coupler_link.moment.x"].status == "no effect"
    assert loaded.determined == loaded.limits.rank == 3
    assert loaded.motions[0].noise[0] == pytest.approx(1e-4, rel=0.1)


@pytest.mark.slow
def test_samples_with_a_motor_at_its_limit_are_left_out(noisy: Trajectory) -> None:
    # commands in the file, less from the motor: without detection the mass is found too small
    limit = 0.9 * float(np.abs(noisy.efforts).max())

    def with_limit(limit: float) -> Mechanism:
        data = yaml.safe_load((ROOT / "config/five_bar.yaml").read_text())
        data["actuators"]["crank_motor"]["effort_limit"] = limit
        return Mechanism.from_data(data)

    weak = with_limit(limit)
    clipped = Trajectory(**{**vars(noisy), "efforts": np.clip(noisy.efforts, -limit, limit)})
    found = identify(weak, [clipped], estimate=FRICTIONS, payload="coupler_link")
    assert found.motions[0].saturated["crank_motor"] > 0.0
    assert found["payload.coupler_link.mass"].value == pytest.approx(LOAD, rel=0.01)
    with pytest.raises(InputError, match=r"effort limits: crank_motor"):
        identify(with_limit(1e-3), [clipped], estimate=FRICTIONS)


@pytest.mark.slow
def test_held_out_efforts_are_predicted(loaded: Identification) -> None:
    assert loaded.held_out.relative_before > 0.1
    assert loaded.held_out.relative < 0.02


@pytest.mark.slow
def test_all_links_stay_bodies_and_combinations_come_back(
    five_bar: Mechanism, machine: Mechanism, noisy: Trajectory
) -> None:
    parts: list[float] = []
    found = identify(five_bar, [noisy], fitting=parts.append)
    assert sum(parts) == pytest.approx(1.0)
    assert found.held_out.relative < 0.02
    values = {x.parameter.name: x.value for x in found.estimates}
    mass = sum(x for name, x in values.items() if name.endswith("leg.moment.x"))
    known = machine.parameters
    legs = [f"links.{leg}" for leg in ("left_leg", "middle_leg", "right_leg")]
    true = sum(known[f"{x}.mass"].value * known[f"{x}.center.x"].value for x in legs)
    total = values["links.coupler_link.mass"] + mass
    assert total == pytest.approx(true + known["links.coupler_link.mass"].value, rel=0.005)
    for link in found.identified.model.description.links:
        if link.mass:
            moments = np.linalg.eigvalsh(link.inertia)
            assert link.mass > 0.0
            assert moments[0] >= 0.0
            assert moments[0] + moments[1] >= moments[2] * (1.0 - 1e-9)


@pytest.mark.slow
def test_a_motor_constant_comes_back_when_the_masses_are_known(
    five_bar: Mechanism, machine: Mechanism, noisy: Trajectory
) -> None:
    weak = Trajectory(**{**vars(noisy), "efforts": noisy.efforts / 1.25})
    found = identify(machine, [weak], estimate=["motors.*"])
    assert found.motor_gains["crank_motor"] == pytest.approx(1.25, rel=0.005)


def test_a_body_that_cannot_exist_becomes_the_nearest_that_can() -> None:
    body = parameters_of_body(2.0, np.array([0.1, 0.2, -0.1]), np.diag([0.3, 0.4, 0.5]))
    pseudo = pseudo_inertia(body)
    np.testing.assert_allclose(parameters_of(pseudo), body, atol=1e-15, rtol=0)
    mass, center, inertia = body_of_parameters(body)
    assert mass == 2.0
    np.testing.assert_allclose(center, [0.1, 0.2, -0.1], atol=1e-15, rtol=0)
    np.testing.assert_allclose(inertia, np.diag([0.3, 0.4, 0.5]), atol=1e-15, rtol=0)
    again = from_free_numbers(free_numbers(pseudo, 0.3), 0.3)
    np.testing.assert_allclose(again, pseudo, atol=1e-14, rtol=0)
    # a moment above the sum of the others
    flat = pseudo_inertia(parameters_of_body(1.0, np.zeros(3), np.diag([0.1, 0.1, 0.5])))
    assert np.linalg.eigvalsh(flat)[0] < 0.0
    mended = possible(flat, 1.0, 1.0)
    assert np.linalg.eigvalsh(mended)[0] > 0.0
    np.testing.assert_allclose(mended, flat, atol=0.16, rtol=0)  # by what was negative


def test_a_payload_adds_what_a_point_mass_adds(five_bar: Mechanism) -> None:
    start = five_bar.start(crank=0.7)
    loaded = five_bar.with_payload("coupler_link", 3.0, (0.4, 0.0, 0.2))
    added = loaded.terms(start).M - five_bar.terms(start).M
    forces = [
        five_bar.wrench_forces({("coupler_link", (0.4, 0.0, 0.2)): axis}, start.q)
        for axis in np.eye(3)
    ]
    J = np.array(forces)
    np.testing.assert_allclose(added, 3.0 * J.T @ J, atol=1e-12, rtol=0)
    with pytest.raises(InputError, match="does not move"):
        five_bar.with_payload("ground", 1.0)
    with pytest.raises(InputError, match="sum of the others"):
        five_bar.with_payload("left_leg", 1.0, inertia=np.diag([1.0, 1.0, 3.0]))


@pytest.mark.slow
def test_an_excitation_stays_within_limits_and_tells_more(five_bar: Mechanism) -> None:
    regressor = Regressor(five_bar, linear_parameters(five_bar, FRICTIONS, "coupler_link"))
    found = excitation(regressor, 4.0, evaluations=60, seed=3)
    assert np.isfinite(found.gain)
    # 1.12 to 1.24 with three seeds; which random steps are taken depends on rounding
    assert found.gain > 1.05
    q, v, qdd = found.curve(np.linspace(0.0, 4.0, 4001))
    # differences of 1 ms
    np.testing.assert_allclose(np.gradient(q[:, 0], 1e-3)[5:-5], v[5:-5, 0], atol=1e-3, rtol=0)
    np.testing.assert_allclose(np.gradient(v[:, 0], 1e-3)[5:-5], qdd[5:-5, 0], atol=1e-2, rtol=0)


@pytest.mark.parametrize(
    ("period", "problem"),
    [(1e9, "expected a period"), (1e-300, "expected a period"), (1e5, "shorter period")],
)
def test_an_excitation_of_a_period_of_no_machine_is_refused(period: float, problem: str) -> None:
    mechanism = Mechanism.from_file("four_bar")
    regressor = Regressor(mechanism, linear_parameters(mechanism, ("links.*",)))
    with pytest.raises(InputError, match=problem):
        excitation(regressor, period, evaluations=10)


@pytest.mark.slow
def test_an_excitation_begins_where_loops_bound_it() -> None:
    # four tenths of a metre of each cylinder at once would tear the bucket's four-bar open
    mechanism = Mechanism.from_file("excavator")
    regressor = Regressor(mechanism, linear_parameters(mechanism, ["joints.*.friction"]))
    found = excitation(regressor, 10.0, evaluations=10)
    completion = StateCompletion(mechanism, found.joints)
    limits = mechanism.model
    for q in found.curve(np.linspace(0.0, 10.0, 60))[0]:
        closed = completion.complete(q)
        assert closed.usable
        assert not limits.limit_violations(closed.q)


@pytest.mark.slow
def test_what_is_told_badly_is_not_called_identified(
    five_bar: Mechanism, loaded: Identification, noisy: Trajectory
) -> None:
    assert loaded["payload.coupler_link.mass"].status == "identified"
    # efforts of another motion: whatever comes out predicts nothing
    wrong = Trajectory(**{**vars(noisy), "efforts": noisy.efforts[::-1]})
    found = identify(five_bar, [wrong], estimate=FRICTIONS, payload="coupler_link")
    assert found.held_out.relative > 0.2
    assert {x.status for x in found.estimates} <= {"uncertain", "no effect", "undetermined"}
    assert any("nothing is identified" in remark for remark in found.remarks)


@pytest.mark.slow
def test_the_command_writes_files_that_read_back(
    noisy: Trajectory, loaded: Identification, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noisy.save(tmp_path / "run.npz")
    out = tmp_path / "out"
    options = ["--payload=coupler_link", *(f"--estimate={name}" for name in FRICTIONS)]
    command = ["identify", "five_bar", str(tmp_path / "run.npz"), *options, "--out", str(out)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "no effect" in shown
    assert {x.name for x in out.iterdir()} == {"five_bar.urdf", "five_bar.yaml", "report.json"}
    written = Mechanism.from_file(out / "five_bar.yaml")
    for name, parameter in loaded.identified.parameters.items():
        assert written.parameters[name].value == pytest.approx(parameter.value, abs=1e-9), name
    (estimates,) = written.spec.identified
    assert estimates.recordings == (str(tmp_path / "run.npz"),)
    assert set(FRICTIONS) < set(estimates.names)
    assert not any("moment" in name for name in estimates.names)  # the data do not tell them
    at = [[x.parameter.name for x in loaded.estimates].index(name) for name in estimates.names]
    expected = loaded.covariance[np.ix_(at, at)]
    scale = np.sqrt(expected.diagonal())
    # correlations are written with six digits
    off = estimates.covariance / np.outer(scale, scale) - expected / np.outer(scale, scale)
    np.testing.assert_allclose(off, 0.0, atol=2e-6, rtol=0)
    assert main(["describe", str(out / "five_bar.yaml")]) == 0
    assert f"joints.crank.friction {estimates.values[1]:.6g} ±" in capsys.readouterr().out


@pytest.mark.slow
def test_standard_deviations_are_those_of_the_estimates(
    five_bar: Mechanism, machine: Mechanism
) -> None:
    clean = five_bar_recording(machine)
    size = np.sqrt((clean.efforts**2).mean())
    names, true = ["payload.coupler_link.mass", *FRICTIONS], (LOAD, DAMPING, FRICTION)
    off = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        q = clean.q + 1e-4 * random.standard_normal(clean.q.shape)
        efforts = clean.efforts + 0.01 * size * random.standard_normal(clean.efforts.shape)
        noisy = Trajectory(**{**vars(clean), "q": q, "efforts": efforts})
        found = identify(five_bar, [noisy], estimate=FRICTIONS, payload="coupler_link", rate=100.0)
        off.append(
            [(found[n].value - x) / found[n].deviation for n, x in zip(names, true, strict=True)]
        )
        assert abs(found.delay) < 5.0 * found.delay_deviation
    # 18 numbers of unit variance, three of a recording correlated: three deviations
    assert 0.5 < np.sqrt(np.square(off).mean()) < 1.6


@pytest.mark.slow
def test_a_delay_of_motors_is_found(five_bar: Mechanism, noisy: Trajectory) -> None:
    late = Trajectory(
        **{**vars(noisy), **{x: getattr(noisy, x)[5:] for x in ("t", "q", "v", "qdd")}}
        | {"efforts": noisy.efforts[:-5]}
    )
    # now what is at an instant is what the motor does 10 ms before: a command that is late
    found = identify(five_bar, [late], estimate=FRICTIONS, payload="coupler_link")
    assert found.delay == pytest.approx(-0.01, abs=5.0 * found.delay_deviation)
    assert found.delay_deviation < 1e-3
    assert found["joints.crank.damping"].value == pytest.approx(DAMPING, rel=0.1)


@pytest.mark.slow
def test_time_without_states_is_left_out(five_bar: Mechanism, noisy: Trajectory) -> None:
    kept = np.ones(len(noisy.t), dtype=bool)
    kept[1000:1050] = False  # a tenth of a second
    kept[::7] = False  # and single messages
    gappy = Trajectory(
        **{**vars(noisy), **{x: getattr(noisy, x)[kept] for x in ("t", "q", "efforts")}}
    )
    found = identify(five_bar, [gappy], estimate=FRICTIONS, payload="coupler_link")
    assert 0.01 < found.motions[0].lost < 0.2
    assert found["payload.coupler_link.mass"].value == pytest.approx(LOAD, rel=0.01)
    assert found["joints.crank.friction"].value == pytest.approx(FRICTION, rel=0.05)


def test_a_mechanism_file_says_how_well_parameters_are_known() -> None:
    data = yaml.safe_load((ROOT / "config/five_bar.yaml").read_text())
    one = {"value": 1.0, "deviation": 0.1}
    entry = {
        "by": "identify",
        "recordings": ["run.mcap"],
        "date": "2026-11-23",
        "parameters": {"joints.crank.friction": one, "joints.crank.damping": one},
        "correlation": [[1.0], [-0.5, 1.0]],
    }
    found = Mechanism.from_data({**data, "identified": [entry]}).spec.identified[0]
    np.testing.assert_allclose(found.covariance, [[0.01, -0.005], [-0.005, 0.01]], atol=1e-15)
    assert found.data() == entry
    three = {**entry["parameters"], "joints.right.friction": one}
    for wrong, message in (
        ({"correlation": [[1.0], [1.0]]}, "rows of 1, 1 numbers for 2 parameters"),
        ({"correlation": [[1.0], [0.5, 0.9]]}, "last number of each row is 1"),
        ({"correlation": [[1.0], [1.5, 1.0]]}, "1.5"),
        (
            {"parameters": three, "correlation": [[1.0], [0.9, 1.0], [-0.9, 0.9, 1.0]]},
            r"identified\[0\].correlation: .* an eigenvalue is -0.8",
        ),
        ({"date": "23.11.2026"}, "its year first"),
        (
            {"parameters": {"joints.cranc.friction": one}, "correlation": [[1.0]]},
            r'identified\[0\].parameters: no joint "cranc"; did you mean "crank"',
        ),
        (
            {"parameters": {"payload.coupler.mass": one}, "correlation": [[1.0]]},
            'no link "coupler"; did you mean "coupler_link"',
        ),
        ({"parameters": {"crank.friction": one}, "correlation": [[1.0]]}, "joints, encoders"),
    ):
        with pytest.raises(InputError, match=message):
            Mechanism.from_data({**data, "identified": [{**entry, **wrong}]})


def test_wrong_names_are_answered_with_valid_ones(five_bar: Mechanism, noisy: Trajectory) -> None:
    with pytest.raises(UnknownNameError, match="left_leg"):
        identify(five_bar, [noisy], estimate=["links.left_lag.mass"])
    with pytest.raises(UnknownNameError, match="coupler_link"):
        identify(five_bar, [noisy], payload="coupler_lonk")
    with pytest.raises(InputError, match="below half the sampling rate"):
        identify(five_bar, [noisy], cutoff=400.0)
    short = Trajectory(
        **{**vars(noisy), **{x: getattr(noisy, x)[:20] for x in ("t", "q", "efforts")}}
    )
    with pytest.raises(InputError, match="too few"):
        identify(five_bar, [short])


@pytest.mark.slow
def test_some_parameters_of_a_link_are_written_with_the_rest_of_its_file(
    five_bar: Mechanism, noisy: Trajectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noisy.save(tmp_path / "run.npz")
    command = ["identify", "five_bar", str(tmp_path / "run.npz"), "--out", str(tmp_path / "out")]
    assert main([*command, "--estimate", "links.coupler_link.mass"]) == 0
    written = Mechanism.from_file(tmp_path / "out" / "five_bar.yaml")
    before, after = (_ten(x, "coupler_link") for x in (five_bar, written))
    assert after[0] > before[0] + 0.5  # the load
    np.testing.assert_allclose(after[1:], before[1:], atol=1e-12, rtol=0)  # rounding
    capsys.readouterr()
    only = identify(five_bar, [noisy], estimate=["links.coupler_link.mass"])
    light = replace(only, estimates=(replace(only.estimates[0], value=0.1),))
    others = "links.coupler_link.moment.*, links.coupler_link.inertia.*"
    assert any(others in remark for remark in light.remarks)
    with pytest.raises(InputError, match="no body has the estimated mass"):
        _ = light.identified


@given(st.sets(st.sampled_from(PARAMETERS_OF_A_LINK), min_size=1), st.integers(0, 2**32 - 1))
def test_any_of_the_ten_parameters_of_a_body_make_a_body_or_are_refused(
    parts: set[str], seed: int
) -> None:
    random = np.random.default_rng(seed)

    def body() -> NDArray[np.float64]:
        spread = random.standard_normal((4, 8))
        return parameters_of(spread @ spread.T)

    before, new = body(), body()
    estimated = {x: new[PARAMETERS_OF_A_LINK.index(x)] for x in parts}
    expected = [estimated.get(x, b) for x, b in zip(PARAMETERS_OF_A_LINK, before, strict=True)]
    if np.linalg.eigvalsh(pseudo_inertia(np.array(expected)))[0] > 0.0:
        np.testing.assert_array_equal(whole_body("bar", before, estimated), expected)
        return
    with pytest.raises(InputError, match="no body has the estimated") as refused:
        whole_body("bar", before, estimated)
    left = [x for x in PARAMETERS_OF_A_LINK if x not in parts]
    assert all(f"links.bar.{x.partition('.')[0]}" in str(refused.value) for x in left)


@pytest.mark.slow
def test_a_spring_whose_stiffness_alone_is_estimated_keeps_its_preload(
    loaded: Identification,
) -> None:
    mechanism = Mechanism.from_file("diagonal_spring")
    (stiffness,) = linear_parameters(mechanism, ["forces.*.stiffness"])
    spring = stiffness.name.rpartition(".")[0]
    made = Estimate(stiffness, 2.0 * stiffness.value, 0.0, "identified")
    found = replace(loaded, mechanism=mechanism, estimates=(made,)).values
    known = mechanism.parameters
    assert found[f"{spring}.length"] == pytest.approx(
        known[f"{spring}.length"].value / 2, abs=1e-12
    )


def _ten(mechanism: Mechanism, name: str) -> NDArray[np.float64]:
    link = next(x for x in mechanism.model.description.links if x.name == name)
    return parameters_of_body(link.mass, link.center_of_mass, link.inertia)
