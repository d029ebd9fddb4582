# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The Udwadia-Kalaba equation: spiral, swarm, flexible joints."""
