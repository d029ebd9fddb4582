# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The memory of laws that need no tasks: limits of the motors, transfers, hold."""

from uk_dynamics.compilation.emit.layout.block import Block, Declared
from uk_dynamics.core.servo import LIMITS, PAST
from uk_dynamics.mechanism.resolution import ResolvedMechanism


class LimitsLayout(Block):
    """What limits of the motors are set to and remember, and more of a law that has them."""

    def __init__(self, motors: int, *more: Declared) -> None:
        super().__init__(
            ("limits", len(LIMITS) * motors, ", ".join(LIMITS)),
            ("commands", PAST * motors, "last efforts, their last change"),
            ("known_commands", (), "whether there are any"),
            ("lower", motors, "smallest efforts"),
            ("upper", motors, "largest efforts"),
            *more,
        )


class TransferLayout(LimitsLayout):
    """What a transfer between laws remembers."""

    def __init__(self, motors: int) -> None:
        super().__init__(
            motors,
            ("under_way", (), "whether an offset fades"),
            ("begun", (), "whether it is known"),
            ("begin", (), "s"),
            ("duration", (), "s"),
            ("origin", motors, "efforts to begin at"),
            ("offset", motors, "what fades"),
            ("known_sent", (), "whether there were last efforts"),
            ("sent", motors, "last efforts"),
        )


class JointSpaceLayout(LimitsLayout):
    """What gravity compensation and hold are set to and remember."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        motors, m = len(mechanism.actuators), len(mechanism.constraints)
        super().__init__(
            motors,
            ("holds", (), "1: hold, 0: gravity compensation"),
            ("stiffness", (), "of hold"),
            ("damping", (), ""),
            ("holding", (), "whether there is a position"),
            ("position", mechanism.model.nq, "which is held"),
            ("active", max(m, 1), "1 for rows that act, 0 for those switched off"),
            ("weights", motors, "diagonal of W"),
            ("preload", motors, "efforts to come close to"),
            ("internal", (), "1: motors cause internal forces too, 0: they do not"),
            ("internal_row", max(m, 1), "1 for rows of constraints with such a force"),
            ("internal_force", max(m, 1), "to add to their multipliers"),
            ("internal_unit", motors, "natural efforts"),
        )
