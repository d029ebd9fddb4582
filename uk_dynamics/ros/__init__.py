# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The nodes: a thin shell of ROS 2 around the library, and the commands that need running nodes."""

from uk_dynamics.threads import one_thread_by_default

one_thread_by_default()
