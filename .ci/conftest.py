# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The checks of an installation use the fixtures of the tests."""

pytest_plugins = ("support.nodes.ros_fixtures", "support.skips", "support.watchdog")
