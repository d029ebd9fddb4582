# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names in an SDF model: links, joints and frames share one space, and some are its own."""

from __future__ import annotations

from collections.abc import Iterable

from uk_dynamics.conversion.export.machine import Machine
from uk_dynamics.model.urdf import WORLD


class SdfNames:
    """Names that differ from each other; joints keep theirs, since states are named by them."""

    def __init__(self, machine: Machine) -> None:
        """Choose a name for each link and joint."""
        self._taken = {WORLD}
        self._machine = machine
        self.model = _plain(machine.mechanism.name)  # name of the model
        self._joints = self._chosen("joint", (joint.name for joint in machine.joints))
        links = (link.name for link in machine.links if link.name != WORLD)
        self._links = self._chosen("link", links) | {WORLD: WORLD}
        # name of the joint that holds the root in the world
        self.mount = self._free(f"{_plain(machine.root)}_mount", "joint")

    def joint(self, name: str) -> str:
        """Name of a joint of the tree."""
        return self._joints[name]

    def link(self, name: str) -> str:
        """Name of a link, or of the world."""
        return self._links[name]

    def closure(self, name: str) -> str:
        """A name for a joint that closes a loop."""
        return self._chosen("joint", [name])[name]

    def _chosen(self, kind: str, names: Iterable[str]) -> dict[str, str]:
        found = {name: self._free(_plain(name), kind) for name in names}
        for name, chosen in found.items():
            if name != chosen:
                reason = f"is called {chosen}: SDF has one space for all names"
                self._machine.changed(f"{kind} {name}", reason)
        return found

    def _free(self, name: str, kind: str) -> str:
        while name in self._taken:
            name += f"_{kind}"
        self._taken.add(name)
        return name


def _plain(name: str) -> str:
    """Without what SDF keeps for itself: scopes, and names between double underscores."""
    name = name.replace("::", "_")
    return f"{name}_" if name.startswith("__") and name.endswith("__") else name
