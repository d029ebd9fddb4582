# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What C knows of a mechanism: memory as lists of fields, for Python too, and tables."""

from uk_dynamics.compilation.emit.layout.block import Block
from uk_dynamics.compilation.emit.layout.joint_space_layout import (
    JointSpaceLayout,
    LimitsLayout,
    TransferLayout,
)
from uk_dynamics.compilation.emit.layout.loop_tables import EncoderLayout, LoopTables
from uk_dynamics.compilation.emit.layout.mechanism_layout import (
    DerivativeLayout,
    Layout,
    answer_lists,
    integrates,
    rolls,
)
from uk_dynamics.compilation.emit.layout.reference_codes import (
    BEYOND_TIMES,
    EXPRESSION_OPERATIONS,
    OPERATION_NAMES,
    REFERENCE_HEAD,
    REFERENCE_KINDS,
)
from uk_dynamics.compilation.emit.layout.servo_layout import ROBUST_KNOWN, EffortLayout, ServoLayout
