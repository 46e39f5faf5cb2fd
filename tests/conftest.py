"""What all tests share: on the gate, generated cases are the same in every run."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("gate", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("gate")
