# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names of the joints in a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uk_dynamics.model import RobotModel

if TYPE_CHECKING:
    from viser import ViserServer


class JointLabels:
    """Writes its name at every joint that moves; nothing is made before it is wanted."""

    def __init__(self, server: ViserServer, model: RobotModel) -> None:
        self._scene = server.scene
        moving = set(model.joint_names)
        self._places = {j.name: j.child for j in model.description.joints if j.name in moving}
        self._made: list[Any] = []

    def show(self, visible: bool) -> None:
        """Show them or not."""
        if visible and not self._made:
            # a label is a child of its link's frame and moves with it
            self._made = [
                self._scene.add_label(
                    f"/links/{link}/name_{index}", name, font_screen_scale=0.8, anchor="bottom-left"
                )
                for index, (name, link) in enumerate(self._places.items())
            ]
        for label in self._made:
            label.visible = visible
