# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rates of the tasks' errors behind encoders, once for NumPy, C and lanes.

Velocities of encoders are differences of rounded positions. An observer of the errors takes what
``correction_rule`` knows of a period, ë = d + C u − w θ̂, for what they do within it, and corrects
error, rate and what is lacking there, f, by what is measured of the error itself. With
x = (e, ė, f) and one pole p = 1/(1 + ω h) three times,

    x⁻ = (e + h ė + h² a/2, ė + h a, f),    a = d + C u − w θ̂ + f,                               (1)
    x = x⁻ + (1 − p³, 3 (1 − p)² (1 + p)/(2 h), (1 − p)³/h²) (e_measured − e⁻).

What acts constantly leaves no error; the model's own accelerations are not late.

Friction is that of joints. Differences of their rounded positions are noise, several times the
speed over which it changes its sign: its mean would be wrong as well. So :func:`smoothed` finds
the velocities that friction and damping are of by (1), with x of each joint and a = f. All else is
linear or quadratic in velocities, where such noise leaves the mean alone and a lag would not.

Sources: Morrison: Introduction to sequential smoothing and prediction, 1969, section 13.7 (gains of
a triple pole); Franklin, Powell, Workman: Digital control of dynamic systems, 1998, section 8.2
(observers).
"""

from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, where
from uk_dynamics.core.servo.correction_rule import Instant
from uk_dynamics.core.servo.period_steps import Measurement

JUMPS = (1e-6, 1e-4)  # m or rad, and per s: changes of references that no motion explains


class Watched(NamedTuple):
    """What the velocity observer knows of the errors."""

    state: Reals  # e, ė and f, (3, mt)
    followed: Reals  # values, rates and accelerations of the references, (3, mt)


def watched(
    now: Instant, past: Watched, error: Reals, followed: Reals, explained: Reals, bandwidth: Reals
) -> Watched:
    """What is known after a period, by (1); it begins with what is measured.

    So it does after a pause, and where a reference jumps: nothing moved there.

    Args:
        now: See there.
        past: From the period before.
        error: Of the tasks, measured, (mt,).
        followed: As in the result.
        explained: What estimates of parameters make of it, (mt,).
        bandwidth: ω of each row, in rad/s, (mt,); 0: it has the rate that was measured.
    """
    h, fresh = now.told.elapsed, now.told.fresh
    continues = where(above(bandwidth, 0.0), now.told.differs, 0.0 * error)
    for x, later, past_x, past_later, least in zip(
        *(followed[:2], followed[1:], past.followed[:2], past.followed[1:], JUMPS), strict=True
    ):
        left = x - past_x - 0.5 * h * (later + past_later)
        continues = where(above(abs(left), h * abs(later - past_later) + least), 0.0, continues)
    e, rate, lacking = past.state
    a = now.drift + now.driven - explained + lacking
    e, rate = e + h * rate + 0.5 * h * h * a, rate + h * a
    kept, *gained = _gains(bandwidth, h)
    found = (
        error - kept * (error - e),
        rate + gained[0] * (error - e),
        lacking + gained[1] * (error - e),
    )
    begun = (error, now.rate, 0.0 * error)
    state = np.stack(
        [where(above(continues, 0.5), x, y) for x, y in zip(found, begun, strict=True)]
    )
    state = where(above(fresh, 0.5), state, past.state)
    return Watched(state, where(above(fresh, 0.5), followed, past.followed))


def smoothed(told: Measurement, v: Reals, past: Reals, ahead: Reals, bandwidth: Reals) -> Reals:
    """Motion of joints by (1) without a model, (4, velocities).

    That is by how much they are ahead of it, its velocities and accelerations, and velocities some
    time ahead, in s, (1,). Joints follow references: accelerations change little within 1/ω, (1,).
    Velocities are those over a period, as encoders have them; the past has the first three.
    """
    h, (left, rate, a) = told.elapsed, past
    left = left + h * (v - rate) - 0.5 * h * h * a
    kept, *gained = _gains(bandwidth, h)
    found = kept * left, rate + h * a + gained[0] * left, a + gained[1] * left
    state = [
        where(above(told.fresh, 0.5), where(above(told.differs, 0.5), x, y), z)
        for x, y, z in zip(found, (0.0 * v, v, 0.0 * v), past, strict=True)
    ]
    return np.stack((*state, state[1] + ahead * state[2]))


def _gains(bandwidth: Reals, h: Reals) -> tuple[Reals, Reals, Reals]:
    """What (1) leaves of a difference, and takes of it into rate and acceleration."""
    f = bandwidth * h / (1.0 + bandwidth * h)  # 1 − p
    return (1.0 - f) * (1.0 - f) * (1.0 - f), 1.5 * f * f * (2.0 - f) / h, f * f * f / (h * h)
