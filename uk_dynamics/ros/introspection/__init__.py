# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics topic`` and ``lifecycle``: a look at running nodes without ros2cli."""
