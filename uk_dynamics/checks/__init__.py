# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Model validation: checks of a mechanism, with remedies."""

from uk_dynamics.checks.checklist import check_file
from uk_dynamics.checks.subject import Finding, listed
