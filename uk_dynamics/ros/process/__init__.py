"""How a node runs: process, lifecycle, clock, where the mechanism comes from."""
