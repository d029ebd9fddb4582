# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The web server of a view."""

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uk_dynamics.colours import BLUE
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.viewing.scene.stage import ViserServer

LOOPBACK = "127.0.0.1"
PORT = 8080


def open_server(host: str = LOOPBACK, port: int = PORT, title: str = "uk_dynamics") -> ViserServer:
    """Start to serve an empty scene; port 0: any free one. InputError: no Viser, or no such port.

    A host other than loopback gives everyone on the network access to the controls.
    """
    viser = load_viser()
    # Viser would go on to the next port, and the old address would show another view.
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot serve at {host}:{port}: {reason}; choose another port") from None
    with _silence():
        server: ViserServer = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    # sharing would send the scene to a relay on the internet
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=BLUE, control_width="large"
    )
    server.gui.main_panel.dock_right()
    server.scene.configure_default_lights(cast_shadow=False)
    # light from all sides; an environment map would double the work of graphics in software
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere(
        "/light", sky_color=(255, 255, 255), ground_color=(150, 150, 150), intensity=2.5
    )
    server.scene.set_up_direction("+z")
    return server


def load_viser() -> Any:
    """The library, whose import takes seconds; InputError: it is not installed."""
    remedy = 'install it (pip install viser, or ".[view]" of the sources)'
    return optional_library("viser", f"the view needs viser; {remedy}")


def close_server(server: ViserServer) -> None:
    """Stop serving."""
    # callbacks that still run have no client any more
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
    with _silence():
        server.stop()


def address(server: ViserServer) -> str:
    """Where a browser finds it."""
    return f"http://{server.get_host()}:{server.get_port()}"


@contextmanager
def _silence() -> Iterator[None]:
    """Keep viser's banners off the terminal, and out of pipes."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
