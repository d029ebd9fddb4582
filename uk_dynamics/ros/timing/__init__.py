# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Clocks, rates and latencies of a node."""
