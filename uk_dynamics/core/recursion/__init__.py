# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints enforced level by level: Orsino's recursive modular methodology.

Paper: Orsino, Proc. R. Soc. A 473 (2017) 20160891.
"""

from uk_dynamics.core.recursion.hierarchical import Hierarchical
from uk_dynamics.core.recursion.recursion import Recursion
