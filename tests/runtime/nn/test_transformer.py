"""Transformers: caches, masks, and layers that are made like a given one."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.nn.transformer import StaticCache, attributes_for
from dy2st_runtime.tensor import to_tensor
from tests.runtime.nn.of_paddle.cases import wave

X, MEMORY = to_tensor(wave(2, 3, 8)), to_tensor(wave(2, 5, 8, phase=1.0))


def one_by_one(step, caches):
    """What a layer gives for one place of X after the other, with caches."""
    outputs = []
    for place in range(3):
        output, caches = step(X[:, place : place + 1], caches)
        outputs.append(output.numpy())
    return np.concatenate(outputs, axis=1)


def test_an_encoder_with_caches_gives_what_it_gives_at_once():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2)
    mask = to_tensor(np.tril(np.ones((3, 3), bool)))
    steps = one_by_one(lambda x, c: encoder(x, cache=c), encoder.gen_cache(X))
    np.testing.assert_allclose(steps, encoder(X, mask).numpy(), rtol=1e-5, atol=1e-6)


def test_a_decoder_with_caches_gives_what_it_gives_at_once():
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2)
    model = nn.Transformer(8, 2, 1, 1, 16)
    mask = model.generate_square_subsequent_mask(3)
    caches = decoder.gen_cache(MEMORY)
    steps = one_by_one(lambda x, c: decoder(x, MEMORY, cache=c), caches)
    at_once = decoder(X, MEMORY, tgt_mask=mask).numpy()
    np.testing.assert_allclose(steps, at_once, rtol=1e-5, atol=1e-6)
    own, static = decoder.gen_cache(MEMORY, do_zip=True)
    assert len(own) == len(static) == 2 and isinstance(static[0], StaticCache)


def test_a_cache_begins_empty_or_with_given_keys_and_values():
    layer = nn.MultiHeadAttention(8, 2)
    assert layer.gen_cache(X).k.shape == [2, 2, 0, 4]
    first = layer.gen_cache(*layer.compute_kv(X, X))
    assert type(first) is layer.Cache
    output, after = layer(X, cache=first)
    assert output.shape == [2, 3, 8] and after.v.shape == [2, 2, 6, 4]


def test_layers_that_are_made_like_the_first_have_values_of_their_own():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2)
    one, two = (layer.linear1.weight.numpy() for layer in encoder.layers)
    assert not np.array_equal(one, two)


def test_a_subclass_is_made_anew_with_its_own_settings():
    class Mine(nn.TransformerEncoderLayer):
        def __init__(self, width):
            super().__init__(width, 2, 16, 0.0)
            self._config = {"width": width}

    assert [type(layer) for layer in nn.TransformerEncoder(Mine(8), 2).layers] == [Mine, Mine]


def test_a_named_attribute_gets_a_number_a_part():
    names = [part.name for part in attributes_for(nn.ParamAttr(name="w"), 2)]
    assert names == ["w_0", "w_1"]
    assert attributes_for(False, 2) == [False, False]
    with pytest.raises(ArgumentError, match="2 attributes"):
        attributes_for([None] * 3, 2)


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ArgumentError, match="3 heads"):
        nn.MultiHeadAttention(8, 3)
