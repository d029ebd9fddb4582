# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What reproduces papers and measures other engines, with uk_dynamics and not in it."""
