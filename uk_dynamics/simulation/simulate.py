"""Motion over time: integration, control at a fixed period, recording."""

from __future__ import annotations
