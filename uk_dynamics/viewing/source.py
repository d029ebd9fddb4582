# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a view shows at one instant, what is known about it, and what its buttons may ask for."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from uk_dynamics.constraints.references import References
from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.resolution import Array, Energy, Inputs, Residual, State
from uk_dynamics.viewing.scene.marks import Marks


@dataclass(frozen=True)
class Snapshot:
    """A state and what acts on the mechanism there."""

    state: State  # where the mechanism is
    inputs: Inputs  # what acts on it
    efforts: Array  # motor efforts, (motors,), in N or N·m
    message: str = ""  # what the user should know; empty when there is nothing
    mode: str = ""  # what goes on, such as ``running``, in a word or two
    # motors at limits and tasks that are not reached, one line each; None: unknown
    unreached: tuple[str, ...] | None = None
    task_time: float | None = None  # time of the tasks' references, in s; None: that of the state
    # what replaces references of the tasks file, by task name
    followed: References = field(default_factory=dict)


class Source(ABC):
    """Something that moves, or stands to be posed; all calls come from one thread.

    A source does what it overrides; asked for anything else it does nothing.
    """

    controls: tuple[str, ...] = ("play", "pause", "step", "reset")  # those that there are
    can_pose = False  # whether joints and frames can be led by hand
    duration = 0.0  # of what is played back, in s; 0: it has no end
    choice = "motors"  # what is chosen by name among ``motors``: what drives them, or a mode
    # what may drive the motors, see :class:`MotorChoices`; empty: not to be chosen here
    motors: tuple[str, ...] = ()
    driving = ""  # which of ``motors`` does

    def drive(self, choice: str) -> None:  # noqa: B027 - most sources have no choice
        """Let another of ``motors`` drive them."""

    @abstractmethod
    def control(self, action: str) -> None:
        """Do one of ``controls``."""

    def seek(self, t: float) -> None:  # noqa: B027 - most sources have no timeline
        """Go to a time of what is played back, in s."""

    def lead_joint(self, name: str, target: float) -> None:  # noqa: B027 - see ``can_pose``
        """Lead a joint to a position, in rad or m."""

    def lead_frame(self, link: str, target: Array) -> None:  # noqa: B027 - see ``can_pose``
        """Lead the origin of a link to a point in world axes, (3,), in m."""

    @abstractmethod
    def frame(self, elapsed: float) -> Snapshot:
        """Advance by elapsed real time, in s, and return where the mechanism is."""


@dataclass(frozen=True)
class Instant:
    """Everything that is known about one instant."""

    snapshot: Snapshot  # state and inputs
    solution: Solution | None  # dynamics there; None where the motion is not determined
    residual: Residual  # of the structural constraints
    energy: Energy  # mechanical energy
    tracking_error: Array  # of each task row, (mt,), in m or rad
    marks: Marks  # forces of the loop joints, and frames
    centre: Array  # centre of mass, (3,), in m
    message: str  # what the user should know; empty when there is nothing
