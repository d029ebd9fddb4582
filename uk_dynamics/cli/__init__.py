# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The command ``uk_dynamics``: a text and a file with ``run`` per sub-command."""

from uk_dynamics.cli.main import main
from uk_dynamics.threads import one_thread_by_default

one_thread_by_default()
