"""The end of driving motors, for a reason: efforts go to zero, at once or along a ramp."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from uk_dynamics.ros.effort_ramp import EffortRamp
from uk_dynamics.ros.messages import Array
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.safety import REACTIONS, Fault, Reaction


class SafeStop:
    """Reacts to faults as the table of reactions says.

    Attributes:
        reason: Why motors are not driven any more; empty when nothing is wrong.
    """

    def __init__(
        self,
        node: Node,
        settings: Parameters,
        send: Callable[[Array], None],
        at_the_end: Callable[[], None],
    ) -> None:
        """Prepare.

        Args:
            node: Who drives.
            settings: Has ``command_mode`` and ``ramp_time``.
            send: Commands efforts, (motors,), in N or N·m.
            at_the_end: Called when the ramp is over, or at once; commands the zero.
        """
        self.reason = ""
        self._node = node
        self._settings = settings
        self._at_the_end = at_the_end
        self._ramp = EffortRamp(node, send, at_the_end)

    @property
    def under_way(self) -> bool:
        """Whether efforts are on their way to zero."""
        return self._ramp.active

    def react(self, fault: Fault, reason: str, efforts: Array | None) -> None:
        """Stop for a fault.

        Args:
            fault: What is wrong.
            reason: What was seen, for the user.
            efforts: The last ones, (motors,), in N or N·m; None: none have been commanded.
        """
        self.reason = f"{fault.name.lower()}: {reason}"
        self._node.get_logger().error(self.reason)
        self._ramp.stop()
        reaction = REACTIONS[fault][self._settings["command_mode"]]
        duration = self._settings["ramp_time"]
        if reaction is Reaction.RAMP and duration > 0.0 and efforts is not None:
            self._ramp.start(efforts, duration)
        else:
            self._at_the_end()

    def cancel(self) -> None:
        """Send nothing any more."""
        self._ramp.stop()
