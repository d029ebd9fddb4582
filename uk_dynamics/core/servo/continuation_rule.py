# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rule of the continuation along the loops; the generated C has its constants from here.

Newton corrections stay on an assembly branch while successive ones shrink (Deuflhard). Regularity
is about the distance to a singularity in rad, or in lever lengths: a step that is as long as that
may have passed one.
"""

MOST_CORRECTIONS = 12
SMALL_CORRECTION = 1e-11  # rad or m: the next Newton step would be rounding
STALLED_CORRECTION = 1e-8  # rad or m: rounding near a singularity
OPEN_LOOP = 1e-4  # m or rad: loop-closure error that noise beyond a dead centre may cause
CONTRACTION = 0.25  # of successive steps; below it the solution is locally unique (Deuflhard)
LARGEST_LOOP_CORRECTION = 0.3  # rad or m, after the tangent step
LONGEST_MEASURED_STEP = 0.1  # rad or m, of a measured joint
LONGEST_MOVE = 1.0  # rad or m, of any joint in one step
CAUTIOUS_STEP = 0.01  # rad or m: length to which steps are shortened near a singularity
SHORTEST_STEP = 1.0 / 1024.0
MOST_STEPS, FEW_STEPS = 200, 24  # bound the time spent on unreachable measurements
MOST_STARTS = 3  # known configurations from which a first measurement is tried
SINGULARITY_WITHIN = 1.0  # of a step: how near a singularity counts
LEAST_LEVER = 1.0  # m: with longer ones directions of rows change no faster than the joint turns
