"""Fixed-step and adaptive integration of the constrained motion."""
