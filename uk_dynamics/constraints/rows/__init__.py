"""The shared mathematics of constraint rows."""
