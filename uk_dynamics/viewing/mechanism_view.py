# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism in a browser: the picture, the panel, and the loop that keeps both up to date."""

import time
from collections.abc import Callable

import numpy as np

from uk_dynamics.constraints.rows import MassPoints
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import GREY, appearance
from uk_dynamics.viewing import camera
from uk_dynamics.viewing.curves import Curves
from uk_dynamics.viewing.machine_numbers import MachineNumbers, solver_table, status_line
from uk_dynamics.viewing.panel import Panel
from uk_dynamics.viewing.scene.link_shapes import LinkShapes
from uk_dynamics.viewing.scene.mark_colours import mark_colours
from uk_dynamics.viewing.scene.marks import Marker
from uk_dynamics.viewing.scene.overlay import Overlay
from uk_dynamics.viewing.scene.stage import Corners, Stage, ViserServer, stage
from uk_dynamics.viewing.source import Instant, Snapshot, Source

FRAME_RATE = 40.0  # pictures per s
_NUMBERS_PERIOD = 0.2  # s; faster changes are unreadable


class MechanismView:
    """Shows the snapshots of a source."""

    def __init__(
        self,
        server: ViserServer,
        mechanism: Mechanism,
        source: Source,
        *,
        tasks: Tasks | None = None,
    ) -> None:
        """Build the scene."""
        self.pictures = 0  # shown so far
        self.snapshot: Snapshot | None = None  # what was shown last; None before the first picture
        self._server, self._mechanism, self._source = server, mechanism, source
        self._dynamics = InterpretedDynamics(mechanism)
        self._workspace = mechanism.model.workspace()
        self._marker = Marker(mechanism, tasks)
        loops = self._marker.constraints
        self._numbers = MachineNumbers(mechanism, loops, tasks)
        model = mechanism.model
        heavy = any(link.mass > 0.0 for link in model.description.links)
        self._masses = MassPoints.of(model.link_names, model) if heavy else None
        room = stage(mechanism)
        directory = mechanism.spec.urdf_path().parent if mechanism.spec.model.urdf else None
        look = appearance(model.description, directory)
        self._corners = Corners(model, look.visuals, room.size)
        machine = {visual.colour or GREY for visual in look.visuals}
        with server.atomic():
            self._shapes = LinkShapes(server, model, look, room.size)
            self._overlay = Overlay(server, room.size, mark_colours(machine))
            curves = Curves(server, mechanism, loops, bool(tasks and tasks.row_names))
            self._panel = Panel(
                server, source, mechanism, self._overlay, curves, self._points, room.size
            )
        self.problems = tuple(self._shapes.problems)  # what cannot be shown, one line each
        self._set_stage(room)
        self._numbers_due = 0.0

    def run(self, stopped: Callable[[], bool]) -> None:
        """Show pictures until told to stop; all of the source happens in this thread."""
        period = 1.0 / FRAME_RATE
        last = time.perf_counter()
        while not stopped():
            began = time.perf_counter()
            self.update(began - last)
            last = began
            time.sleep(max(period - (time.perf_counter() - began), 0.001))

    def update(self, elapsed: float) -> None:
        """Fulfil what the user asked for and show one picture; elapsed real time in s."""
        posed = self._panel.wishes.fulfil(self._source)
        snapshot = self._source.frame(elapsed)
        now = time.perf_counter()
        with self._server.atomic():
            instant = self._show(snapshot)
            if now >= self._numbers_due or posed:
                self._numbers_due = now + _NUMBERS_PERIOD
                self._panel.status.content = status_line(instant)
                self._panel.machine.content = self._numbers.table(instant, self._panel.units)
                self._panel.solver.content = solver_table(self._mechanism, instant)
                self._panel.draw_curves(instant)
                model = self._mechanism.model
                self._panel.follow(model.positions_by_name(snapshot.state.q), snapshot.state.t)
        self.snapshot = snapshot
        self.pictures += 1

    def _show(self, snapshot: Snapshot) -> Instant:
        """Move everything and return the numbers."""
        state, model = snapshot.state, self._mechanism.model
        asked = snapshot.task_time, snapshot.followed
        self._workspace.update_positions(state.q)
        self._shapes.move(self._workspace.rotation, self._workspace.translation)
        message = snapshot.message
        inputs = self._marker.contacts.acting(state, snapshot.inputs)
        residual = self._dynamics.residual(state, inputs)
        try:
            solution = self._dynamics.evaluate(state, inputs)
            marks = self._marker.marks(state, residual.position, solution, *asked, inputs)
        except UkDynamicsError as error:
            solution, message = None, message or str(error)
            marks = self._marker.marks(state, residual.position, None, *asked)
        centre = np.zeros(3) if self._masses is None else self._masses.position(self._workspace)
        self._overlay.show(marks, centre)
        if self._panel.dragged:
            frame = model.frame_index(self._panel.dragged)
            self._panel.move_handle(self._workspace.translation[frame])
        return Instant(
            snapshot,
            solution,
            residual,
            self._dynamics.energy(state),
            self._marker.tracking_error(state, *asked),
            marks,
            centre,
            message,
        )

    def _points(self) -> Array:
        """What has to be in the picture, (n, 3), in m."""
        return self._corners.at(self._workspace.rotation, self._workspace.translation)

    def _set_stage(self, room: Stage) -> None:
        """Ground and camera; planar mechanisms lie in x and z, so it looks along y."""
        scene, size = self._server.scene, room.size
        centre, floor = 0.5 * (room.low + room.high), float(room.low[2])
        cell = 10.0 ** np.floor(np.log10(size)) / 2.0
        scene.add_grid(
            "/ground",
            width=4.0 * size,
            height=4.0 * size,
            cell_size=cell,
            section_size=2.0 * cell,
            position=(float(centre[0]), float(centre[1]), floor - 0.05 * size),
        )
        self._workspace.update_positions(self._mechanism.initial_guess)
        first = self._server.initial_camera
        first.position, first.look_at = camera.placed(
            np.array(camera.START), self._points(), first.fov, 1.0
        )
        first.up = (0.0, 0.0, 1.0)
