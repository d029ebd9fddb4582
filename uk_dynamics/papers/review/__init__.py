"""The Udwadia-Kalaba equation: spiral, swarm, flexible joints."""
