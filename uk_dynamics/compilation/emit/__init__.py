# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Symbols written as C."""
