# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms written in the formats of other programs, one file each.

A writer takes a :class:`~.machine.Machine`, which all share, and returns its texts; what its format
cannot say becomes a remark, in the words of the imports.
"""
