# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraint kinds: rows A and b, residual and its rate, written on the motion of frames."""
