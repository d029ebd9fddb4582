# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The view in a browser, served by commands."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common

if TYPE_CHECKING:
    from uk_dynamics.mechanism import Tasks
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics.viewing import Source

_OPTIONS = f"""\
--duration S  exit after this real time in s (default: never)
--host ADDRESS=127.0.0.1  address to serve at; 127.0.0.1 is this computer only, 0.0.0.0 gives the
    whole network access, to the controls as well
--port N={common.VIEW_PORT}  port to serve at; 0: any free
"""


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add ``--duration``, ``--host`` and ``--port``."""
    common.add_options(parser, _OPTIONS)


def serve(
    arguments: argparse.Namespace, mechanism: Mechanism, source: Source, tasks: Tasks | None = None
) -> None:
    """Serve the view until interrupted."""
    import signal
    import time

    from uk_dynamics.viewing import MechanismView, address, close_server, open_server

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, like Ctrl-C
    server = open_server(arguments.host, arguments.port, mechanism.name.replace("_", " "))
    try:
        view = MechanismView(server, mechanism, source, tasks=tasks)
        for problem in view.problems:
            print(f"uk_dynamics: not shown: {problem}", file=sys.stderr)
        print(f"{mechanism.name}: {address(server)} (Ctrl-C ends it)", flush=True)
        end = time.monotonic() + (arguments.duration or float("inf"))
        view.run(lambda: time.monotonic() >= end)
    except KeyboardInterrupt:  # the usual way to end it
        pass
    finally:
        close_server(server)
