# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""IFToMM library of computational benchmark problems: five mechanisms with rigid bodies."""
