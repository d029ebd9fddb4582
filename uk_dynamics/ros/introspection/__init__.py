"""``uk_dynamics topic`` and ``lifecycle``: a look at running nodes where ros2cli is not installed."""
