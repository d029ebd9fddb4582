# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Colours of arrows and targets that the machine itself does not have."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from uk_dynamics.colours import BLUE, FORCE, RGB, TARGET, TORQUE
from uk_dynamics.mechanism.resolution import Array

# Strong colours that are told apart with any colour vision; Okabe and Ito's come first.
_CANDIDATES: tuple[RGB, ...] = (
    *(FORCE, TORQUE, TARGET, BLUE),
    (220, 0, 90),
    (120, 40, 200),
    (60, 180, 0),
    (0, 190, 220),
)
_DIFFERENT = 0.25  # distance in Oklab from which colours are not confused
_ASIDE = 0.08  # what being later among the candidates costs


@dataclass(frozen=True)
class MarkColours:
    """Colours of arrows and balls."""

    force: RGB
    torque: RGB
    target: RGB


def mark_colours(machine: Iterable[tuple[float, ...]]) -> MarkColours:
    """Choose among the candidates those that differ from a machine's colours, RGB of 0 to 1."""
    used = [_oklab(np.array(colour[:3])) for colour in machine]
    chosen: list[RGB] = []
    for _ in range(3):
        # the first that differs enough, else the one that differs most
        distances = [
            min((float(np.linalg.norm(_of(c) - other)) for other in used), default=1.0)
            for c in _CANDIDATES
        ]
        worth = [
            min(distance, _DIFFERENT) - _ASIDE * k / len(_CANDIDATES)
            for k, distance in enumerate(distances)
        ]
        colour = _CANDIDATES[int(np.argmax(worth))]
        chosen.append(colour)
        used.append(_of(colour))
    return MarkColours(*chosen)


def _of(colour: RGB) -> Array:
    return _oklab(np.array(colour) / 255.0)


def _oklab(colour: Array) -> Array:
    """Björn Ottosson's perceptual coordinates of an sRGB colour; lightness counts half.

    Light and shadow change lightness on every surface, so hue has to tell colours apart.
    """
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    mixed = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    found: Array = mixed @ np.cbrt(cones @ linear) * (0.5, 1.0, 1.0)
    return found
