# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""No library is believed before it has answered as the interpreted evaluator does."""

from uk_dynamics.compilation.verification.answers import (
    batch_answers,
    motion_answers,
    servo_answers,
    state_answers,
)
from uk_dynamics.compilation.verification.comparison import Answers, Comparison, compare
from uk_dynamics.compilation.verification.record import WrongLibraryError, verify
from uk_dynamics.compilation.verification.trials import Trial, trials

__all__ = [
    "Answers",
    "Comparison",
    "Trial",
    "WrongLibraryError",
    "batch_answers",
    "compare",
    "motion_answers",
    "servo_answers",
    "state_answers",
    "trials",
    "verify",
]
