"""``uk_dynamics topic`` and ``lifecycle``: a look at running nodes without ros2cli."""
