# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""No library is believed before it has answered as the interpreted evaluator does."""

from uk_dynamics.compilation.verification.answers import (
    batch_answers,
    derivative_answers,
    each,
    motion_answers,
    rolled,
    servo_answers,
    state_answers,
    states_of,
)
from uk_dynamics.compilation.verification.comparison import (
    AnswersOfMany,
    Comparison,
    Trial,
    allowed,
    answered,
    compare,
    trials,
)
from uk_dynamics.compilation.verification.verify_library import (
    WrongLibraryError,
    verify,
    wrong_libraries,
)
