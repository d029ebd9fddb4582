# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.tasks import Tasks

__all__ = [
    "Mechanism",
    "Tasks",
]
