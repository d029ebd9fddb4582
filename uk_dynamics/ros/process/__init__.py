# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How a node runs: process, lifecycle, clock, where the mechanism comes from."""
