# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters and geometry of machines from recordings of their motion."""

from uk_dynamics.identification.calibration import (
    PLACES,
    Calibration,
    calibrate,
    facts,
    read_tracker,
)
from uk_dynamics.identification.excitation import EVALUATIONS, excitation
from uk_dynamics.identification.generalized_least_squares import identify
from uk_dynamics.identification.identification import Identification, report, summary
from uk_dynamics.identification.linear_parameters import DEFAULT, linear_parameters
from uk_dynamics.identification.regressor import Regressor
