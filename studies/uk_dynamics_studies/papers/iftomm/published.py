# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What others have published for the problems: processor times, and drifts of the energy.

The library is that of the IFToMM Technical Committee for Multibody Dynamics
(iftomm-multibody.org/benchmark), the problems are those of M. González, D. Dopico, U. Lugrís and
J. Cuadrado, *A benchmarking system for MBS simulation software: problem standardization and
performance measurement*, Multibody System Dynamics 16 (2006) 179–190.

Times and drifts are those of the solutions submitted with OpenSim 3.2 (L. Tagliapietra, M. Vivian,
R. Caracciolo, M. Reggiani, *Evaluation of the biomechanical simulator OpenSim on a multi-body
system benchmark*, ECCOMAS 2015), from their public manual: on an Intel Core i5-4570 at 3.2 GHz;
drifts are read off its graphs, downwards. They are the smallest drifts that were found.
"""

from __future__ import annotations

from dataclasses import dataclass

TIME_SHARE = 0.1  # of the best published time: what is to be reached
ACCURACY = 1e-6  # m or rad, from the references, over the whole time


@dataclass(frozen=True)
class Published:
    """Figures of the best published solution."""

    time: float | None  # of a processor, in s
    drift: float | None  # largest change of the energy that nothing accounts for, in J


NOTHING = Published(None, None)
PENDULUM = Published(0.637, 4.0e-11)
TWO_FOUR_BARS = Published(0.455, 2.9e-7)
SQUEEZER = Published(0.384, 3.4e-7)
BRICARD = Published(0.258, 9.0e-7)
GOVERNOR = Published(0.233, None)  # its dampers take energy

# State of Andrews' mechanism after 0.03 s, from the test set for initial value problem solvers of
# the universities of Bari and Amsterdam (CWI): PSIDE with tolerances of 1e-14 on a Cray C90.
SQUEEZER_TIME = 0.03  # s
SQUEEZER_STATE = {  # rad
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
