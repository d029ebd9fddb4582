"""The checks of an installation use the fixtures of the tests."""

pytest_plugins = ("support.nodes.ros_fixtures", "support.skips")
