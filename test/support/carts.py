# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A cart that rolls, for constraints on velocities."""

from support.mechanism_builder import joint, link

# A cart on rails x and y, turning about z, with an arm on top; its wheel has a radius of 0.2 m.
CART = (
    link("world")
    + link("along", mass=0.0)
    + link("across", mass=0.0)
    + link("cart", mass=2.0)
    + link("wheel", mass=1.0)
    + link("arm", mass=3.0, com="0.5 0 0")
    + joint("x", "world", "along", kind="prismatic", axis="1 0 0")
    + joint("y", "along", "across", kind="prismatic", axis="0 1 0")
    + joint("yaw", "across", "cart", axis="0 0 1")
    + joint("roll", "cart", "wheel", axis="0 1 0", xyz="0 0 0.2")
    + joint("swing", "cart", "arm", axis="0 0 1", xyz="0 0 0.5")
)
ROLLING = """constraints:
  wheel:
    type: no_slip
    radius: 0.2
    parent: {link: world}
    child: {link: wheel}
"""
