"""Collectives of 2 and 4 processes on this machine, against what NumPy makes of all values."""

import pickle

import numpy as np
import pytest

from tests.dy2st.paddle.distributed.scripts.collectives import DTYPES, value
from tests.dy2st.paddle.distributed.several import run

pytest.importorskip("jax")
REDUCE = {
    "SUM": lambda parts: parts.sum(0, dtype=parts.dtype),
    "MAX": lambda parts: parts.max(0),
    "MIN": lambda parts: parts.min(0),
    "PROD": lambda parts: parts.prod(0, dtype=parts.dtype),
    "AVG": lambda parts: (parts.sum(0) / len(parts)).astype(parts.dtype),
}


@pytest.fixture(scope="module", params=[2, 4])
def found(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    run("collectives.py", folder, processes=request.param)
    return [pickle.loads((folder / f"{n}.pickle").read_bytes()) for n in range(request.param)]


def test_each_process_knows_who_it_is(found):
    assert [one["who"] for one in found] == [
        (n, len(found), True, "GLOO") for n in range(len(found))
    ]


@pytest.mark.parametrize("op", REDUCE)
def test_reduced_tensors_are_those_of_all_ranks(found, op):
    for dtype in DTYPES:
        for size in (6, 3001):
            parts = np.stack([value(rank, dtype, size) for rank in range(len(found))])
            expected = REDUCE[op](parts)
            for one in found:
                got = one["all_reduce", op, dtype, size]
                assert got.dtype == dtype
                if dtype == "uint8" and op in ("SUM", "AVG"):
                    expected = parts.sum(0, dtype="uint8")
                    expected = expected if op == "SUM" else expected // len(found)
                assert np.allclose(got, expected, rtol=1e-3 if dtype == "float16" else 1e-6)
                assert np.array_equal(got, found[0]["all_reduce", op, dtype, size])


def test_tensors_go_to_the_ranks_that_they_are_for(found):
    count = len(found)
    values = [value(rank) for rank in range(count)]
    for rank, one in enumerate(found):
        assert np.array_equal(one["async"], sum(values))
        assert np.array_equal(one["reduce"], sum(values) if rank == 1 else values[rank])
        assert np.array_equal(one["broadcast"], value(1, "float64", 3001))
        assert np.array_equal(one["all_gather"], values)
        assert np.array_equal(one["all_gather into"], values)
        assert np.array_equal(one["gather"], values if rank == 1 else [])
        assert np.array_equal(one["scatter"], value(10 + rank))
        reduced = sum(value(10 * other + rank) for other in range(count))
        assert np.array_equal(one["reduce_scatter"], reduced)
        assert np.array_equal(one["alltoall"], [value(10 * i + rank) for i in range(count)])
        assert one["alltoall_single"].tolist() == [[float(i)] * 2 for i in range(count)]
        parts = [float(i) for i in range(count) for _ in range(i + 1)]
        assert one["alltoall_single of parts"].tolist() == parts
        assert np.array_equal(one["ring"], values[(rank - 1) % count])


def test_objects_go_by_pickle(found):
    for rank, one in enumerate(found):
        texts = [{"rank": n, "text": "x" * n * 1000} for n in range(len(found))]
        assert one["all_gather_object"] == texts
        assert one["broadcast_object_list"] == [1, "two"]
        assert one["scatter_object_list"] == [f"for {rank}"]
    tensor, words = found[1]["recv"]
    assert np.array_equal(tensor, value(7)) and words == ["an", "object"]


def test_a_group_has_its_own_collectives(found):
    last = len(found) - 1
    for rank, one in enumerate(found):
        x, place, size = one["group"]
        if rank in (0, last):
            assert np.array_equal(x, value(0) + value(last)) and size == 2
            assert place == (1 if rank else 0)
        else:
            assert np.array_equal(x, value(rank)) and (place, size) == (-1, -1)
