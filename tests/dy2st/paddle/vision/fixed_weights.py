"""Weights by a formula, so that two libraries can be given the same ones."""

import math

import numpy as np


def fixed_value(index, name, shape):
    """What the tensor at a place of a state_dict holds."""
    wave = np.sin(np.arange(math.prod(shape)) * 0.7310585 + index).reshape(shape)
    if name.endswith("_variance"):
        return (1.0 + 0.4 * wave).astype("float32")
    if len(shape) == 1:
        return ((1.0 if name.endswith("weight") else 0.0) + 0.2 * wave).astype("float32")
    inputs = math.prod(shape[1:]) if len(shape) == 4 else shape[0]
    return (wave * 2.0 / math.sqrt(inputs)).astype("float32")


def fixed_picture(shape):
    """A picture."""
    return np.cos(np.arange(math.prod(shape)) * 0.3713).reshape(shape).astype("float32")


def fill(model, as_tensor):
    """Give a model its weights, and have it predict."""
    model.eval()
    state = model.state_dict()
    names = list(state)
    values = [fixed_value(i, n, list(state[n].shape)) for i, n in enumerate(names)]
    model.set_state_dict(dict(zip(names, map(as_tensor, values), strict=True)))
