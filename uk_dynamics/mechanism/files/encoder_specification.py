# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Encoders as a reality file declares them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderSpec:
    """What encoders make of the positions of measured joints."""

    resolution: float = 0.0  # step of their numbers, in rad or m; 0: exact
    noise: float = 0.0  # standard deviation before rounding, in rad or m
    filter: float = 0.0  # time constant of the low-pass filter of differences, in s; 0: none
    seed: int = 0  # of the noise
