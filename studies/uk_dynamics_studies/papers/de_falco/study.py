# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""De Falco, Pennestrì, Vita: five pseudoinverses on an over-constrained five-bar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from uk_dynamics.colours import COLOURS
from uk_dynamics.core.equation.published import PseudoinverseMethod
from uk_dynamics_studies.papers.de_falco import flops as de_falco_flops
from uk_dynamics_studies.papers.de_falco.findings import FINDINGS
from uk_dynamics_studies.papers.de_falco.machine import FLAT, REGULAR, Solver
from uk_dynamics_studies.papers.de_falco.published import NAMES, PRINTED
from uk_dynamics_studies.papers.de_falco.rank import drift_table, greville_table
from uk_dynamics_studies.papers.de_falco.runs import Case, Integrator, Outcome, run
from uk_dynamics_studies.papers.output.study import Bound, Cell, Figure, Study, Table

TITLE = (
    "De Falco, Pennestrì, Vita: An investigation of the influence of pseudoinverse matrix"
    " calculations on multibody dynamics simulations by means of the Udwadia–Kalaba formulation"
    " (2008)"
)

_ALL = "projected, all five, both starts"
_STARTS = (REGULAR, FLAT)
_NOTE = (
    "Starts at rest, legs {:g}° (stays regular) and +{:g}° (falls through the flat configuration)"
    " from the horizontal; Σ Ψᵢ² is the largest after any step. Adams: VODE's implicit Adams"
    " formulas, the nearest relative in SciPy of IMSL's DIVPAG; rtol = atol = rank tolerance = TOL,"
    " first step 6.6 ms. Given up after {:,} evaluations. The five algorithms are in the shipped"
    " mechanism five_bar_maximal as solver.pseudoinverse."
)


@dataclass(frozen=True)
class _Scope:
    """How much is done."""

    duration: float = 20.0  # of all motions, in s
    budget: int = 10_000  # evaluations after which a run that may go wrong is given up
    patience: int = 120_000  # the same where a stabilised run is to come to its end
    algorithms: tuple[PseudoinverseMethod, ...] = tuple(NAMES)  # in Tables 7 to 12
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10)  # of the tables that vary them


_QUICK = _Scope(1.5, 150, 300, ("svd", "greville"), (1e-6, 1e-8))


def study(*, quick: bool = False) -> Study:
    """Redo Tables 1 to 12, vary apart what the paper ties together, and do it without failure."""
    scope = _QUICK if quick else _Scope()
    projected, bounds = _projected(scope)
    return Study(
        paper="de_falco",
        title=TITLE,
        tables=(
            projected,
            *(_redone(number, scope) for number in PRINTED),
            _apart(scope),
            _runge_kutta(scope),
            _patient(scope),
            _rank_tolerances(scope),
            drift_table(),
            greville_table(),
            *de_falco_flops.tables(),
        ),
        figures=_figures(scope),
        findings=FINDINGS,
        bounds=bounds,
    )


def _projected(scope: _Scope) -> tuple[Table, tuple[Bound, ...]]:
    """All five over the whole time, projected after every step."""
    rows: list[tuple[Cell, ...]] = []
    outcomes: list[Outcome] = []
    for algorithm, start in product(NAMES, _STARTS):
        case = Case(Solver(algorithm), "DOP853", 1e-9, start, projected=True)
        outcome = run(case, scope.duration, 2 * scope.budget if scope is not _QUICK else 5000)
        outcomes.append(outcome)
        rows.append(
            (
                NAMES[algorithm], start, outcome.result, outcome.angle_error, outcome.violation,
                outcome.evaluations, outcome.steps,
            )
        )  # fmt: skip
    table = Table(
        "Projected after each step",
        (
            "method", "start [°]", "result", "largest angle error [rad]", "Σ Ψᵢ² [m²]",
            "evaluations", "steps",
        ),
        rows,
        f"DOP853, rtol = atol = 1e-9, rank tolerance 1e-4, no stabilisation, {scope.duration:g} s;"
        " positions and velocities projected onto the constraints in the metric of M. The paper's"
        " best: 2.1e-7 with stabilisation, in 7.4e7 evaluations.",
    )  # fmt: skip
    short = scope.duration - min(outcome.correct for outcome in outcomes)
    bounds = (
        Bound(f"{_ALL}: time that is missing or wrong [s]", short, 0.0),
        Bound(f"{_ALL}: Σ Ψᵢ² [m²]", max(o.violation for o in outcomes), 1e-18),
        Bound(f"{_ALL}: angle error [rad]", max(o.angle_error for o in outcomes), 1e-6),
        Bound(f"{_ALL}: evaluations", max(o.evaluations for o in outcomes), 10_000),
    )  # fmt: skip
    return table, bounds


def _redone(number: int, scope: _Scope) -> Table:
    """One of Tables 7 to 12, from both starts."""
    printed = PRINTED[number]
    rows: list[tuple[Cell, ...]] = []
    for algorithm in scope.algorithms:
        published = printed.rows[algorithm]
        row: list[Cell] = [NAMES[algorithm], *published]
        for start in _STARTS:
            solver = Solver(algorithm, printed.tolerance, printed.stabilized)
            case = Case(solver, "adams", printed.tolerance, start)
            outcome = run(case, scope.duration, scope.budget)
            row += [outcome.result, outcome.violation, outcome.evaluations]
        rows.append(tuple(row))
    heading = [f"{what}, {start:+.0f}°" for start in _STARTS for what in _MEASURED]
    gains = "α = 1000, β = 100" if printed.stabilized else "no stabilisation"
    return Table(
        f"Table {number}: TOL = {printed.tolerance:g}, {gains}",
        ("method", "published", "published Σ Ψᵢ² [m²]", "published NFUNC", *heading),
        rows,
        _NOTE.format(*_STARTS, scope.budget),
    )


_MEASURED = ("result", "Σ Ψᵢ² [m²]", "evaluations")


def _apart(scope: _Scope) -> Table:
    """Integrator tolerance and rank tolerance varied separately."""
    rows: list[tuple[Cell, ...]] = []
    for start, tolerance in product(_STARTS, scope.tolerances):
        row: list[Cell] = [start, tolerance]
        for rank_tolerance in _RANK_TOLERANCES:
            case = Case(Solver("svd", rank_tolerance), "adams", tolerance, start)
            outcome = run(case, scope.duration, scope.budget)
            row.append(f"{outcome.result}; {outcome.evaluations}")
        rows.append(tuple(row))
    return Table(
        "Integrator tolerance and rank tolerance apart",
        ("start [°]", "integrator", *(f"rank tolerance {r:g}" for r in _RANK_TOLERANCES)),
        rows,
        "SVD, Adams, no stabilisation, no projection: result; evaluations.",
    )


_RANK_TOLERANCES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-3)


def _runge_kutta(scope: _Scope) -> Table:
    """The nearest relatives of Verner's method."""
    rows: list[tuple[Cell, ...]] = []
    for start, stabilized, tolerance in product(_STARTS, (False, True), scope.tolerances):
        row: list[Cell] = [start, "yes" if stabilized else "no", tolerance]
        for integrator in _RUNGE_KUTTA:
            solver = Solver("svd", tolerance, stabilized)
            case = Case(solver, integrator, tolerance, start)
            outcome = run(case, scope.duration, scope.budget)
            row += [outcome.result, outcome.evaluations]
        rows.append(tuple(row))
    return Table(
        "Runge–Kutta instead of Adams",
        (
            "start [°]", "stabilised", "TOL", "DOP853", "evaluations (DOP853)", "RK45",
            "evaluations (RK45)",
        ),
        rows,
        "SVD, no projection, rtol = atol = rank tolerance = TOL. The paper names Verner's method of"
        " order 5 and 6 (DIVPRK) without numbers; SciPy has Dormand and Prince's 5(4) and 8(5, 3).",
    )  # fmt: skip


_RUNGE_KUTTA: tuple[Integrator, ...] = ("DOP853", "RK45")


def _patient(scope: _Scope) -> Table:
    """What stabilisation comes to when it is given the evaluations it asks for."""
    case = Case(Solver("svd", 1e-4, stabilized=True), "adams", 1e-6, REGULAR)
    outcome = run(case, scope.duration, scope.patience)
    return Table(
        "Stabilisation with patience",
        ("start [°]", "result", "largest angle error [rad]", "Σ Ψᵢ² [m²]", "evaluations"),
        [(REGULAR, outcome.result, outcome.angle_error, outcome.violation, outcome.evaluations)],
        "SVD, Adams, TOL = 1e-6, rank tolerance 1e-4, α = 1000, β = 100: a decay of 1995 1/s, which"
        f" steps must follow, and one of 5 1/s. Given up after {scope.patience:,} evaluations.",
    )


def _rank_tolerances(scope: _Scope) -> Table:
    """How wide the choice is once the steps are projected."""
    rows: list[tuple[Cell, ...]] = []
    tolerances = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8) if scope is not _QUICK else (1e-4,)
    for asymmetric, rank_tolerance in product((False, True), tolerances):
        solver = Solver("svd", rank_tolerance, asymmetric=asymmetric)
        case = Case(solver, "DOP853", 1e-9, FLAT, projected=True)
        outcome = run(case, scope.duration, 2 * scope.budget if scope is not _QUICK else 5000)
        rows.append(
            (
                "one heavier leg" if asymmetric else "of the paper", rank_tolerance,
                outcome.result, outcome.angle_error, outcome.violation, outcome.evaluations,
            )
        )  # fmt: skip
    return Table(
        "Rank tolerance with projection",
        (
            "five-bar", "rank tolerance", "result", "largest angle error [rad]", "Σ Ψᵢ² [m²]",
            "evaluations",
        ),
        rows,
        "SVD, DOP853, rtol = atol = 1e-9, through the flat configuration.",
    )  # fmt: skip


def _figures(scope: _Scope) -> tuple[Figure, ...]:
    """Error and violation over time of the ways compared."""
    cases = {
        "TOL = 1e-8, regular start": Case(Solver("svd", 1e-8), "adams", 1e-8, REGULAR),
        "rank tolerance 1e-4, regular start": Case(Solver("svd"), "adams", 1e-8, REGULAR),
        "stabilised, regular start": Case(
            Solver("svd", 1e-8, stabilized=True), "adams", 1e-8, REGULAR
        ),
        "projected, through flat": Case(Solver("svd"), "DOP853", 1e-9, FLAT, projected=True),
    }
    outcomes = {
        label: run(case, scope.duration, max(scope.budget, 500)) for label, case in cases.items()
    }
    return (
        Figure(
            "angle_error",
            "Largest error of an angle against the exact motion (SVD)",
            partial(_draw, outcomes, 1, "angle error [rad]"),
        ),
        Figure(
            "violation",
            "Violation of the position constraints (SVD), the paper's Figure 2",
            partial(_draw, outcomes, 2, "Σ Ψᵢ² [m²]"),
        ),
    )


def _draw(outcomes: dict[str, Outcome], column: int, ylabel: str, figure: Any) -> None:
    axis = figure.subplots()
    for index, (label, outcome) in enumerate(outcomes.items()):
        t = [point[0] for point in outcome.trace]
        values = [max(point[column], 1e-34) for point in outcome.trace]
        axis.semilogy(t, values, label=label, color=COLOURS[index], linewidth=1.0)
    axis.set(xlabel="time [s]", ylabel=ylabel)
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.0)
    axis.legend(fontsize="small", edgecolor="none")
