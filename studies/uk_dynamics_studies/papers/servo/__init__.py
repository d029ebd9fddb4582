# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo constraints: two masses and a spring, two robots with one load."""
