# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tables, figures and pages of a study."""

from uk_dynamics_studies.papers.output.files import text, write_page, write_results
from uk_dynamics_studies.papers.output.study import Study, heard

__all__ = [
    "Study",
    "heard",
    "text",
    "write_page",
    "write_results",
]
