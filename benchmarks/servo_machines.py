"""Six machines under servo control: what they do, and their files with another start or limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

import uk_dynamics as ukd
from uk_dynamics.mechanism.specification import TasksSpec
from uk_dynamics.resources import share_directory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """What a machine does while it is measured.

    Attributes:
        machine: Name of a shipped mechanism.
        tasks: Name of shipped tasks.
        duration: In s.
        hop: Tasks of a fast motion from rest to rest, as YAML, with ``{0}`` and ``{1}`` for the
            priorities of what is held and of what moves.
        held: Tasks of the hop that hold, the others move.
    """

    machine: str
    tasks: str
    duration: float
    hop: str
    held: tuple[str, ...] = ()


MOTIONS = (
    Motion(
        "coordinated_robots",
        "coordinated_robots_lift",
        6.283,
        """
  held: {{type: frame, axes: [x, ry], priority: {0}, parent: {{link: ground}},
    child: {{link: left_load, xyz: [0.5, 0, 0]}}, reference: {{type: constant, value: [1.5, 0]}}}}
  up: {{type: frame, axes: [z], priority: {1}, parent: {{link: ground}},
    child: {{link: left_load, xyz: [0.5, 0, 0]}},
    reference: {{type: spline, degree: 5, times: [0.0, 0.4], values: [0.0, 0.3]}}}}
""",
        ("held",),
    ),
    Motion(
        "parallel_2dof",
        "parallel_2dof_line",
        2.0,
        """
  held: {{type: frame, axes: [y], priority: {0}, parent: {{link: ground}},
    child: {{link: passive_1, xyz: [0.244, 0, 0]}}, reference: {{type: constant, value: 0.25}}}}
  along: {{type: frame, axes: [x], priority: {1}, parent: {{link: ground}},
    child: {{link: passive_1, xyz: [0.244, 0, 0]}},
    reference: {{type: spline, degree: 5, times: [0.0, 0.3], values: [0.24, 0.34]}}}}
""",
        ("held",),
    ),
    Motion(
        "rrr3",
        "rrr3_track",
        8.0,
        """
  x: {{type: joint, joint: platform_x, priority: {0}}}
  angle: {{type: joint, joint: platform_angle, priority: {0}}}
  z: {{type: joint, joint: platform_z, priority: {1},
    reference: {{type: spline, degree: 5, times: [0.0, 0.5], values: [0.0, 0.4]}}}}
""",
        ("x", "angle"),
    ),
    Motion(  # accelerates for ever: after 4 s it is 15 m away
        "two_mass_spring",
        "two_mass_spring_breathe",
        4.0,
        """
  distance: {{type: joint_coupling, joints: {{x2: 1, x1: -1}}, priority: {1},
    reference: {{type: spline, degree: 5, times: [0.0, 0.3], values: [1.0, 0.8]}}}}
""",
    ),
    Motion(
        "stewart_platform",
        "stewart_platform_heave_roll",
        5.0,
        """
  held: {{type: frame, axes: [x, y, rx, ry, rz], priority: {0}, parent: {{link: base}},
    child: {{link: platform}}, reference: {{type: constant, value: [0, 0, 0, 0, 0]}}}}
  up: {{type: frame, axes: [z], priority: {1}, parent: {{link: base}}, child: {{link: platform}},
    reference: {{type: spline, degree: 5, times: [0.0, 0.3], values: [0.7, 0.8]}}}}
""",
        ("held",),
    ),
    Motion(
        "dual_panda",
        "dual_panda_load",
        5.0,
        """
  held: {{type: frame, axes: [y, rx, ry, rz], priority: {0}, parent: {{link: table}},
    child: {{link: load, rpy: [3.141592653589793, 0, 0]}},
    reference: {{type: constant, value: [0, 0, 0, 0]}}}}
  forward: {{type: frame, axes: [x, z], priority: {1}, parent: {{link: table}},
    child: {{link: load, rpy: [3.141592653589793, 0, 0]}},
    reference: {{type: spline, degree: 5, times: [0.0, 0.4], values: [[0.307, 0.487], [0.407, 0.587]]}}}}
  left_elbow: {{type: joint, joint: left_panda_joint3, priority: {0}}}
  right_elbow: {{type: joint, joint: right_panda_joint3, priority: {0}}}
""",
        ("held", "left_elbow", "right_elbow"),
    ),
)
