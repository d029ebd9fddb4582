# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inputs of many states and the arrays for their results, as C gets them."""

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.core.equation import results
from uk_dynamics.mechanism.dynamics import StructuralRows
from uk_dynamics.mechanism.resolution import Array, BatchSolution, Inputs, Plan, States

_OTHER_NUMBERS = tuple(x for x in results() if x.kind is not np.float64)
BatchCall = structure("uk_batch")
TrajectoriesCall = structure("uk_trajectories")


def beyond_projection(inputs: Inputs, layout: Layout) -> bool:
    """Whether inputs are beyond what is compiled, even where nothing accelerates."""
    active = inputs.active
    held = active is not None and (active.features or active.distinct)
    unknown = inputs.nonideal is not None or (inputs.references and not layout.followed)
    return bool(unknown or held)


def beyond_compiled(inputs: Inputs, layout: Layout) -> bool:
    """Whether inputs are beyond what is compiled; friction of what slides is."""
    slides = inputs.active is not None and inputs.active.sliding
    return beyond_projection(inputs, layout) or bool(slides)


class CommonInputs(NamedTuple):
    """Inputs common to many states."""

    stabilize: bool  # whether b contains the stabilisation
    active: Array  # 1 for rows that act, (m,)
    followed: Array | None  # values, rates, accelerations of references, (1 or K, 3 m)
    parameters: Array | None  # of the mechanism, (parameters,)
    sampled: bool = False  # whether references are samples, which go in steps by nature

    @classmethod
    def sample(
        cls, rows: StructuralRows, layout: Layout, times: Array, inputs: Inputs
    ) -> "CommonInputs":
        """References at some instants, the rows that act, and parameters."""
        m = max(len(rows.constraints), 1)  # C knows no empty arrays
        mask = rows.hierarchy.mask(inputs.active)
        active = np.ones(m) if mask is None else mask.astype(float)
        followed = None
        if layout.followed:
            followed = np.zeros((len(times), 3 * m))
            for row, t in zip(followed, times, strict=True):
                sample = rows.reference(float(t), inputs)
                if sample is not None:
                    row[:] = np.concatenate(sample)
        return cls(inputs.stabilize, active, followed, layout.parameters, bool(inputs.references))

    @classmethod
    def of_steps(
        cls, rows: StructuralRows, layout: Layout, given: Plan, inputs: Inputs
    ) -> "CommonInputs":
        """The same of trajectories; steps that end on the constraints need no stabilisation."""
        instants = given.half_steps if layout.followed else np.zeros(0)
        return cls(not given.project, *cls.sample(rows, layout, instants, inputs)[1:])


class Answers:
    """What C answers at K states, one array after the other in a block of memory."""

    def __init__(
        self,
        count: int,
        nv: int,
        rows: int,
        *,
        forces: bool,
        rates: bool = False,
        empty: Callable[[int], Any] = np.empty,
    ) -> None:
        """Lay them out, forces and rates only where they are wanted, in a block that is made so."""
        wanted = _wanted(forces, rates)
        sizes = {"1": 1, "NV": nv, "M": rows}
        self._count, self._wanted, size = count, wanted, 0
        #: First double of each answer in the block, and doubles of each state.
        self.places: dict[str, tuple[int, int]] = {}
        for name, numbers in wanted.items():
            self.places[name] = size, sizes[numbers]
            size += count * sizes[numbers]
        self.block = empty(size)

    def named(self, block: Array) -> dict[str, Array]:
        """The answers in a block by the names that C has for them."""
        found: dict[str, Array] = {}
        for name, (first, size) in self.places.items():
            part = block[first : first + self._count * size]
            found[name] = part if self._wanted[name] == "1" else part.reshape(self._count, size)
        return found

    def solution(self, block: Array) -> tuple[BatchSolution, Array]:
        """Solutions in a block, and per state 0, or another number where C has none, (K,)."""
        found = self.named(block)
        arrays = {x.name: found[x.memory] for x in results() if x.memory in found}
        for x in _OTHER_NUMBERS:
            if x.name in arrays:
                arrays[x.name] = arrays[x.name].astype(x.kind)
        return BatchSolution(**arrays), found["failed"]


@cache
def _wanted(forces: bool, rates: bool) -> dict[str, str]:
    """Fields of the memory whose numbers come back, and how many of each."""
    found = {x.memory: str(x.size) for x in results(always=None if forces else True)}
    return found | {"failed": "1"} | ({"residual": "M", "rate": "M"} if rates else {})


def in_memory(array: Array) -> int:
    """Where an array stands in the memory of this process."""
    try:  # a quarter of the time
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it is not to be written to, or empty
        return array.ctypes.data


def _row(address: Callable[[Any], int], array: Any, row: int = 0) -> int | None:
    return None if array is None else address(array) + row * array.strides[0]


def batch_call(
    given: States,
    common: CommonInputs,
    answers: Answers,
    first: int,
    end: int,
    address: Callable[[Any], int] = in_memory,
) -> ctypes.Structure:
    """The structure for states first … end, whose arrays stand where ``address`` says."""
    at = partial(_row, address)
    followed = common.followed
    many = len(given.t) > 1
    values: dict[str, float | int | None] = {
        "count": end - first,
        "t_stride": int(many),
        "stabilize": common.stabilize,
        "t": at(given.t, first if many else 0),
        "active": at(common.active),
        "p": at(common.parameters),
    }
    for name in ("q", "v", "tau"):
        values[name] = at(getattr(given, name), first)
    if followed is not None:
        several = len(followed) > 1
        values["followed_stride"] = followed.shape[1] * several
        values["followed"] = at(followed, first if several else 0)
    block = address(answers.block)
    for name, (place, size) in answers.places.items():
        values[name] = block + 8 * (place + first * size)
    return BatchCall(**values)


def trajectories_call(
    given: Plan,
    common: CommonInputs,
    first: int,
    end: int,
    outputs: dict[str, Any],
    address: Callable[[Any], int] = in_memory,
) -> ctypes.Structure:
    """The structure for trajectories first … end, whose arrays stand where ``address`` says."""
    at = partial(_row, address)
    states, steps, nv = given.tau.shape
    values: dict[str, float | int | None] = {
        "count": end - first,
        "steps": given.steps,
        "every": given.every,
        "tau_state": steps * nv if states > 1 else 0,
        "tau_step": nv if steps > 1 else 0,
        "euler": given.method == "semi_implicit_euler",
        "project": given.project,
        "sampled": common.sampled,
        "t": given.t,
        "dt": given.dt,
        "stabilize": common.stabilize,
        "q": at(given.q, first),
        "v": at(given.v, first),
        "tau": at(given.tau, first if states > 1 else 0),
        "active": at(common.active),
        "p": at(common.parameters),
        "followed": at(common.followed),
    }
    for name, array in outputs.items():
        values[name] = at(array, first)
    return TrajectoriesCall(**values)
