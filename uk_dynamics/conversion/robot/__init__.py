# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What every import makes: a URDF, a mechanism file, remarks."""
