"""Mechanisms seen in a browser: posed by hand, simulated, played back, or heard from topics."""
