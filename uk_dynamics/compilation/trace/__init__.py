# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Array code evaluated on symbols."""
