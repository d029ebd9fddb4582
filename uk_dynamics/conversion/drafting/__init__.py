# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A first mechanism file for a URDF."""

from uk_dynamics.conversion.drafting.draft import Draft, draft
