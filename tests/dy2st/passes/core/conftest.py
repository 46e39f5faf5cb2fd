"""Passes that a test registers are forgotten after it."""

from __future__ import annotations

import pytest

from dy2st.passes.core import registry


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_made", dict(registry._made))
