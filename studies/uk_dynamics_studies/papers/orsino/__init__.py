# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Orsino: recursive modelling in levels."""
