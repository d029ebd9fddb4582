# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the equations of motion as numbers, and of the motion in C."""
