"""What other nodes publish about the structure of a mechanism.

Which switchable constraints are active, the references of live constraints, and the stamp of t = 0.
Live structural constraints (a moving platform, a cam, the other half of a cell) listen to
``<constraint>/reference``, a topic outside every node's own names, so that simulator, controller
and all other evaluators receive the same samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.timing.clock import TimeOrigin, nanoseconds, runs_on_simulated_time
from uk_dynamics.ros.topics.active_constraints import TOPIC, from_message
from uk_dynamics.ros.topics.live_references import LiveReferences, live_names
from uk_dynamics.ros.topics.qos import LATCHED_QOS

_ORIGIN_TOPIC = "simulator/time_origin"


def structural_references(
    node: Node, mechanism: Mechanism, problems: MessageProblems
) -> LiveReferences[ReferenceSample]:
    """Subscribe to ``<constraint>/reference`` of every live structural constraint."""
    names = live_names(mechanism.spec.constraints)
    return LiveReferences(node, mechanism.references, names, problems)


class StructureInput:
    """Active constraints, live references and time origin, where the mechanism has any.

    Attributes:
        active: Active switchable constraints; None until the first message: as in the mechanism
            file.
        origin: The common time origin of all evaluators of the mechanism: zero under ``/clock``,
            else the published stamp, else the first stamp received. A stamp is published for
            mechanisms that depend on t.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_switched: Callable[[ActiveConstraints], None] | None = None,
    ) -> None:
        """Subscribe; ``on_switched`` is called after each valid message on active constraints."""
        self.active: ActiveConstraints | None = None
        simulated = runs_on_simulated_time(node)
        self.origin = TimeOrigin(simulated=simulated)
        self._node = node
        self._mechanism = mechanism
        self._problems = problems
        self._on_switched = on_switched
        self._live = structural_references(node, mechanism, problems)
        self._subscriptions = []
        if mechanism.hierarchy.switchable:
            self._subscribe(JointState, TOPIC, self._on_active)
        if mechanism.driven_by_time and not simulated:
            self._subscribe(
                Time, _ORIGIN_TOPIC, lambda stamp: self.origin.latch(nanoseconds(stamp))
            )

    @property
    def references(self) -> Mapping[str, ReferenceSample]:
        """Last samples by constraint, without those that have received nothing yet."""
        return self._live.followed

    def inputs(self, tau: Array | None = None) -> Inputs:
        """Present inputs of an evaluation; ``tau`` are generalized forces, (nv,), None: zero."""
        return Inputs(tau=tau, active=self.active, references=dict(self.references))

    def destroy(self) -> None:
        """Unsubscribe."""
        self._live.destroy()
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _subscribe(self, kind: type, topic: str, receive: Callable[..., None]) -> None:
        self._subscriptions.append(
            self._node.create_subscription(kind, topic, receive, LATCHED_QOS)
        )

    def _on_active(self, message: JointState) -> None:
        active, problem = from_message(self._mechanism, message)
        if active is None:
            self._problems.note(TOPIC, problem)
            return
        self.active = active
        if self._on_switched is not None:
            self._on_switched(active)
