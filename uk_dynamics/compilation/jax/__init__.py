"""Batches of states in JAX."""
