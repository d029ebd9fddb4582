# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks that ask for less near a configuration, through which momentum carries the machine.

The rule is written over arrays of floats or of symbols; the generated C is traced from it.
"""

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, cosine, polar_angle, sine, where
from uk_dynamics.core.servo.contact_share_rule import risen


def relaxed_share(position: Reals, at: Reals, within: Reals, blend: Reals, every: Reals) -> Reals:
    """Part of what a task would add to the free motion that it asks for, 0 to 1, (rows,).

    Nothing is asked up to a distance from a place, all of it a blend further on, in m or rad; such
    places are every so far apart, or there is one, where that is 0.
    """
    away = position - at
    turn: Reals = np.where(every > 0.0, every, 1.0) / np.pi
    phase = away / turn
    near: Reals = turn * abs(polar_angle(sine(phase), abs(cosine(phase))))
    straight: Reals = abs(away)
    distance = where(above(every, 0.0), near, straight)
    return risen((distance - within) / blend)
