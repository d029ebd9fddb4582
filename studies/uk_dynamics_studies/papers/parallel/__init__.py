# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A redundantly actuated parallel manipulator."""
