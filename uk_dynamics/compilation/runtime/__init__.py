# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled evaluator."""

from uk_dynamics.compilation.emit.layout import ROBUST_KNOWN
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.compilation.runtime.compiled_control import CompiledControl, ControlMemory
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.compilation.runtime.compiled_laws import (
    LAW,
    CompiledDelayCompensation,
    EncoderMemory,
    JointSpaceMemory,
    TransferMemory,
)
from uk_dynamics.compilation.runtime.compiled_loops import (
    CompiledLoops,
    LoopBatch,
    LoopCall,
    LoopMover,
    LoopWork,
)
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo, PastPeriod
from uk_dynamics.compilation.runtime.compiled_standing import CompiledStanding, of_standing
from uk_dynamics.compilation.runtime.deferred import Deferred
from uk_dynamics.compilation.runtime.fallback import forwarded
from uk_dynamics.compilation.runtime.reference_table import ForeignReferenceError, reference_table
