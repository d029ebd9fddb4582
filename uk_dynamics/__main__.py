"""``python -m uk_dynamics`` is the command ``uk_dynamics``."""

import sys


def run() -> int:
    """Run a command; Ctrl-C is quiet also while its modules are imported."""
    try:
        from uk_dynamics.cli import main

        return main()
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells report it


if __name__ == "__main__":
    sys.exit(run())
