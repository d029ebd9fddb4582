"""A first mechanism file for a URDF."""

from uk_dynamics.conversion.drafting.draft import Draft, draft

__all__ = [
    "Draft",
    "draft",
]
