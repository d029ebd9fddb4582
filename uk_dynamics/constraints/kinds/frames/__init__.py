# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What holds between two frames, or of one frame, without being a joint."""

from uk_dynamics.constraints.kinds.frames.distance import Distance
from uk_dynamics.constraints.kinds.frames.frame import Frame
from uk_dynamics.constraints.kinds.frames.frame_velocity import FrameVelocityRow
