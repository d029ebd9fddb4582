# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``python -m uk_dynamics.ros.nodes NODE``: a node without ``ros2 run``."""

import sys

from uk_dynamics.ros.nodes import entry_points

raise SystemExit(getattr(entry_points, sys.argv.pop(1))())
