"""Joint states from measurements: passive joints solved from the loops."""

from uk_dynamics.control.estimation.joint_state_estimate import EstimationStatus, JointStateEstimate
from uk_dynamics.control.estimation.state_completion import StateCompletion

__all__ = [
    "EstimationStatus",
    "JointStateEstimate",
    "StateCompletion",
]
