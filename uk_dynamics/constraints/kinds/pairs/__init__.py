# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinematic pairs: how two bodies are joined."""

from uk_dynamics.constraints.kinds.pairs.cylindrical import Cylindrical
from uk_dynamics.constraints.kinds.pairs.hinge import Hinge
from uk_dynamics.constraints.kinds.pairs.planar import Planar
from uk_dynamics.constraints.kinds.pairs.point import Point
from uk_dynamics.constraints.kinds.pairs.prismatic import Prismatic
from uk_dynamics.constraints.kinds.pairs.screw import Screw
from uk_dynamics.constraints.kinds.pairs.universal import Universal
from uk_dynamics.constraints.kinds.pairs.weld import Weld
