# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""State, inputs, the Dynamics protocol and its interpreted reference."""

from uk_dynamics.mechanism.dynamics.arguments import (
    METHODS,
    require_finite,
    require_finite_reference,
    without_forces,
)
from uk_dynamics.mechanism.dynamics.batches_and_rollouts import (
    INFINITE,
    evaluate_each,
    goes_over_contacts,
    put,
    roll_each,
    roll_smoothly,
    sample_each,
)
from uk_dynamics.mechanism.dynamics.constraint_activation import Switched, switch
from uk_dynamics.mechanism.dynamics.derivatives import (
    FOLLOWS_WITHIN,
    Derivative,
    Derivatives,
    DerivativeStatus,
    EquationDerivatives,
    Groups,
    Quantities,
    column_count,
    column_groups,
    effort_columns,
)
from uk_dynamics.mechanism.dynamics.dynamics import BACKENDS, Backend, Dynamics
from uk_dynamics.mechanism.dynamics.equation_terms import EquationTerms, Solver, StructuralRows
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics, Prepared
from uk_dynamics.mechanism.dynamics.motion import (
    SLIPS,
    STICKS,
    CompiledController,
    CompiledLaw,
    ContactEffort,
    ContactTables,
    EffortQueue,
    Instants,
    Law,
    LawInC,
    Motion,
    MotionSegment,
    Told,
    law_of,
)
from uk_dynamics.mechanism.dynamics.nonideal_forces import workless
from uk_dynamics.mechanism.dynamics.servo_evaluation import (
    Demand,
    References,
    Regression,
    RobustDemand,
    Robustness,
    ServoEvaluator,
    ServoOutcome,
    Standing,
    TrackingErrors,
)
from uk_dynamics.mechanism.dynamics.state_projection import (
    STEP_CONSTANTS,
    jump_constants,
    project_step,
)
