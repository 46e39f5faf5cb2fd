"""Records say how much their kernels make beside the results, where that may be far more."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from dy2st_runtime.ir import DEFINITIONS, TensorType, lookup
from dy2st_runtime.ir.inputs import complete
from dy2st_runtime.ir.tracing.tracer import infer

PLAIN = {"strides": (1, 1), "pads": ((2, 3), (0, 1)), "dilations": (1, 1)}
STEPS = {"strides": (2, 3), "pads": ((0, 0), (4, 4)), "dilations": (1, 2)}
WIDE = {"strides": (1, 1), "pads": ((12, 0), (0, 0)), "dilations": (1, 1)}
FAR = {"strides": (300, 1), "pads": ((300, 300), (0, 0)), "dilations": (1, 1)}
POOL = {"kernel": (5, 4), "strides": (2, 1), "pads": ((2, 2), (0, 3))}
CASES = [
    ("conv", ((1, 8, 40, 40), (4, 8, 9, 9)), PLAIN),
    ("conv", ((6, 8, 40, 40), (4, 4, 9, 9)), {**STEPS, "groups": 2}),
    ("conv", ((200, 8, 12, 12), (4, 8, 9, 9)), PLAIN),
    ("conv", ((2, 8, 40, 40), (8, 1, 9, 9)), {**PLAIN, "groups": 8}),
    ("conv", ((4, 4, 20, 60), (4, 4, 1, 1)), FAR),
    ("conv_transpose", ((1, 8, 35, 35), (8, 4, 9, 9)), {"sizes": (38, 42), **PLAIN}),
    ("conv_transpose", ((6, 8, 20, 20), (8, 4, 9, 9)), {"sizes": (47, 66), **STEPS}),
    ("conv_transpose", ((60, 8, 3, 3), (8, 4, 9, 9)), {"sizes": (6, 10), **PLAIN}),
    ("conv_transpose", ((6, 8, 35, 35), (8, 4, 9, 9)), {"sizes": (31, 43), **WIDE}),
    ("conv_weight", ((3, 8, 40, 40), (3, 4, 37, 33)), {"kernel": (9, 9), **PLAIN}),
    ("conv_weight", ((200, 8, 12, 12), (200, 4, 7, 5)), {"kernel": (9, 9), **PLAIN}),
    ("max_pool", ((4, 8, 60, 60),), POOL),
    ("window_max", ((4, 8, 60, 60),), POOL),
    ("window_sum", ((4, 8, 60, 60),), POOL),
    ("window_spread", ((4, 8, 30, 60),), {"sizes": (60, 60), **POOL}),
]


def test_every_record_that_says_so_is_measured():
    declared = {name for name, definition in DEFINITIONS.items() if definition.scratch is not None}
    assert declared == {name for name, *_ in CASES}


@pytest.mark.parametrize(("name", "shapes", "attributes"), CASES)
def test_a_kernel_makes_no_more_than_its_record_says(name, shapes, attributes):
    definition = lookup(name)
    attributes = complete(definition, attributes)
    arrays = [np.random.default_rng(0).standard_normal(shape) for shape in shapes]
    types = [TensorType(array.dtype, array.shape) for array in arrays]
    made = infer(definition, types, attributes)
    result = made[0] if len(made) == 1 else tuple(made)
    said = 8 * sum(math.prod(s) for s in definition.scratch(result, *types, **attributes))
    definition.kernel(*arrays, **attributes)
    tracemalloc.start()
    definition.kernel(*arrays, **attributes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Results are made twice where a bias, another order or another dtype is to come.
    operands_and_results = sum(8 * math.prod(type.shape) for type in (*types, *made))
    assert peak <= said + 3 * operands_and_results
