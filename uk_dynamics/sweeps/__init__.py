# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Sweeps: many simulations of one mechanism with varied parameters, initial states and gains."""

from uk_dynamics.sweeps.drawn_machines import LAWS, PICTURES, Robustness, draw, robustness
from uk_dynamics.sweeps.run import Store, sweep
from uk_dynamics.sweeps.sweep_specification import SweepSpec
