# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters and geometry of machines from recordings of their motion."""

from uk_dynamics.identification.calibration import (
    PLACES,
    Calibration,
    Placement,
    Tracked,
    calibrate,
    facts,
    read_tracker,
)
from uk_dynamics.identification.excitation import EVALUATIONS, Excitation, excitation
from uk_dynamics.identification.identifiability import (
    BaseParameter,
    Identifiability,
    identifiability,
    random_motions,
)
from uk_dynamics.identification.identification import Fit, Identification, fit, identify
from uk_dynamics.identification.linear_parameters import (
    DEFAULT,
    LinearParameter,
    linear_parameters,
)
from uk_dynamics.identification.measured_motion import MeasuredMotion, measured_motion
from uk_dynamics.identification.possible_values import Estimate
from uk_dynamics.identification.regressor import Equations, Motions, Regressor
from uk_dynamics.identification.report import report, summary
