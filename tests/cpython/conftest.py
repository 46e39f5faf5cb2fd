"""All of CPython's tests run only where they are asked for by their marker."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "cpython" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("cpython")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
