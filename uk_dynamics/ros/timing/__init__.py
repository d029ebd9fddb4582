"""Clocks, rates and latencies of a node."""
