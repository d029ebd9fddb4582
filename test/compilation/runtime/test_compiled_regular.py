# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows taken in a fixed order: right in numbers, and only where any order gives the same."""

import re

import numpy as np
import pytest
from support.mechanism_builder import near, shipped

from uk_dynamics.compilation.emit.constants import constants
from uk_dynamics.compilation.emit.generate import batch_source, source
from uk_dynamics.compilation.emit.servo_source import servo_source
from uk_dynamics.compilation.trace import regular_equation
from uk_dynamics.compilation.trace.elimination import Elimination
from uk_dynamics.compilation.trace.independent_rows import GramSchmidt
from uk_dynamics.compilation.trace.sparse_vectors import sparse
from uk_dynamics.compilation.trace.symbols import Graph, as_objects
from uk_dynamics.compilation.trace.terms import SymbolicTerms
from uk_dynamics.compilation.trace.tree_factor import TreeFactor
from uk_dynamics.core.linalg import rank_rule
from uk_dynamics.mechanism.tasks import Tasks

KINDS = (GramSchmidt, Elimination)
PARENTS = (-1, 0, 1, 0, 3, 4)  # two branches
TAKEN = {0: 2, 1: 4, 3: 5}  # rows, with the columns by which they are eliminated


class Example:
    """Numbers where otherwise symbols are: a tree, and four rows, the third one redundant."""

    def __init__(self, kind):
        rng = np.random.default_rng(4)
        H = np.eye(6)
        for i in range(6):
            j = PARENTS[i]
            while j >= 0:
                H[i, j] = rng.standard_normal()
                j = PARENTS[j]
        self.M = H.T @ np.diag(rng.uniform(0.5, 2.0, 6)) @ H
        self.A = rng.standard_normal((4, 6))
        self.A[0, 3:] = self.A[1, 1:3] = 0.0
        self.A[2] = 2.0 * self.A[0] - self.A[3]
        self.b = self.A @ rng.standard_normal(6)
        self.g = rng.standard_normal(6)
        none = as_objects([])
        terms = SymbolicTerms(as_objects(self.M), none, none, none, none, none, Graph())
        self.factor = TreeFactor(terms, PARENTS)
        self.rows = kind([self.factor.whiten(sparse(row)) for row in self.A], TAKEN, self.factor)
        self.answer = self.rows.answer(self.factor.whiten(sparse(self.g)), self.b)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_answer_with_the_force_of_the_fundamental_equation(kind):
    example = Example(kind)
    M, A, factor = example.M, example.A, example.factor
    whole = factor.unwhiten(example.answer.motion)
    free = np.linalg.solve(M, example.g)
    root = np.linalg.cholesky(np.linalg.inv(M))  # M^-1 = root rootᵀ
    expected = free + root @ np.linalg.pinv(A @ root) @ (example.b - A @ free)
    near(np.array(whole), expected, relative=1e-12)
    force = np.array(factor.multiply_factor(example.answer.force))
    near(force, M @ expected - example.g, relative=1e-12)
    multipliers = [example.answer.multipliers.get(r, 0.0) for r in range(4)]
    near(A.T @ multipliers, force, relative=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_what_decides_on_the_rank_is_that_of_the_whitened_rows(kind):
    example = Example(kind)
    rows, whitened = example.rows, example.A @ np.linalg.cholesky(np.linalg.inv(example.M))
    near(np.array(rows.squares), (whitened**2).sum(axis=1), relative=1e-12)
    assert rows.residual_squares.keys() == {2}
    assert rows.residual_squares[2] == pytest.approx(0.0, abs=1e-28)  # the square of rounding
    scaled = whitened / np.sqrt(rows.squares)[:, None]
    expected = (np.linalg.pinv(scaled[list(TAKEN)]) ** 2).sum()
    found = rows.inverse_square(rows.squares)
    assert expected * (1.0 - 1e-12) <= found <= 20.0 * expected  # a bound, and not far away


def test_admissible_coordinates_are_those_of_the_motions_that_rows_leave():
    example = Example(Elimination)
    force = np.random.default_rng(8).standard_normal((6, 2))
    found = np.array([example.rows.admissible(example.factor.whiten(sparse(g))) for g in force.T])
    inverse = np.linalg.inv(example.M)
    A = example.A[list(TAKEN)]
    reactions = inverse @ A.T @ np.linalg.solve(A @ inverse @ A.T, A @ inverse)
    near(found @ found.T, force.T @ (inverse - reactions) @ force, relative=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_multipliers_of_redundant_rows_are_of_least_norm(kind):
    example = Example(kind)
    kernel = [example.rows.dependence(2)]
    vanishing = np.array([kernel[0].get(r, 0.0) for r in range(4)])
    assert vanishing[2] == 1.0
    near(vanishing @ example.A, np.zeros(6), relative=1e-12)
    found = regular_equation.least_multipliers(example.answer.multipliers, kernel, 4)
    force = np.array(example.factor.multiply_factor(example.answer.force))
    near(np.array(found), np.linalg.pinv(example.A.T) @ force, relative=1e-12)
    # row 1 has no part in it
    assert regular_equation.determined_rows(kernel, example.rows.squares) == [0.0, 1.0, 0.0, 0.0]


def test_a_mass_that_is_not_positive_is_told_from_one_that_is():
    for masses, sign in (([2.0, 3.0], 1.0), ([2.0, -3.0], -1.0)):
        none = as_objects([])
        terms = SymbolicTerms(as_objects(np.diag(masses)), none, none, none, none, none, Graph())
        assert np.sign(TreeFactor(terms, (-1, 0)).least) == sign


def test_rows_are_taken_that_are_independent_at_the_start():
    assert regular_equation.independent_at_start(shipped("five_bar")).keys() == {0, 2, 3}
    assert regular_equation.independent_at_start(shipped("landing_leg")) == {}  # switched
    assert (
        len(regular_equation.independent_at_start(shipped("rrr3_modular"))) == 18
    )  # level by level


def test_c_has_each_constant_of_the_rank_rule_once_and_from_python():
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    sources = source(machine), batch_source(machine), servo_source(tasks)
    stated = {name: x for name, x in constants().items() if hasattr(rank_rule, name)}
    assert stated["LEAST_PART"] == rank_rule.LEAST_PART
    for text in sources:
        for name, value in stated.items():
            defined = re.findall(rf"#define UK_{name}\s+(\S+)", text)
            assert [float(number) for number in defined] == [value]
