"""How the constrained motion changes with state, forces and time."""
