"""Sweeps: many simulations of one mechanism with varied parameters, initial states and gains."""
