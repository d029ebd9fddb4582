# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of what is traced, by forward mode and by recursions over the tree."""
