"""Counting floating point operations: arrays that tally what NumPy does with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass
class Tally:
    """Number of floating point operations so far."""

    flops: int = 0  # additions, multiplications, divisions and roots


_current: ContextVar[Tally | None] = ContextVar("tally", default=None)
_ELEMENTWISE = {np.add, np.subtract, np.multiply, np.divide, np.sqrt}


@contextmanager
def counting() -> Iterator[Tally]:
    """Count what happens to counted arrays inside the block."""
    tally = Tally()
    token = _current.set(tally)
    try:
        yield tally
    finally:
        _current.reset(token)


def charge(flops: int) -> None:
    """Add operations that cannot be seen, such as those of a library, at a known price."""
    tally = _current.get()
    if tally is not None:
        tally.flops += flops


class CountedArray(np.ndarray):
    """An array whose arithmetic is counted; a product (m, n)(n, p) is 2 m n p, as in the paper.

    Comparisons, copies, signs and absolute values cost nothing.
    """

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        """Do it on plain arrays, and count."""
        plain = [np.asarray(x) if isinstance(x, CountedArray) else x for x in inputs]
        if out is not None:
            options["out"] = tuple(np.asarray(x) for x in out)
        result = getattr(ufunc, method)(*plain, **options)
        charge(_price(ufunc, method, plain, result))
        if out is not None:
            return out[0]
        return result.view(CountedArray) if isinstance(result, np.ndarray) else result

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's outer product forgets whose product it is."""
        if func is np.outer:
            return np.multiply(np.ravel(args[0])[:, None], np.ravel(args[1])[None, :])
        return super().__array_function__(func, types, args, kwargs)


def counted(values: ArrayLike) -> Any:
    """A counted copy of an array."""
    return np.array(values, dtype=float).view(CountedArray)


def _price(ufunc: np.ufunc, method: str, inputs: list[Any], result: Any) -> int:
    if ufunc is np.matmul:
        return 2 * int(np.size(result)) * int(np.shape(inputs[0])[-1])
    if ufunc not in _ELEMENTWISE:
        return 0
    if method == "reduce":
        return int(np.size(inputs[0])) - int(np.size(result))
    return int(np.size(result))
