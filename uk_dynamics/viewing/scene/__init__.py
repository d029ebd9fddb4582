# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Shapes, arrows and marks of a mechanism."""

from uk_dynamics.viewing.scene.arrow_lengths import ArrowScale
from uk_dynamics.viewing.scene.contact_marks import MODE_COLOURS, ContactMarks
from uk_dynamics.viewing.scene.marks import Marker, Marks
from uk_dynamics.viewing.scene.stage import stage
