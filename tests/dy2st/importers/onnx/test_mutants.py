"""Random changes of models are read, or refused by an error of ours."""

from __future__ import annotations

import random
import warnings

import pytest

pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")

from dy2st.errors import Dy2stError  # noqa: E402
from dy2st.importers.onnx import program_of  # noqa: E402
from tests.dy2st.importers.onnx.mutants import mutated, seeds  # noqa: E402
from tests.effort import effort  # noqa: E402


def test_a_changed_model_is_read_or_refused():
    draw, start = random.Random(3), seeds()
    for _ in range(effort(150, 10_000)):
        data = mutated(draw.choice(start), draw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program_of(data)
            except Dy2stError:
                pass
