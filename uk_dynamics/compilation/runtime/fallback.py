# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ``Dynamics`` that leaves to another evaluator what it does not answer itself."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, cast

from uk_dynamics.mechanism.dynamics import Backend, Dynamics
from uk_dynamics.model import RobotModel

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _forwarded(method: _Method) -> _Method:
    """The same method of ``fallback``; looked up, not called, so that a call costs no more."""
    return cast(_Method, property(attrgetter(f"fallback.{method.__name__}"), doc=method.__doc__))


class Fallback(Dynamics):
    """Every method of :class:`Dynamics`, answered by ``fallback``."""

    def __init__(self, fallback: Dynamics) -> None:
        self.fallback = fallback

    @property
    def rows(self) -> int:
        """Number of constraint rows, m."""
        return self.fallback.rows

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.fallback.model

    @property
    def backend(self) -> Backend:
        """What answers at present."""
        return self.fallback.backend

    evaluate = _forwarded(Dynamics.evaluate)
    acceleration = _forwarded(Dynamics.acceleration)
    evaluate_states = _forwarded(Dynamics.evaluate_states)
    roll = _forwarded(Dynamics.roll)
    motion = _forwarded(Dynamics.motion)
    samples = _forwarded(Dynamics.samples)
    energy = _forwarded(Dynamics.energy)
    residual = _forwarded(Dynamics.residual)
    project = _forwarded(Dynamics.project)
