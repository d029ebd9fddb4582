# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Colours of pictures, of the browser view and of RViz: Okabe and Ito's, for any colour vision."""

RGB = tuple[int, int, int]

BLUE: RGB = (0, 114, 178)
VERMILION: RGB = (213, 94, 0)
GREEN: RGB = (0, 158, 115)
PINK: RGB = (204, 121, 167)
ORANGE: RGB = (230, 159, 0)
SKY: RGB = (86, 180, 233)
BLACK: RGB = (0, 0, 0)
YELLOW: RGB = (240, 228, 66)

#: As text, in the order in which curves take them.
COLOURS = tuple(
    f"#{r:02X}{g:02X}{b:02X}"
    for r, g, b in (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK, YELLOW)
)
ON_PAPER = COLOURS[:-1]  # without yellow, which is invisible on white

#: What marks at a mechanism have, in the browser where the mechanism itself is of other colours.
FORCE, TORQUE, TARGET = VERMILION, PINK, GREEN
SHARED: RGB = (140, 140, 140)  # a force that redundant rows share somehow
CONTACT_OPEN, CONTACT_STICKS, CONTACT_SLIPS = SHARED, BLUE, ORANGE
LOOP_ERROR, LOOP_ERROR_ON_WHITE = YELLOW, BLACK  # RViz is dark, the browser view is not
CENTRE: RGB = (20, 20, 20)  # of mass
WARNING = COLOURS[1]  # on pages
