# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A skip that nobody expects fails a run that asks for that; one that is listed does not."""

from __future__ import annotations

import pytest
from support.skips import Skips, expected

pytest_plugins = ("pytester",)

LISTED = """
# why
could not import 'rarely'*
"""
TESTS = """
import pytest

def test_listed():
    pytest.importorskip("rarely", reason="could not import 'rarely': it is not on PyPI")

def test_passes():
    pass

@pytest.mark.xfail(strict=True)
def test_fails_as_it_should():
    assert False
"""
UNLISTED = """
import pytest

pytest.skip("no Chromium", allow_module_level=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("unlisted", "status"), [(False, 0), (True, 1)])
def test_only_listed_skips_pass(pytester: pytest.Pytester, unlisted: bool, status: int) -> None:
    pytester.makepyfile(test_listed=TESTS)
    if unlisted:
        pytester.makepyfile(test_unlisted=UNLISTED)
    skips = Skips(expected(LISTED))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[skips])
    assert result.ret == status
    named = ["test_unlisted.py: no Chromium"] if unlisted else []
    assert skips.unlisted == named
    assert all(name in result.stdout.str() for name in named)
