# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Shapes, arrows and marks of a mechanism."""

from uk_dynamics.viewing.scene.marks import MODE_COLOURS, ContactMarks, Marker, Marks
from uk_dynamics.viewing.scene.overlay import ArrowScale
from uk_dynamics.viewing.scene.stage import stage
