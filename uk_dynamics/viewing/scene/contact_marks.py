# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of a mechanism in a scene: where they touch, what they do, forces within their cones."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.colours import CONTACT_OPEN, CONTACT_SLIPS, CONTACT_STICKS, RGB
from uk_dynamics.core.contact import Mode
from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import SLOW, Contact, ContactDynamics, ContactPoints
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

MODE_COLOURS: dict[Mode, RGB] = {
    Mode.OPEN: CONTACT_OPEN,
    Mode.STICK: CONTACT_STICKS,
    Mode.SLIP: CONTACT_SLIPS,
}
_AROUND = 2.0 * np.pi / 16.0 * np.arange(17)  # of the rim of a cone, in rad
_RAYS = 4  # from its apex, every so many corners of the rim
CONE_SEGMENTS = 16 + 16 // _RAYS


@dataclass(frozen=True)
class ContactMarks:
    """Contacts in world axes, a row for each."""

    contacts: tuple[Contact, ...]
    points: Array  # of contact, (c, 3), in m
    axes: Array  # normal, into the child, and tangents, as rows, (c, 3, 3)
    forces: Array  # on each child, (c, 3), in N

    @property
    def colours(self) -> NDArray[np.uint8]:
        """By what each does, (c, 3)."""
        found = [MODE_COLOURS[one.mode] for one in self.contacts]
        return np.array(found, dtype=np.uint8).reshape(-1, 3)

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Whether each force is unique, (c,)."""
        return np.array([one.unique for one in self.contacts], dtype=bool)

    def cones(self, length: float) -> Array:
        """Segments of the cones of friction, (c, 20, 2, 3), in m, at a length per force, m/N.

        The tip of a force that has its scale is within the rim, and on it where the contact slides.
        Cones without height have no size.
        """
        normal = np.array([one.force[0] for one in self.contacts]).reshape(-1, 1)
        radius = normal * np.array([one.friction for one in self.contacts]).reshape(-1, 1)
        circle = (
            np.cos(_AROUND)[None, :, None] * self.axes[:, None, 1]
            + np.sin(_AROUND)[None, :, None] * self.axes[:, None, 2]
        )
        apex = self.points[:, None]
        height = np.where(radius > 0.0, normal, 0.0)
        rim = apex + length * (height[:, :, None] * self.axes[:, :1] + radius[:, :, None] * circle)
        corners = rim[:, :-1:_RAYS]
        rays = np.stack((np.broadcast_to(apex, corners.shape), corners), axis=2)
        return np.concatenate((np.stack((rim[:, :-1], rim[:, 1:]), axis=2), rays), axis=1)


class ContactMarker:
    """Finds the contacts of a mechanism, in memory of its own."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Look up rows and frames."""
        self._dynamics = ContactDynamics(mechanism) if mechanism.one_sided else None
        self._points = ContactPoints(mechanism)
        self.names = self._points.names

    def acting(self, state: State, inputs: Inputs) -> Inputs:
        """The inputs with what closes, sticks and slides, as far as they do not tell.

        At rest, and where nothing is told, that follows from the forces that act; of contacts that
        are told to be closed those that do not stick slide as they move.
        """
        if self._dynamics is None:
            return inputs
        active = inputs.active
        if active is None or not state.v.any():
            try:
                return self._dynamics.beginning(state, inputs)
            except InputError:  # it is inside a surface, or strikes it
                return inputs
        places = self._dynamics.places(state)
        sliding = {
            one.name: slip / np.hypot(*slip)
            for one, slip in zip(self._dynamics.one_sided, places.slip, strict=True)
            if one.friction
            and (one.name in active.names) == (one.dry is None)  # what holds has its name there
            and one.sticking not in active.names
            and np.hypot(*slip) > SLOW
        }
        return replace(inputs, active=replace(active, sliding={**active.sliding, **sliding}))

    def marks(self, state: State, inputs: Inputs, solution: Solution | None) -> ContactMarks:
        """All contacts; without a solution none has a force."""
        if self._dynamics is None or not self.names:
            return ContactMarks((), *(np.zeros(shape) for shape in ((0, 3), (0, 3, 3), (0, 3))))
        if solution is None:
            places, count = self._dynamics.places(state), len(self._dynamics.names)
            every = self._dynamics.contacts_at(places, np.zeros((count, 3)), np.full(count, True))
        else:
            every = self._dynamics.contacts(state, inputs, solution)
        found = {one.name: one for one in every}
        contacts = tuple(found[name] for name in self.names)
        points, axes = self._points.at(state.q)
        forces = np.array([one.force @ own for one, own in zip(contacts, axes, strict=True)])
        return ContactMarks(contacts, points, axes, forces)
