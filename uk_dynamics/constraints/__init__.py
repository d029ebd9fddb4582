"""Constraint kinds: rows A and b, residual and its rate, written on the motion of frames."""
