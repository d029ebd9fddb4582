# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reports on a mechanism: rank, mobility, integrability."""

from uk_dynamics.mechanism.analysis.equilibrium import Equilibrium, vanishing_rows
from uk_dynamics.mechanism.analysis.integrability import examine_integrability
from uk_dynamics.mechanism.analysis.linear_system import LinearSystem, Mode
from uk_dynamics.mechanism.analysis.report import MechanismReport, TaskReport, report
