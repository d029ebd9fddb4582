"""Trajectories and their files: MCAP, npz, csv."""
