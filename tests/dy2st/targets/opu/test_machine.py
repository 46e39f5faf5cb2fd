from __future__ import annotations

import pytest

from dy2st.targets.opu.machine import machine, weight_words


@pytest.mark.parametrize(
    "channels, outputs, words", [(64, 64, 576), (32, 64, 288), (16, 32, 144), (64, 30, 288)]
)
def test_weights_take_whole_rows(channels: int, outputs: int, words: int) -> None:
    assert weight_words(channels, outputs, 9, machine("opu1024")) == words
