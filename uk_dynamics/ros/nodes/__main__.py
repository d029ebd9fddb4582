# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``python -m uk_dynamics.ros.nodes NODE``: a node without ``ros2 run``."""

import sys
from functools import partial

from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.ros.nodes import entry_points

nodes = {name: x for name, x in vars(entry_points).items() if isinstance(x, partial)}
name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
if name not in nodes:
    raise SystemExit(f"error: {UnknownNameError('node', name, nodes)}")
raise SystemExit(nodes[name]())
