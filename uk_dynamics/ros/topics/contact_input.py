# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which contacts are closed, from the normal forces that sensors measure."""

import math
from collections.abc import Collection

from sensor_msgs.msg import JointState

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ActiveConstraints
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.timing.clock import Watchdog
from uk_dynamics.ros.topics.qos import MEASURED_QOS


def standing_points(
    message: JointState, names: Collection[str], least: float
) -> tuple[frozenset[str], str]:
    """Contacts, of some names, on which at least a force acts, in N; or what is wrong.

    The message has their normal forces as efforts, by their names, which may end in ``.normal``.
    """
    if len(message.effort) != len(message.name):
        return frozenset(), f"{len(message.effort)} efforts for {len(message.name)} names"
    forces = {
        name.removesuffix(".normal"): force
        for name, force in zip(message.name, message.effort, strict=True)
    }
    if missing := [name for name in names if name not in forces]:
        return frozenset(), f"no force of {', '.join(missing[:8])}"
    if not all(math.isfinite(forces[name]) for name in names):
        return frozenset(), "a force is not finite"
    return frozenset(name for name in names if forces[name] >= least), ""


class ContactInput:
    """The contacts of tasks that are closed, from ``contact_topic``."""

    def __init__(self, settings: Parameters, tasks: Tasks, problems: MessageProblems) -> None:
        assert tasks.standing is not None
        self._settings, self._standing = settings, tasks.standing
        self._points: frozenset[str] = frozenset()
        self._watchdog, self._waiting = Watchdog(), Watchdog()
        problems.listen(JointState, settings["contact_topic"], self._receive, MEASURED_QOS)

    def begin(self) -> None:
        """Wait for the first message from now on."""
        self._waiting.feed()

    def closed(self, active: ActiveConstraints | None) -> ActiveConstraints | None:
        """What is on with these contacts; before the first message as it was given."""
        if not self._watchdog.fed:
            return active
        return self._standing.with_closed(active, self._points)

    @property
    def silent(self) -> str:
        """What there is to say where nothing usable has come for ``state_timeout``; or nothing."""
        age = min(self._watchdog.age, self._waiting.age)
        if age <= self._settings["state_timeout"]:
            return ""
        since = f" for {age:.3g} s" if self._watchdog.fed else ""
        return f"nothing usable on {self._settings['contact_topic']}{since}"

    def _receive(self, message: JointState) -> str:
        names = self._standing.names
        points, problem = standing_points(message, names, self._settings["standing_force"])
        if not problem:
            self._points = points
            self._watchdog.feed()
        return problem


def contact_input(
    settings: Parameters, tasks: Tasks | None, problems: MessageProblems
) -> ContactInput | None:
    """What listens to contacts where tasks detect some and a topic is named; else None."""
    standing = None if tasks is None else tasks.standing
    if tasks is None or standing is None or not settings["contact_topic"]:
        return None
    detected = any(stand.spec.stands == "detected" for stand in standing.entries)
    return ContactInput(settings, tasks, problems) if detected else None
