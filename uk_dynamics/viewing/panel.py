# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Buttons, sliders and switches of a view; what they ask for is fetched by the view's thread.

Controls change in the server's event loop only, where viser takes in what users do: another thread
could overwrite what the user has just set before it is read.
"""

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import camera
from uk_dynamics.viewing.curves import Curves
from uk_dynamics.viewing.html_tables import legend
from uk_dynamics.viewing.live_simulation import LABELS
from uk_dynamics.viewing.poser import Poser
from uk_dynamics.viewing.scene.contact_marks import MODE_COLOURS
from uk_dynamics.viewing.scene.link_shapes import JointLabels
from uk_dynamics.viewing.scene.overlay import Overlay
from uk_dynamics.viewing.scene.stage import ViserServer
from uk_dynamics.viewing.source import Instant, Source
from uk_dynamics.viewing.units import CHOICES, remember, remembered

_NOTHING = "nothing"
_STEPS = 400  # of a time slider
_DIGITS = 1e3  # of the range of a joint slider, at least; more are cut off in its number
_FEW = 8  # sliders that leave room for numbers below them
_IN_HAND = 2.0  # s after its last move a slider still belongs to the user, who may be typing


class Wishes:
    """Requests of the user since the last picture; of each control only the latest one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wishes: dict[object, Callable[[Source], None]] = {}

    def ask(self, control: object, wish: Callable[[Source], None]) -> None:
        """Have a source do something, and not what the same control has asked for before."""
        with self._lock:
            self._wishes.pop(control, None)
            self._wishes[control] = wish

    def fulfil(self, source: Source) -> bool:
        """Pass everything on to a source; return whether there was something."""
        with self._lock:
            wishes, self._wishes = self._wishes, {}
        for wish in wishes.values():
            wish(source)
        return bool(wishes)


class Panel:
    """The controls next to the picture."""

    def __init__(
        self,
        server: ViserServer,
        source: Source,
        mechanism: Mechanism,
        overlay: Overlay,
        curves: Curves,
        points: Callable[[], Array],  # to be in the picture, (n, 3), in m
        size: float,  # of the scene, in m
    ) -> None:
        """Add the controls."""
        self.wishes = Wishes()  # what the user asked for
        self.units = remembered()  # of all numbers
        self._server = server
        self._loop = server.get_event_loop()
        self._poser, self._curves, self._points = Poser(mechanism), curves, points
        self._units_of, self._size = mechanism.model.units, size
        self.dragged = ""  # link that has a handle to be dragged by; empty: none
        self._handle: Any = None
        self._in_hand = False
        self._touched: dict[str, float] = {}
        gui = server.gui
        self.status = gui.add_html("")  # HTML on top
        if source.controls:
            names = [action.capitalize() for action in source.controls]
            gui.add_button_group("motion", names).on_click(self._on_button)
        if source.motors:
            self._choices = {LABELS.get(name, name): name for name in source.motors}
            first = LABELS.get(source.driving, source.driving)
            driving = gui.add_dropdown(source.choice, list(self._choices), initial_value=first)
            driving.on_update(self._on_driving)
        self._time: Any = None
        if source.duration > 0.0:
            self._time = gui.add_slider(
                "time [s]", 0.0, source.duration, source.duration / _STEPS, 0.0
            )
            self._time.on_update(self._on_time)
        self._sliders: dict[str, Any] = {}
        self._pose: Any = None
        if source.can_pose:
            self._add_posing(mechanism.model.link_names)
        with gui.add_folder("Numbers"):
            self.machine = gui.add_html("")  # HTML of what a user asks about
        self._plots = gui.add_folder("Plot", expand_by_default=False)
        with self._plots:
            gui.add_dropdown("quantity", curves.choices).on_update(self._on_quantity)
        with gui.add_folder("Show", expand_by_default=False):
            self._add_show(
                overlay, JointLabels(server, mechanism.model), bool(mechanism.spec.contacts)
            )
        with gui.add_folder("Solver", expand_by_default=False):
            self.solver = gui.add_html("")  # HTML of what the solver says, folded
        server.on_client_connect(self._on_client)

    def _add_show(self, overlay: Overlay, labels: JointLabels, contacts: bool) -> None:
        gui = self._server.gui
        gui.add_button_group("camera", list(camera.PRESETS)).on_click(self._on_camera)
        units = gui.add_dropdown("units", list(CHOICES), initial_value=self.units.name)
        units.on_update(self._on_units)
        for label, name in (
            ("forces", "show_forces"),
            ("torques", "show_torques"),
            *([("contacts", "show_contacts")] if contacts else []),
            ("targets of tasks", "show_targets"),
            ("loop joints, closure errors", "show_frames"),
            ("centre of mass", "show_centre"),
        ):
            box = gui.add_checkbox(label, getattr(overlay, name))
            box.on_update(partial(_store, overlay, name))
        gui.add_checkbox("joint names", False).on_update(partial(_show_names, labels))
        scale = gui.add_slider("length of arrows", 0.1, 3.0, 0.1, 1.0)
        scale.on_update(partial(_store, overlay, "force_scale"))
        colours = overlay.colours
        shown = {"force": colours.force, "torque": colours.torque, "target": colours.target}
        if contacts:
            shown |= {f"contact: {mode.value}": rgb for mode, rgb in MODE_COLOURS.items()}
        gui.add_html(legend(shown))

    def follow(self, positions: dict[str, float], t: float) -> None:
        """Set sliders to joint positions, in rad or m, and the time in s, without a request."""
        self._loop.call_soon_threadsafe(self._follow, positions, t)

    def move_handle(self, position: Array) -> None:
        """Bring the handle to its link, (3,), unless it is in the user's hand."""
        self._loop.call_soon_threadsafe(self._move_handle, position)

    def draw_curves(self, instant: Instant) -> None:
        """Draw the chosen quantity."""
        self._loop.call_soon_threadsafe(self._curves.add, instant, self.units, self._plots)

    def _follow(self, positions: dict[str, float], t: float) -> None:
        for name, slider in self._sliders.items():
            self._bring(name, slider, self._per(name) * positions[name])
        if self._time is not None:
            self._bring("", self._time, t)

    def _per(self, name: str) -> float:
        """Shown units per rad or m."""
        return self.units.of(self._units_of[name])[1]

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

    def _add_posing(self, links: tuple[str, ...]) -> None:
        gui = self._server.gui
        self._pose = gui.add_folder("Pose", expand_by_default=len(self._poser.joints) <= _FEW)
        with self._pose:
            choice = gui.add_dropdown("drag", [_NOTHING, *links], initial_value=_NOTHING, order=1e9)
            choice.on_update(self._on_choice)
        self._add_sliders()

    def _add_sliders(self) -> None:
        """A slider for every joint, in the present units; ends are rounded to its digits."""
        for slider in self._sliders.values():
            slider.remove()
        self._sliders.clear()
        poser = self._poser
        self._pose.label = f"Pose ({self.units.name})"
        for name, low, high in zip(poser.joints, poser.lower, poser.upper, strict=True):
            if not high > low:
                continue
            low, high = self._per(name) * float(low), self._per(name) * float(high)
            digits = -math.floor(math.log10((high - low) / _DIGITS))
            step = 10.0 ** -max(digits, 0)
            low, high = math.ceil(low / step - 1e-6) * step, math.floor(high / step + 1e-6) * step
            low, high = round(low, max(digits, 0)), round(high, max(digits, 0))
            with self._pose:
                slider = self._server.gui.add_slider(name, low, high, step, low)
            slider.on_update(partial(self._on_slider, name))
            self._sliders[name] = slider

    async def _on_button(self, event: Any) -> None:
        self._touched.clear()  # sliders show at once what comes of it
        action = event.target.value.lower()
        self.wishes.ask(object(), lambda source: source.control(action))  # each press counts

    async def _on_slider(self, name: str, event: Any) -> None:
        if event.client_id is not None:  # else the view itself moved it
            self._touched[name] = time.monotonic()
            value = float(event.target.value) / self._per(name)
            self.wishes.ask(("joint", name), lambda source: source.lead_joint(name, value))

    async def _on_driving(self, event: Any) -> None:
        choice = self._choices[event.target.value]
        self.wishes.ask("drive", lambda source: source.drive(choice))

    async def _on_units(self, event: Any) -> None:
        self.units = CHOICES[event.target.value]
        remember(self.units)
        self._touched.clear()
        if self._pose is not None:
            self._add_sliders()

    async def _on_quantity(self, event: Any) -> None:
        self._curves.choose(event.target.value)

    async def _on_camera(self, event: Any) -> None:
        if event.client is not None:
            with event.client.atomic():
                camera.look(event.client.camera, event.target.value, self._points())

    async def _on_client(self, client: Any) -> None:
        """All of the machine is in the picture, whatever the shape of the window.

        A page opens before its panel takes part of the window: until the user moves the camera,
        the view is fitted again to each new shape.
        """
        fitted = camera.Fitted(client.camera)

        def fit(_: Any) -> None:
            if fitted.due:
                with client.atomic():
                    fitted.fit(self._points())

        fit(client.camera)
        client.camera.on_update(fit)

    async def _on_time(self, event: Any) -> None:
        if event.client_id is not None:
            self._touched[""] = time.monotonic()
            t = float(event.target.value)
            self.wishes.ask("seek", lambda source: source.seek(t))

    async def _on_choice(self, event: Any) -> None:
        link = event.target.value
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        self.dragged, self._in_hand = "" if link == _NOTHING else link, False
        if not self.dragged:
            return
        self._handle = self._server.scene.add_transform_controls(
            "/drag", scale=0.25 * self._size, disable_rotations=True, depth_test=False
        )
        self._handle.on_update(self._on_drag)

    async def _on_drag(self, event: Any) -> None:
        if event.client_id is not None:
            self._in_hand = event.phase != "end"
            link, target = self.dragged, np.array(event.target.position, dtype=float)
            self.wishes.ask("frame", lambda source: source.lead_frame(link, target))


async def _show_names(labels: JointLabels, event: Any) -> None:
    labels.show(event.target.value)


async def _store(overlay: Overlay, name: str, event: Any) -> None:
    setattr(overlay, name, event.target.value)
