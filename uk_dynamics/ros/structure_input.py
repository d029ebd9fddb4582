"""What nodes hear of the structure: which constraints are on, what live ones follow, its time.

Whoever moves a structural constraint (a platform that carries the machine, a cam, the other half of
a cell) publishes on ``<constraint>/reference``, which is no node's own: simulator, controller and
all who evaluate the machine hear the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rclpy.node import Node

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, Inputs
from uk_dynamics.ros.active_constraints import ActiveConstraintsInput
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.live_references import LiveReferences, live_names
from uk_dynamics.ros.shared_time import SharedTime


def structural_references(
    node: Node, mechanism: Mechanism, problems: MessageProblems
) -> LiveReferences[ReferenceSample]:
    """Listen to ``<constraint>/reference`` of every structural constraint that is live.

    Args:
        node: Who listens.
        mechanism: Whose constraints.
        problems: Remembers messages that cannot be used.
    """
    names = live_names(mechanism.spec.constraints)
    return LiveReferences(node, mechanism.references, names, problems)


class StructureInput:
    """Follows what others decide about the structure of a mechanism.

    Attributes:
        origin: The stamp that is its t = 0.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_switched: Callable[[ActiveConstraints], None] | None = None,
    ) -> None:
        """Listen, if something can be switched or is live.

        Args:
            node: Who listens.
            mechanism: Whose constraints they are.
            problems: Remembers messages that cannot be used.
            on_switched: Called after each usable message about what is on.
        """
        self._switched = ActiveConstraintsInput(node, mechanism, problems, on_switched)
        self._live = structural_references(node, mechanism, problems)
        self._time = SharedTime(node, mechanism)
        self.origin = self._time.origin

    @property
    def active(self) -> ActiveConstraints | None:
        """Switchable constraints that are on; None: as the mechanism file says."""
        return self._switched.active

    @property
    def references(self) -> Mapping[str, ReferenceSample]:
        """The last samples by name, without the constraints that nothing came for yet."""
        return self._live.followed

    def inputs(self, tau: Array | None = None) -> Inputs:
        """Inputs of an evaluation now.

        Args:
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
        """
        return Inputs(tau=tau, active=self.active, references=dict(self.references))

    def destroy(self) -> None:
        """Stop listening."""
        self._switched.destroy()
        self._live.destroy()
        self._time.destroy()
