# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages that are refused, of the five-bar: what is wrong, and what is said of it."""

from __future__ import annotations

import math
from array import array
from typing import Any

from sensor_msgs.msg import JointState

from uk_dynamics.model.robot_model import RobotModel

MODEL = RobotModel.from_urdf("package://uk_dynamics/urdf/five_bar.urdf.xacro")
JOINTS = MODEL.joint_names


def joint_state(
    names: tuple[str, ...] = JOINTS,
    position: Any = (0.1, 0.2, 0.3, 0.4),
    velocity: Any = (1.0, 2.0, 3.0, 4.0),
    effort: Any = (),
) -> JointState:
    return JointState(
        name=list(names),
        position=array("d", position),
        velocity=array("d", velocity),
        effort=array("d", effort),
    )


def changed(values: tuple[float, ...], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])


ONES = (1.0, 1.0, 1.0, 1.0)

BAD_STATES = {
    "empty": (joint_state((), (), (), ()), "no names"),
    "numbers without names": (joint_state((), ONES, ONES), "no names"),
    "a joint missing": (joint_state(JOINTS[:3], ONES[:3], ONES[:3]), '"right" missing'),
    "all joints unknown": (joint_state(("a", "b", "c", "d"), ONES, ONES), "and 1 more missing"),
    "another case": (joint_state(("Crank", *JOINTS[1:])), '"crank" missing'),
    "an empty name": (joint_state(("", *JOINTS[1:])), '"crank" missing'),
    "a name twice": (joint_state((*JOINTS, "crank"), (*ONES, 1), (*ONES, 1)), '"crank" more than'),
    "a name instead of another": (joint_state(("crank", "crank", *JOINTS[2:])), "more than once"),
    "no positions": (joint_state(position=()), "no position"),
    "positions too few": (joint_state(position=ONES[:3]), "3 numbers in position, expected 4"),
    "positions too many": (joint_state(position=(*ONES, 1)), "5 numbers in position, expected 4"),
    "no velocities": (joint_state(velocity=()), "no velocity"),
    "velocities too few": (joint_state(velocity=ONES[:1]), "1 numbers in velocity, expected 4"),
    "velocities too many": (joint_state(velocity=ONES * 2), "8 numbers in velocity, expected 4"),
    "efforts too few": (joint_state(effort=ONES[:2]), "2 numbers in effort, expected 4"),
    "position nan": (
        joint_state(position=changed(ONES, 1, math.nan)),
        "position of coupler is nan",
    ),
    "position inf": (joint_state(position=changed(ONES, 0, math.inf)), "position of crank is inf"),
    "position absurd": (
        joint_state(position=changed(ONES, 0, 1e300)),
        "position of crank is 1e+300",
    ),
    "velocity nan": (joint_state(velocity=changed(ONES, 3, math.nan)), "velocity of right is nan"),
    "velocity -inf": (
        joint_state(velocity=changed(ONES, 2, -math.inf)),
        "velocity of middle is -inf",
    ),
    "velocity absurd": (joint_state(velocity=changed(ONES, 2, -1e308)), "velocity of middle"),
    "effort nan": (joint_state(effort=changed(ONES, 2, math.nan)), "effort of middle is nan"),
    "everything nan": (joint_state(position=[math.nan] * 4, velocity=[math.nan] * 4), "is nan"),
    "very many names": (
        joint_state(tuple(f"joint_{i}" for i in range(5000)), [0.0] * 5000, [0.0] * 5000),
        "missing",
    ),
    "a very long name": (joint_state(("x" * 100_000, *JOINTS[1:])), '"crank" missing'),
}

BAD_ARRAYS = {
    "empty": ((), "0 numbers, expected 2: geared, between"),
    "too few": ((1.0,), "1 numbers"),
    "too many": ((1.0, 2.0, 3.0), "3 numbers"),
    "far too many": ([0.0] * 100_000, "100000 numbers"),
    "nan": ((1.0, math.nan), "effort of between is nan"),
    "inf": ((-math.inf, 1.0), "effort of geared is -inf"),
    "absurd": ((1e200, 1.0), "effort of geared is 1e+200"),
}

BAD_COMMANDS = {
    "no names": (joint_state((), (), (), ()), "no names"),
    "no efforts": (joint_state(), "no effort"),
    "efforts too few": (joint_state(effort=ONES[:2]), "2 numbers in effort"),
    "unknown joint": (joint_state(("crank", "knee"), effort=ONES[:2]), '"knee" unknown'),
    "a name twice": (joint_state(("crank", "crank"), effort=ONES[:2]), "more than once"),
    "nan": (joint_state(("crank",), effort=(math.nan,)), "effort of crank is nan"),
    "a joint without motor": (
        joint_state(("right",), effort=(1.0,)),
        "no motors can produce this effort of right",
    ),
    "half of a pair": (joint_state(("coupler",), effort=(1.0,)), "no motors can produce"),
}
