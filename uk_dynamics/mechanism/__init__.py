from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.tasks import Tasks

__all__ = [
    "Mechanism",
    "Tasks",
]
