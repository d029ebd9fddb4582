"""Linear algebra of constrained motion: rank rule, row basis, mass factors, rotations, bounded least squares."""
