# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What commands print and write."""

from uk_dynamics.cli.output.printing import json_text, log_on_stderr, progress_bar, table
from uk_dynamics.cli.output.simulation_summary import summarize
