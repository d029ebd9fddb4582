# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``python -m uk_dynamics`` is the command ``uk_dynamics``."""

import signal
import sys


def run() -> int:
    """Run a command; Ctrl-C is quiet also while its modules are imported."""
    try:
        from uk_dynamics.cli import main

        return main()
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells report it
    finally:
        # while Python winds up there is nothing left to catch it
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(run())
