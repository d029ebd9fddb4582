# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Singular starts: configurations where the rank of the constraints or of the motors drops."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import SimulationError, UndeterminedMotionError
from uk_dynamics.mechanism.analysis import MechanismReport
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import LEAST_INTERPRETED, State

_NEIGHBOURS = 4
_STEP = 0.05  # rad or m
_ILL_CONDITIONED = 1e3  # of the rows at unit norm
_REMEDY = "start elsewhere: another initial_guess, or --set JOINT=VALUE"
_warning = partial(Finding, "singular_start", "warning")


def singularity(subject: Subject) -> Iterator[Finding]:
    """Compare ranks at the start with those around it."""
    if not subject.closed or subject.mechanism.model.nv >= LEAST_INTERPRETED:
        return
    here, solution = subject.report, subject.solution
    around = list(_around(subject))
    rank = max((facts.rank for facts in around), default=here.rank)
    if rank > here.rank:
        yield _warning(
            here.redundant_rows,
            f"the rows have rank {here.rank} at the start and {rank} around it: the start is"
            " singular, and rounding may decide which branch the motion takes",
            _REMEDY,
        )
    elif isinstance(solution, Solution) and solution.condition > _ILL_CONDITIONED:
        yield _warning(
            (),
            f"the rows are nearly dependent at the start (condition {solution.condition:.2g}): it"
            " is near a singular configuration",
            _REMEDY,
        )
    same = [facts for facts in around if facts.mobility == here.mobility]
    driven = max((facts.actuated_freedoms for facts in same), default=here.actuated_freedoms)
    if driven > here.actuated_freedoms:
        yield _warning(
            here.motors,
            f"drive {here.actuated_freedoms} of {here.mobility} degrees of freedom at the start"
            f" and {driven} around it: this is an actuation singularity (dead centre)",
            _REMEDY,
        )


def _around(subject: Subject) -> Iterator[MechanismReport]:
    mechanism, q = subject.mechanism, subject.assembly.q
    chance = np.random.default_rng(0)
    dynamics = InterpretedDynamics(mechanism)
    for _ in range(_NEIGHBOURS):
        step = chance.standard_normal(mechanism.model.nv)
        step *= _STEP / max(float(np.abs(step).max(initial=0.0)), 1e-30)
        try:
            near = dynamics.project(State(0.0, mechanism.model.integrate(q, step), 0.0 * step))
        except (SimulationError, UndeterminedMotionError):
            continue
        yield mechanism.report(near.q)
