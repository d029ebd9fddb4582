"""``python -m uk_dynamics`` is the command ``uk_dynamics``."""

import sys

from uk_dynamics.cli import main

if __name__ == "__main__":
    sys.exit(main())
