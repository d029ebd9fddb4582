# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics benchmark`` and ``uk_dynamics reproduce``."""
