"""Every Layer and network of the library, converted as it is, gives what its eager calls give."""

from __future__ import annotations

import inspect
import random

import pytest

from dy2st import nn
from dy2st.paddle.vision import models
from dy2st_runtime.nn.lazy import LAYERS
from tests.dy2st.ordinary.driver import check, ways_of
from tests.dy2st.ordinary.layers import NETWORKS, NO_NETWORKS, ROWS
from tests.effort import effort

ALL = 1000  # ways: more than any row has
QUICK = ("LeNet", "squeezenet1_1")


def drawn(rows, count, only=None):
    """So many ways of each row, the same in each run."""
    found = []
    for row in rows:
        ways = [way for way in ways_of(row) if not only or only(way)]
        ways = random.Random(row.name).sample(ways, min(count, len(ways)))
        found += [pytest.param(row, way, id=f"{row.name}: {way}") for way in ways]
    return found


def test_every_layer_has_a_row():
    names = {*dir(nn), *LAYERS}
    classes = {name for name in names if inspect.isclass(getattr(nn, name))}
    layers = {name for name in classes if issubclass(getattr(nn, name), nn.Layer)}
    assert layers - {*ROWS} == NO_NETWORKS


def test_every_network_has_a_row():
    assert {*NETWORKS} == {name for name in models.__all__ if name.islower() or name == "LeNet"}


@pytest.mark.parametrize(("row", "way"), drawn(ROWS.values(), effort(1, ALL)))
def test_layers_are_converted_as_they_are(row, way):
    check(row, way)


@pytest.mark.parametrize(("row", "way"), drawn([NETWORKS[name] for name in QUICK], effort(1, ALL)))
def test_networks_are_converted_as_they_are(row, way):
    check(row, way)


LARGE = [row for name, row in NETWORKS.items() if name not in QUICK]


def is_chaotic_in_float32(way):
    """Small batches are normalised over few places, dozens of times: float64 alone trains alike."""
    return way.training and way.dtype != "float64"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "way"), drawn(LARGE, 2, only=lambda way: not is_chaotic_in_float32(way))
)
def test_large_networks_are_converted_as_they_are(row, way):
    check(row, way)
