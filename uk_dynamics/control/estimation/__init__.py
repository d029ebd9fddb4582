"""Joint states from measurements: passive joints solved from the loops."""
