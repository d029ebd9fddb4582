# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constants of a control period; the generated C has them from here."""

TOO_SHORT, TOO_LONG = 0.5, 2.5  # periods between states whose velocities are compared
SLOWEST = 1e-200  # m/s or rad/s: power does not limit a motor that stands still
AT_LIMIT = 1e-9  # of the interval: a motor this close to its end is at its limit
SAME_EFFECT = 1e-9  # s; two changes of the efforts closer than this are one
COMMANDS_UNDER_WAY = 64  # for which there is room from the start, in the C++ servo for no more
LONGEST_HOLD = 0.1  # s in which efforts are held through a singular configuration
NEGLIGIBLE_DELAY = 0.25  # of the control period; a shorter delay is none
NOTICEABLE = 1e-6  # of the accelerations; a smaller residual is rounding
INTERNAL_REACHED = 1e-8  # of the desired internal forces
INDEPENDENT = 1e-9  # of the largest row of the other constraints
# Of derivatives of the efforts.
HELD_WITHIN = 1e-9  # of the largest effort: a motor this close to a limit is held there
SERVED = 1e-8  # part of a task row that others leave
HELD_BY = 1e-7  # of the largest weighted effort: a limit that holds with less is about to let go
