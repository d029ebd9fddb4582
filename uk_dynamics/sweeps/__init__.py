"""Sweeps: many simulations of one mechanism with parameters, starts and gains that vary."""
