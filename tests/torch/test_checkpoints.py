"""Checkpoints: what torch writes is read here, and what is written here is read there."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import dy2st
from dy2st_runtime.checkpoint import load, save

DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.uint16, torch.uint32, torch.uint64,
]  # fmt: skip


def numbers(tensor):
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()


def random_view(rng):
    """A tensor of any dtype that lies somewhere in a storage."""
    base = torch.tensor(rng.integers(0, 2, (4, 5, 6))).to(DTYPES[rng.integers(len(DTYPES))])
    views = [
        lambda t: t.permute(2, 0, 1), lambda t: t[1:, ::2], lambda t: t[:, 3], lambda t: t[2, 1, 4],
        lambda t: t[:, :0], lambda t: t[..., :1].expand(4, 5, 9), lambda t: t.reshape(-1)[7:],
    ]  # fmt: skip
    return views[rng.integers(len(views))](base)


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(10))
def test_tensors_of_torch_are_read(tmp_path, seed, protocol, is_zip):
    rng = np.random.default_rng(seed)
    state = {f"t{number}": random_view(rng) for number in range(6)}
    if not is_zip:  # the older kind lacks some dtypes
        state = {k: t for k, t in state.items() if t.dtype not in DTYPES[-3:]}
    state |= {"again": state["t0"], "nested": [state["t1"], (1, {"a": None})]} if is_zip else {}
    torch.save(
        state,
        tmp_path / "a.pt",
        pickle_protocol=protocol,
        _use_new_zipfile_serialization=is_zip,
    )
    found = load(tmp_path / "a.pt")
    assert list(found) == list(state)
    for name, tensor in state.items():
        if name == "nested":
            assert found[name][1] == (1, {"a": None})
            found[name], tensor = found[name][0], tensor[0]
        expected = numbers(tensor)
        assert str(found[name].dtype) == str(tensor.dtype).removeprefix("torch.")
        np.testing.assert_array_equal(found[name].numpy().astype(expected.dtype), expected)


def test_torch_reads_what_is_written_here(tmp_path):
    state = {
        "a": dy2st.to_tensor(np.arange(6).reshape(2, 3).astype(dtype))
        for dtype in ("float32", "int64")
    }
    save({"model": state, "epoch": 3}, tmp_path / "model.safetensors")
    found = load_file(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(found["model.a"].numpy(), state["a"].numpy())


def test_safetensors_of_torch_are_read(tmp_path):
    state = {"a": torch.ones(2, dtype=torch.bfloat16), "b": torch.arange(3)}
    save_file(state, tmp_path / "model.safetensors")
    found = load(tmp_path / "model.safetensors")
    assert str(found["a"].dtype) == "bfloat16" and found["b"].tolist() == [0, 1, 2]


def test_a_module_is_refused_and_its_state_dict_is_read():
    module = torch.nn.TransformerEncoderLayer(8, 2)
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    with pytest.raises(dy2st.errors.FormatError, match="nothing of it was run"):
        load(buffer)
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    buffer.seek(0)
    assert list(load(buffer)) == list(module.state_dict())
