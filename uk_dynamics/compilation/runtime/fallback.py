# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ``Dynamics`` that leaves to another evaluator what it does not answer itself."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, cast

from uk_dynamics.mechanism.dynamics import Backend, Dynamics
from uk_dynamics.model import RobotModel

_Method = TypeVar("_Method", bound=Callable[..., Any])


def forwarded(method: _Method, to: str = "fallback") -> _Method:
    """The same method of an attribute; looked up, not called, so that a call costs no more."""
    return cast(_Method, property(attrgetter(f"{to}.{method.__name__}"), doc=method.__doc__))


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

    evaluate = forwarded(Dynamics.evaluate)
    acceleration = forwarded(Dynamics.acceleration)
    evaluate_states = forwarded(Dynamics.evaluate_states)
    roll = forwarded(Dynamics.roll)
    motion = forwarded(Dynamics.motion)
    samples = forwarded(Dynamics.samples)
    energy = forwarded(Dynamics.energy)
    residual = forwarded(Dynamics.residual)
    project = forwarded(Dynamics.project)
