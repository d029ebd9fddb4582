# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Clocks and stamps."""
