# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a frame gets to: reachable poses, singular configurations, forces that can be held."""

from uk_dynamics.workspace.exploration import explore
from uk_dynamics.workspace.reachable import ReachableSet, write_parquet, write_picture
