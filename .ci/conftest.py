"""The checks of an installation use the fixtures of the tests."""

pytest_plugins = ("ros_fixtures", "support.skips")
