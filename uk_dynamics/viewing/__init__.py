# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms seen in a browser: posed by hand, simulated, played back, or following topics."""

from uk_dynamics.viewing.layouts import foxglove_layout, plotjuggler_layout
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import FRAME_RATE, MechanismView
from uk_dynamics.viewing.mode_motion import ModeMotion
from uk_dynamics.viewing.playback import Playback
from uk_dynamics.viewing.server import LOOPBACK, address, close_server, load_viser, open_server
from uk_dynamics.viewing.source import Snapshot, Source
