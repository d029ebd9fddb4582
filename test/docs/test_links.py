# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the pages of the documentation point to exists."""

import re

import pytest
from support.repository import DOCS


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []
