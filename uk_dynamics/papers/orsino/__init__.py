"""Orsino: recursive modelling in levels."""
