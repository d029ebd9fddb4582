# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The view in a browser, served by commands."""

import argparse
import signal
import sys
import time

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import MechanismView, Source, address, close_server, open_server


def serve(
    arguments: argparse.Namespace, mechanism: Mechanism, source: Source, tasks: Tasks | None = None
) -> None:
    """Serve the view until interrupted."""
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
