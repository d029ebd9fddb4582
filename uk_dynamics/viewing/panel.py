"""Buttons, sliders and switches of a view; what they ask for is fetched by the view's thread.

Controls change in the server's event loop only, where viser takes in what users do: another thread
could overwrite what the user has just set before it is read.
"""

from __future__ import annotations

import math
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.viewing.poser import Poser
from uk_dynamics.viewing.scene.overlay import Overlay
from uk_dynamics.viewing.source import Source

if TYPE_CHECKING:
    from viser import ViserServer


_NOTHING = "nothing"
_STEPS = 400  # of a slider
_IN_HAND = 2.0  # s after its last move a slider still belongs to the user, who may be typing


class Wishes:
    """Requests of the user since the last picture; of each control only the latest target."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._actions: list[str] = []
        self._joints: dict[str, float] = {}
        self._frame: tuple[str, Array] | None = None
        self._seek: float | None = None

    def act(self, action: str) -> None:
        """A button was pressed."""
        with self._lock:
            self._actions.append(action)

    def lead_joint(self, name: str, value: float) -> None:
        """A slider was moved."""
        with self._lock:
            self._joints[name] = value

    def lead_frame(self, link: str, target: Array) -> None:
        """A frame was dragged."""
        with self._lock:
            self._frame = link, np.array(target, dtype=float)

    def seek(self, t: float) -> None:
        """The time slider was moved."""
        with self._lock:
            self._seek = t

    def fulfil(self, source: Source) -> bool:
        """Pass everything on to a source; return whether it was posed."""
        with self._lock:
            actions, joints, frame, seek = self._actions, self._joints, self._frame, self._seek
            self._clear()
        for action in actions:
            source.control(action)
        if seek is not None:
            source.seek(seek)
        if joints:
            source.lead_joints(joints)
        if frame is not None:
            source.lead_frame(*frame)
        return bool(joints) or frame is not None


class Panel:
    """The controls next to the picture.

    Attributes:
        wishes: What the user asked for.
        status: Markdown on top.
        numbers: HTML below.
    """

    def __init__(
        self,
        server: ViserServer,
        source: Source,
        poser: Poser,
        links: tuple[str, ...],
        overlay: Overlay,
        size: float,  # of the scene, in m
    ) -> None:
        """Add the controls."""
        self.wishes = Wishes()
        self._server = server
        self._loop = server.get_event_loop()
        self._size = size
        self._dragged = ""
        self._handle: Any = None
        self._in_hand = False
        self._touched: dict[str, float] = {}
        gui = server.gui
        self.status = gui.add_markdown("")
        if source.controls:
            buttons = gui.add_button_group("motion", [a.capitalize() for a in source.controls])
            buttons.on_click(self._on_button)
        self._time: Any = None
        if source.duration > 0.0:
            self._time = gui.add_slider(
                "time [s]", 0.0, source.duration, source.duration / _STEPS, 0.0
            )
            self._time.on_update(self._on_time)
        self._sliders: dict[str, Any] = {}
        if source.can_pose:
            self._add_posing(poser, links)
        with gui.add_folder("Show", expand_by_default=False):
            for label, name in (
                ("loops and closure errors", "show_frames"),
                ("forces", "show_forces"),
                ("torques", "show_torques"),
                ("targets of tasks", "show_targets"),
            ):
                box = gui.add_checkbox(label, getattr(overlay, name))
                box.on_update(partial(_store, overlay, name))
            scale = gui.add_slider("length of arrows", 0.1, 3.0, 0.1, 1.0)
            scale.on_update(partial(_store, overlay, "force_scale"))
        with gui.add_folder("Numbers"):
            self.numbers = gui.add_html("")

    @property
    def dragged(self) -> str:
        """Link that has a handle to be dragged by; empty: none."""
        return self._dragged

    def follow(self, positions: dict[str, float], t: float) -> None:
        """Set sliders to joint positions, in rad or m, and the time in s, without a request."""
        self._loop.call_soon_threadsafe(self._follow, positions, t)

    def move_handle(self, position: Array) -> None:
        """Bring the handle to its link, (3,), unless it is in the user's hand."""
        self._loop.call_soon_threadsafe(self._move_handle, position)

    def _follow(self, positions: dict[str, float], t: float) -> None:
        for name, slider in self._sliders.items():
            self._bring(name, slider, positions[name])
        if self._time is not None:
            self._bring("", self._time, t)

    def _bring(self, name: str, slider: Any, value: float) -> None:
        value = min(max(value, slider.min), slider.max)
        if name in self._touched:
            if time.monotonic() - self._touched[name] < _IN_HAND:
                return
            # What was on its way when the user set the slider may be what the page shows; viser
            # does not send again what it holds to be there already.
            del self._touched[name]
            if slider.value == value:
                value = math.nextafter(value, slider.min)
        slider.value = value

    def _move_handle(self, position: Array) -> None:
        if self._handle is not None and not self._in_hand:
            self._handle.position = position

    def _add_posing(self, poser: Poser, links: tuple[str, ...]) -> None:
        gui = self._server.gui
        with gui.add_folder("Pose"):
            for name, low, high in zip(poser.joints, poser.lower, poser.upper, strict=True):
                if not high > low:
                    continue
                low, high = float(low), float(high)
                slider = gui.add_slider(name, low, high, (high - low) / _STEPS, low)
                slider.on_update(partial(self._on_slider, name))
                self._sliders[name] = slider
            choice = gui.add_dropdown("drag", [_NOTHING, *links], initial_value=_NOTHING)
            choice.on_update(self._on_choice)

    async def _on_button(self, event: Any) -> None:
        self._touched.clear()  # sliders show at once what comes of it
        self.wishes.act(event.target.value.lower())

    async def _on_slider(self, name: str, event: Any) -> None:
        if event.client_id is not None:  # else the view itself moved it
            self._touched[name] = time.monotonic()
            self.wishes.lead_joint(name, float(event.target.value))

    async def _on_time(self, event: Any) -> None:
        if event.client_id is not None:
            self._touched[""] = time.monotonic()
            self.wishes.seek(float(event.target.value))

    async def _on_choice(self, event: Any) -> None:
        link = event.target.value
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        self._dragged, self._in_hand = "" if link == _NOTHING else link, False
        if not self._dragged:
            return
        self._handle = self._server.scene.add_transform_controls(
            "/drag", scale=0.25 * self._size, disable_rotations=True, depth_test=False
        )
        self._handle.on_update(self._on_drag)

    async def _on_drag(self, event: Any) -> None:
        if event.client_id is not None:
            self._in_hand = event.phase != "end"
            self.wishes.lead_frame(self._dragged, event.target.position)


async def _store(overlay: Overlay, name: str, event: Any) -> None:
    setattr(overlay, name, event.target.value)
