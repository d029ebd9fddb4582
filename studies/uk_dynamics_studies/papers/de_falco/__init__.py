# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""De Falco et al.: five pseudoinverses on an over-constrained five-bar."""
