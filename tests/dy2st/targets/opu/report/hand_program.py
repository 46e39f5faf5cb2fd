"""A program of two layers whose every time is worked out by hand.

load features  144 words     0 -  144      layer 1: conv 3x3 of 10 x 10 x 16 to 64, pool 2x2 /2
load weights   144 words   144 -  288
load bias        2 words   288 -  290
compute       9 x 100      290 - 1190
store     100 sums read   1190 - 1290
load features   25 words  1290 - 1315      layer 2: conv 1x1 of 5 x 5 x 64 to 128, two tiles
load weights    64 words  1315 - 1379
load bias        2 words  1379 - 1381
compute       4 x 25      1381 - 1481
load weights, bias        1381 - 1447
store           25 words  1481 - 1506
compute       4 x 25      1481 - 1581
store           25 words  1581 - 1606
"""

from __future__ import annotations

from dy2st.targets.opu.layer import Activation, Layer, LayerType, Pooling
from dy2st.targets.opu.machine import machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Compute, Kind, Load, Origin, Pool, Store, Waits

MACHINE = machine("opu1024")
TAPS = tuple((r, s) for r in range(3) for s in range(3))


def network():
    first = Layer(
        index=1,
        type=LayerType.CONVOLUTION,
        input_layer=[0],
        output_layer=[2],
        input_size=[1, 10, 10, 16],
        output_size=[1, 5, 5, 64],
        ker_size=[1, 3, 3],
        padding_size=[1, 1, 1, 1],
        pooling_size=[1, 2, 2],
        pooling_stride=[1, 2, 2],
        pooling_type=Pooling.MAX,
        activation_type=Activation.RELU,
        name="stem.<conv>",
        location="net.py:7",
        input_fraclen=5,
    )
    second = Layer(
        index=2,
        type=LayerType.CONVOLUTION,
        input_layer=[1],
        output_layer=[-1],
        input_size=[1, 5, 5, 64],
        output_size=[1, 5, 5, 128],
    )
    return Network([first, second], input_sizes=[(1, 10, 10, 16)], outputs=[2])


def load(kind, layer, height, width, tile="", **waits):
    place = {"address": 0, "pitch": width, "bank": 0, "row": 0}
    origin = Origin(layer, tile)
    return Load(kind=kind, height=height, width=width, waits=Waits(**waits), origin=origin, **place)


def compute(layer, edge, taps, row=0, **waits):
    return Compute(
        channels=16 if layer == 1 else 64,
        outputs=64,
        height=edge,
        width=edge,
        in_width=edge,
        taps=taps,
        psum_row=row,
        waits=Waits(**waits),
        origin=Origin(layer),
    )


def store(layer, edge, row=0, pool=None, **waits):
    place = {"address": 0, "pitch": edge, "psum_row": row, "outputs": 64}
    origin = Origin(layer)
    return Store(height=edge, width=edge, pool=pool, waits=Waits(**waits), origin=origin, **place)


def operations(last_compute_waits=0, second_waits=1):
    """The program above; the last compute may wait for stores, too, and layer 2 for none."""
    pool = Pool(kind=1, height=2, width=2, stride_y=2, stride_x=2)
    return [
        load(Kind.FEATURES, 1, 12, 12, "y0"),
        load(Kind.WEIGHTS, 1, 1, 144),
        load(Kind.BIAS, 1, 1, 2),
        compute(1, 10, TAPS, loads=3),
        store(1, 10, pool=pool, computes=1),
        load(Kind.FEATURES, 2, 5, 5, stores=second_waits),
        load(Kind.WEIGHTS, 2, 1, 64),
        load(Kind.BIAS, 2, 1, 2),
        compute(2, 5, ((0, 0),), loads=6),
        load(Kind.WEIGHTS, 2, 1, 64, computes=1),
        load(Kind.BIAS, 2, 1, 2),
        store(2, 5, computes=2),
        compute(2, 5, ((0, 0),), row=25, loads=8, stores=last_compute_waits),
        store(2, 5, row=25, computes=3),
    ]
