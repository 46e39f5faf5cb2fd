"""Checkpoints of one process; several are in `test_launching.py` and `test_shared_checkpoints.py`."""

import json

import numpy as np
import pytest

import dy2st
import dy2st.distributed as dist
from dy2st.errors import ArgumentError, FormatError, MissingFile, ParameterMismatch


def state(value=0.0):
    return {
        "model": {"w": dy2st.full([2, 3], value), "b": dy2st.full([3], value, "float64")},
        "step": int(value),
        "history": [value],
    }


def test_a_state_comes_back(tmp_path):
    for value in (1.0, 2.0):
        dist.save_state_dict(state(value), str(tmp_path))
        found = state()
        dist.load_state_dict(found, str(tmp_path))
        assert found["model"]["w"].tolist() == [[value] * 3] * 2
        assert found["model"]["b"].numpy().dtype == "float64"
        assert (found["step"], found["history"]) == (int(value), [value])
        assert len([*tmp_path.iterdir()]) == 2  # the index, and one folder


def test_an_optimizer_goes_on_where_it_was(tmp_path):
    def made():
        dy2st.seed(3)
        with dy2st.utils.unique_name.guard():  # as in another process
            model = dy2st.nn.Linear(3, 2)
        schedule = dy2st.optimizer.lr.StepDecay(0.1, 2)
        return model, dy2st.optimizer.Adam(schedule, parameters=model.parameters()), schedule

    def step(model, optimizer, schedule):
        model(dy2st.ones([4, 3])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()

    first, second = made(), made()
    for _ in range(3):
        step(*first)
    saved = {"model": first[0].state_dict(), "optimizer": first[1].state_dict()}
    dist.save_state_dict(saved, str(tmp_path))
    found = {"model": second[0].state_dict(), "optimizer": second[1].state_dict()}
    dist.load_state_dict(found, str(tmp_path))
    second[1].set_state_dict(found["optimizer"])
    for one in (first, second):
        step(*one)
    assert np.array_equal(first[0].weight.numpy(), second[0].weight.numpy())


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingFile, match="index.json"):
        dist.load_state_dict(state(), str(tmp_path))
    dist.save_state_dict(state(), str(tmp_path))
    with pytest.raises(ParameterMismatch, match="no 'other'"):
        dist.load_state_dict({"other": dy2st.ones([1])}, str(tmp_path))
    with pytest.raises(FormatError, match=r"float32\[2, 3\], and float32\[3\]"):
        dist.load_state_dict({"model": {"w": dy2st.ones([3])}}, str(tmp_path))


def test_what_cannot_be_stored_is_refused_and_nothing_changes(tmp_path):
    dist.save_state_dict(state(1.0), str(tmp_path))
    with pytest.raises(ArgumentError, match="'f' is a builtin_function"):
        dist.save_state_dict({"f": print}, str(tmp_path))
    dist.load_state_dict(found := state(), str(tmp_path))
    assert found["step"] == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 9, "tensors": {}, "values": {}, "keys": {}}']
)
def test_a_damaged_index_is_refused(tmp_path, text):
    dist.save_state_dict(state(1.0), str(tmp_path))
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(FormatError, match="index"):
        dist.load_state_dict(state(), str(tmp_path))


def test_a_part_that_is_damaged_is_refused(tmp_path):
    dist.save_state_dict(state(1.0), str(tmp_path))
    index = json.loads((tmp_path / "index.json").read_text())
    file = tmp_path / index["tensors"]["model.w"]["parts"][0]["file"]
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(FormatError, match="safetensors"):
        dist.load_state_dict(state(), str(tmp_path))
