"""Reports on a mechanism: rank, mobility, integrability."""
