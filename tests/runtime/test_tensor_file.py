"""Arrays in files: exact, mapped, atomic, and refused when they are damaged."""

import json
import os
import random
import subprocess
import sys
import textwrap

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dy2st_runtime import tensor_file
from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.files import replacing
from dy2st_runtime.tensor_file import digest_of, read_arrays, write_arrays

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", ml_dtypes.bfloat16,
]  # fmt: skip


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.safetensors"


def assert_same(left, right):
    assert sorted(left) == sorted(right)
    for name, array in left.items():
        assert array.dtype == right[name].dtype
        assert array.shape == right[name].shape
        assert array.tobytes() == right[name].tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_shape_survives(file, dtype):
    data = np.random.default_rng(0).integers(0, 2, (2, 3, 4)).astype(dtype)
    arrays = {"a": data, "empty": data[:, :0], "number": data[0, 0, 0].reshape(()), "ü.b": data[0]}
    write_arrays(file, arrays)
    assert_same(read_arrays(file), arrays)


def test_arrays_that_are_not_contiguous_are_stored_as_they_read(file):
    data = np.arange(12.0).reshape(3, 4)
    arrays = {"t": data.T, "s": data[::2, ::-1], "b": np.broadcast_to(np.float32(1), (2, 2))}
    write_arrays(file, arrays)
    assert_same(read_arrays(file), arrays)


def test_arrays_in_foreign_byte_order_are_stored_in_ours(file):
    write_arrays(file, {"a": np.array([1.5, 2.5], ">f4")})
    assert_same(read_arrays(file), {"a": np.array([1.5, 2.5], "f4")})


def test_the_library_reads_what_is_written_and_the_other_way_round(file):
    arrays = {"a": np.arange(3, dtype="int8"), "b": np.eye(3)}
    write_arrays(file, arrays)
    assert_same(load_file(file), arrays)
    save_file(arrays, file, metadata={"format": "pt", "more": "x"})
    assert_same(read_arrays(file), arrays)


def test_data_that_is_not_aligned_is_read(file):
    header = json.dumps({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}).encode()
    header += b" " * (1 - len(header) % 2)  # an odd length
    file.write_bytes(len(header).to_bytes(8, "little") + header + np.float64(1.5).tobytes())
    assert read_arrays(file)["a"].tolist() == [1.5]


def test_one_array_under_two_names_is_stored_once(file):
    array = np.ones((100, 100))
    write_arrays(file, {"b": array, "a": array, "c": array.copy()})
    assert file.stat().st_size < 2.1 * array.nbytes
    arrays = read_arrays(file)
    assert arrays["a"] is arrays["b"] is not arrays["c"]


def test_complex_numbers_are_stored_as_two_parts(file):
    given = {
        "a": np.array([[1 + 2j, 3 - 1j]], "complex64").T,
        "b": np.array(1j),
        "c": np.zeros((0, 2), "complex64"),
        "d": np.ones((3, 2), "float32"),
    }
    given["e"] = given["a"]
    write_arrays(file, given)
    found = read_arrays(file)
    for name, array in given.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array)
    assert found["e"] is found["a"]
    parts = np.stack([given["a"].real, given["a"].imag], -1)
    assert digest_of({"a": given["a"]}) != digest_of({"a": parts})


@pytest.mark.parametrize("names", [["d"], ["none"], [[1]], 3])
def test_parts_that_are_not_there_are_refused_or_passed_over(file, names, monkeypatch):
    monkeypatch.setattr(tensor_file, "_complex_names", lambda *_: names)
    write_arrays(file, {"d": np.ones((2, 3), "float32")})
    if names == 3:
        assert read_arrays(file)["d"].shape == (2, 3)
        return
    with pytest.raises(FormatError, match="said to be complex"):
        read_arrays(file)


def test_an_array_that_the_format_lacks_is_refused_and_nothing_is_written(file):
    with pytest.raises(ArgumentError, match="'z' is an array of <U1"):
        write_arrays(file, {"z": np.array(["a"])})
    assert not file.exists()


def test_loaded_arrays_cannot_be_written(file):
    write_arrays(file, {"a": np.ones(2)})
    with pytest.raises(ValueError, match="read-only"):
        read_arrays(file)["a"][0] = 2


def test_loading_takes_no_more_memory_than_the_arrays(file):
    write_arrays(file, {f"w{i}": np.full((1024, 1024), i, "float32") for i in range(20)})  # 80 MB
    code = f"""
        import resource, pathlib
        from dy2st_runtime.tensor_file import read_arrays
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = peak()
        arrays = read_arrays(pathlib.Path({str(file)!r}))
        assert peak() - before < 4_000, "it reads before it is asked"
        assert sum(float(array.sum()) for array in arrays.values()) > 0
        print((peak() - before) * 1024)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert int(found.stdout) < 1.2 * file.stat().st_size


# -- atomic writing ---------------------------------------------------------------------------


def test_a_failure_while_writing_leaves_the_old_file(file):
    file.write_bytes(b"old")
    with pytest.raises(RuntimeError), replacing(file) as (temporary,):
        temporary.write_bytes(b"new")
        raise RuntimeError
    assert file.read_bytes() == b"old"
    assert os.listdir(file.parent) == [file.name]


def test_a_file_can_be_replaced_while_it_is_mapped(file):
    write_arrays(file, {"a": np.zeros(3)})
    mapped = read_arrays(file)["a"]
    write_arrays(file, {"a": np.ones(3)})
    assert mapped.tolist() == [0, 0, 0]
    assert read_arrays(file)["a"].tolist() == [1, 1, 1]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_others_may_read_the_file_as_any_other_file(file):
    write_arrays(file, {})
    (file.parent / "plain").touch()
    assert file.stat().st_mode == (file.parent / "plain").stat().st_mode


# -- damaged files ----------------------------------------------------------------------------


def raw(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 bytes are too few"),
        (b"PK\x03\x04" + b"x" * 50, "truncated, or no safetensors file"),
        (b"\xff" * 8 + b"x" * 50, "truncated, or no safetensors file"),
        (raw(b"{"), "header is damaged"),
        (raw(b"\xff\xfe"), "header is damaged"),
        (raw(b"[" * 100_000), "header is damaged"),
        (raw([]), "no table of arrays"),
        (raw({"a": 1}), "the entry of 'a' is damaged"),
        (raw({"a": entry(shape="ab")}), "the entry of 'a' is damaged"),
        (raw({"a": entry(shape=[-1])}), "the entry of 'a' is damaged"),
        (raw({"a": entry(shape=[1.0])}), "the entry of 'a' is damaged"),
        (raw({"a": entry(offsets=[0])}), "the entry of 'a' is damaged"),
        (raw({"a": entry("C64")}), "has the element type 'C64', not known here"),
        (raw({"a": entry(["F32"])}), "not known here"),
        (raw({"a": entry(shape=[2])}, b"1234"), "does not fit its shape"),
        (raw({"a": entry(shape=[2**62, 2**62, 0], offsets=[0, 0])}), "does not fit its shape"),
        (raw({"a": entry(shape=[1] * 65)}, b"1234"), "does not fit its shape"),
        (raw({"a": entry()}, b"123"), "is missing, overlaps or leaves a gap"),
        (raw({"a": entry(), "b": entry()}, b"1234"), "is missing, overlaps or leaves a gap"),
        (raw({"a": entry(offsets=[4, 8])}, b"12345678"), "is missing, overlaps or leaves a gap"),
        (raw({"a": entry(offsets=[8, 4])}, b"12345678"), "does not fit its shape"),
        (raw({"a": entry()}, b"12345"), "it has 5 bytes of data and names 4"),
        (raw({"__metadata__": {"same_as": '{"b": "c"}'}}), "same as another array"),
        (raw({"__metadata__": {"same_as": "{"}}), "header is damaged"),
    ],
)
def test_a_damaged_file_is_refused(file, content, message):
    file.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_arrays(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_files_cut_or_changed_anywhere_are_refused_or_read(file):
    write_arrays(file, {"a": np.arange(3, dtype="int16"), "b": np.ones((2, 2), "f4")})
    content = file.read_bytes()
    source = random.Random(0)
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(FormatError):
            read_arrays(file)
    for _ in range(1_000):
        changed = bytearray(content)
        changed[source.randrange(len(content))] = source.randrange(256)
        file.write_bytes(changed)
        try:
            read_arrays(file)
        except FormatError:
            pass


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_digest_tells_arrays_not_how_they_lie_in_memory(dtype):
    data = np.random.default_rng(0).integers(0, 2, (3, 4)).astype(dtype)
    for same in (data.copy("F"), np.stack([data, data], 1)[:, 0]):
        assert digest_of({"a": same}) == digest_of({"a": data})
    others = [
        {"b": data},
        {"a": data.reshape(4, 3)},
        {"a": data, "b": data[:0]},
        {"a": data[::-1]},
        {},
    ]
    assert len({digest_of(arrays) for arrays in (*others, {"a": data})}) == 6


def test_the_digest_does_not_depend_on_the_order_of_bytes_or_names():
    left = {"a": np.array([1.5, 2.5], ">f4"), "b": np.zeros(0)}
    right = {"b": np.zeros(0), "a": np.array([1.5, 2.5], "f4")}
    assert digest_of(left) == digest_of(right)
