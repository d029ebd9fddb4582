# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The problems of the library: what moves, how long, by which steps, compared with what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from uk_dynamics import Mechanism, State, Trajectory
from uk_dynamics_studies.papers.iftomm import (
    bricard,
    four_bars,
    governor,
    pendulum,
    published,
    squeezer,
)
from uk_dynamics_studies.papers.iftomm.pendulum import Array
from uk_dynamics_studies.papers.iftomm.published import Published

Drift = Callable[[Trajectory], Array]
_SAMPLES = 1000  # of a motion
_MANY = 40  # four-bars, as the library asks for


@dataclass(frozen=True)
class Problem:
    """One of them."""

    name: str
    mechanism: Mechanism
    start: State
    duration: float  # s
    shown: str  # the joint that figures show
    motion: Callable[[Array], Mapping[str, Array]]  # reference: positions by joint at times
    step: float  # s, of rk4
    shorter: float  # s, of a shortened study; four-bars pass their first flat configuration
    drift: Drift | None  # energy that nothing accounts for, at each sample, in J
    published: Published
    tau: Mapping[str, float] | None = None  # N m

    @property
    def sample_period(self) -> float:
        """In s."""
        return self.duration / _SAMPLES


def problems(*, quick: bool = False) -> list[Problem]:
    """All problems; quick leaves out the one that takes half a minute to compile."""
    found = [_pendulum(), _four_bars(2, published.TWO_FOUR_BARS)]
    if not quick:
        found.append(_four_bars(_MANY, published.NOTHING))
    return [*found, _squeezer(), _bricard(), _governor()]


def _pendulum() -> Problem:
    mechanism = Mechanism.from_file("simple_pendulum")
    return Problem(
        name="simple pendulum",
        mechanism=mechanism,
        start=mechanism.start(),
        duration=10.0,
        shown="bob_x",
        motion=pendulum.motion,
        step=5e-4,
        shorter=1.0,
        drift=_gained,
        published=published.PENDULUM,
    )


def _four_bars(cells: int, known: Published) -> Problem:
    mechanism = four_bars.mechanism(cells)
    # No stage of these steps comes nearer to flat than 5e-4 rad, where rounding is enlarged.
    step = 2e-3 if cells < _MANY else 1.25e-3
    return Problem(
        name=f"N-four-bar, N = {cells}",
        mechanism=mechanism,
        start=four_bars.start(mechanism, cells),
        duration=10.0,
        shown="crank_0",
        motion=lambda t: four_bars.motion(cells, t),
        step=step,
        shorter=1.2,
        drift=_gained,
        published=known,
    )


def _squeezer() -> Problem:
    mechanism = Mechanism.from_file("andrews_squeezer")
    return Problem(
        name="Andrews' squeezer",
        mechanism=mechanism,
        start=mechanism.start(),
        duration=0.05,
        shown="beta",
        motion=squeezer.motion,
        step=1.25e-5,
        shorter=published.SQUEEZER_TIME,
        drift=lambda moved: (
            _gained(moved) - squeezer.TORQUE * (moved.position("beta") - moved.position("beta")[0])
        ),
        published=published.SQUEEZER,
        tau={"beta": squeezer.TORQUE},
    )


def _bricard() -> Problem:
    mechanism = Mechanism.from_file("bricard")
    return Problem(
        name="Bricard's mechanism",
        mechanism=mechanism,
        start=mechanism.start(),
        duration=10.0,
        shown="hinge_1",
        motion=bricard.motion,
        step=5e-3,
        shorter=1.5,
        drift=_gained,
        published=published.BRICARD,
    )


def _governor() -> Problem:
    mechanism = Mechanism.from_file("flyball_governor")
    arms = {"right": governor.ANGLE, "left": governor.ANGLE}
    return Problem(
        name="stiff flyball governor",
        mechanism=mechanism,
        start=mechanism.state(
            arms | {"shaft": 0.0, "slider": governor.HEIGHT}, {"shaft": governor.SPIN}
        ),
        duration=10.0,
        shown="slider",
        motion=governor.motion,
        step=3.125e-4,
        shorter=0.05,
        drift=None,
        published=published.GOVERNOR,
    )


def _gained(moved: Trajectory) -> Array:
    gained: Array = np.asarray(moved.energy) - moved.energy[0]
    return gained
