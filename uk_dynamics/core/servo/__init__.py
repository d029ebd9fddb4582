# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law: distribution, lemmas of the servo paper, actuation, completion of a state."""

from uk_dynamics.core.servo import continuation_rule, control_constants
from uk_dynamics.core.servo.contact_share_rule import (
    LEAST_SHARE,
    LONG_AGO,
    NEVER,
    STOOD,
    TOUCHES,
    planned_share,
    standing_step,
)
from uk_dynamics.core.servo.control_constants import (
    AT_LIMIT,
    COMMANDS_UNDER_WAY,
    HELD_BY,
    HELD_WITHIN,
    INDEPENDENT,
    INTERNAL_REACHED,
    NEGLIGIBLE_DELAY,
    NOTICEABLE,
    SAME_EFFECT,
    SERVED,
)
from uk_dynamics.core.servo.correction_rule import (
    DEVIATIONS,
    OPEN,
    SLOWER,
    Adaptation,
    Instant,
    Learned,
    lag_share,
    learned,
    observed,
    settled_gain,
)
from uk_dynamics.core.servo.encoder_rule import reading
from uk_dynamics.core.servo.lemmas import servo_lemmas, solutions
from uk_dynamics.core.servo.limited_allocation import (
    SEARCH_CONSTANTS,
    LimitedAllocation,
    inside_pyramids,
    within_pyramids,
)
from uk_dynamics.core.servo.loop_factors import LoopFactors, Split, free_motions, undetermined
from uk_dynamics.core.servo.motor_limits_rule import LIMITS, PAST, effort_bounds, remembered
from uk_dynamics.core.servo.period_steps import (
    POWERS,
    Measurement,
    along_path,
    faded,
    measurement,
    passage,
    path_to_rest,
    predicted,
)
from uk_dynamics.core.servo.relaxation import relaxed_share
from uk_dynamics.core.servo.robust_rule import (
    LEAST_AUTHORITY,
    MARGIN,
    Known,
    Loop,
    RobustTerm,
    highest_gain,
    next_scale,
    robust_term,
    surface,
    surface_rates,
    ultimate_size,
)
from uk_dynamics.core.servo.servo_law import (
    MET,
    ServoSolution,
    actuation,
    lacking,
    motion_efforts,
    servo_efforts,
)
from uk_dynamics.core.servo.velocity_observer_rule import Watched, smoothed, watched
