# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The centre of mass of a machine."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import RobotModel


class MassCentre:
    """Finds it from where the links are."""

    def __init__(self, model: RobotModel) -> None:
        """Look up masses."""
        links = {link.name: link for link in model.description.links}
        ordered = [links[name] for name in model.link_names]
        self._masses = np.array([link.mass for link in ordered])
        self._centres = np.array([link.center_of_mass for link in ordered]).reshape(-1, 3)
        self.mass = float(self._masses.sum())

    def at(self, rotation: Array, translation: Array) -> Array:
        """Its position, (3,), in m, for rotations (n, 3, 3) and translations (n, 3) of links."""
        count = len(self._masses)
        if not self.mass > 0.0:
            return np.zeros(3)
        turned = np.einsum("nij,nj->ni", rotation[:count], self._centres)
        found: Array = self._masses @ (turned + translation[:count]) / self.mass
        return found
