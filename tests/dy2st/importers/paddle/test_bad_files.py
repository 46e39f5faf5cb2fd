"""Files that are damaged, foreign, or lie: one clear error each, and nothing else happens."""

import json
import struct
from pathlib import Path

import pytest

from dy2st.importers.paddle.reading import read
from dy2st.importers.paddle.wire import INTEGER, Field, parse
from dy2st_runtime.errors import (
    Dy2stError,
    FormatError,
    MissingFile,
    ParameterMismatch,
    UnknownOperators,
)
from tests.dy2st.importers.paddle.mutations import DATA, run
from tests.effort import effort

_TRUE = {"#": "0.a_bool", "D": True}
MODEL, PARAMS = DATA / "branches.json", DATA / "branches.pdiparams"


@pytest.fixture
def written(tmp_path):
    """A function that writes a changed model, and reads it."""

    def write(change, model=MODEL, params=PARAMS.read_bytes()):
        file = tmp_path / model.name
        data = model.read_bytes()
        if model.suffix == ".json":
            tree = json.loads(data)
            change(tree)
            data = json.dumps(tree).encode()
        else:
            data = change(data)
        file.write_bytes(data)
        (tmp_path / "given.pdiparams").write_bytes(params)
        return read(file, tmp_path / "given.pdiparams")

    return write


def operators(tree):
    return tree["program"]["regions"][0]["blocks"][0]["ops"]


def test_unknown_operators_are_named_all_at_once(written):
    def change(tree):
        found = [one for one in operators(tree) if one["#"].startswith("1.")]
        found[1]["#"], found[2]["#"], found[3]["#"] = "1.strange", "1.strange", "3.other"

    with pytest.raises(UnknownOperators, match=r"3\.other, strange \(2 times\)"):
        written(change)


def test_a_value_that_comes_later_is_none_yet(written):
    def change(tree):
        last = operators(tree)[-1]["I"][0]["%"]
        matmul = next(one for one in operators(tree) if one["#"] == "1.mean")
        matmul["I"][0]["%"] = last

    with pytest.raises(FormatError, match="which nothing has made before"):
        written(change)


def test_inputs_that_are_one_value_are_refused(written):
    def change(tree):
        first, second = (one for one in operators(tree) if one["#"] == "1.data")
        second["O"][0]["%"] = first["O"][0]["%"]

    with pytest.raises(FormatError, match="are one value"):
        written(change)


def test_a_pool_of_ever_so_many_parts_is_refused(written):
    def change(tree):
        pool = next(one for one in operators(tree) if {"N": "adaptive", "AT": _TRUE} in one["A"])
        sizes = next(one["AT"] for one in pool["A"] if one["N"] == "kernel_size")
        for entry in sizes["D"]:
            entry["D"] = 10**6

    model = DATA / "video.json"
    with pytest.raises(NotImplementedError, match="pool3d with 1000000 parts"):
        written(change, model, model.with_suffix(".pdiparams").read_bytes())


def test_a_block_that_runs_itself_is_refused(written):
    model = DATA / "branches.pdmodel"
    # All attributes that name block 2, field 12 of the wire, name block 1.
    with pytest.raises(FormatError, match="which is none or in use"):
        written(lambda data: data.replace(b"\x60\x02", b"\x60\x01"), model)


def test_a_json_of_something_else_is_refused(written):
    with pytest.raises(FormatError, match="something else than PIR"):
        written(lambda tree: tree.clear())
    with pytest.raises(FormatError, match="it is damaged"):
        written(lambda tree: tree["program"].clear())


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(MissingFile):
        read(tmp_path / "net.json", None)
    (tmp_path / "net.pdmodel").write_bytes(b"")
    with pytest.raises(FormatError, match="has no block"):
        read(tmp_path / "net.pdmodel", None)


@pytest.mark.parametrize("kept", [0, 3, 11, 20, 30, 100, len(PARAMS.read_bytes()) - 1])
def test_parameters_that_are_cut_are_refused(written, kept):
    with pytest.raises(FormatError, match="is cut|has not the 4 parameters"):
        written(lambda tree: None, params=PARAMS.read_bytes()[:kept])


def test_parameters_of_another_model_are_refused(written):
    params = (DATA / "regions.pdiparams").read_bytes()
    with pytest.raises(ParameterMismatch, match="the model takes"):
        written(lambda tree: None, params=params)
    with pytest.raises(ParameterMismatch, match="bytes more than the model takes"):
        written(lambda tree: None, params=PARAMS.read_bytes() + b"\0")


def test_a_length_that_lies_takes_no_memory(written):
    head = struct.pack("<IQIi", 0, 0, 0, 12) + b"\x08\x05\x10" + b"\xff" * 8 + b"\x7f"
    with pytest.raises(FormatError, match="is cut"):
        written(lambda tree: None, params=head)
    with pytest.raises(FormatError, match="is cut"):
        written(lambda tree: None, params=struct.pack("<IQQ", 0, 1, 2**63))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x08", "ends within a number"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "more than 64 bits"),
        (b"\x0a\x05\x01", "longer than what is left"),
        (b"\x0b", "wire type 3"),
        (b"\x00\x00", "number 0"),
        (b"\x0d\0\0\0\0", "has the wire type 5"),
    ],
)
def test_bytes_that_are_no_message_are_refused(data, why):
    with pytest.raises(FormatError, match=why):
        parse(memoryview(data), {1: Field("n", INTEGER)})


def test_integers_are_read_packed_and_one_by_one():
    schema = {1: Field("n", INTEGER, True)}
    minus_one = b"\xff" * 9 + b"\x01"
    assert parse(memoryview(b"\x08\x05\x0a\x02\x06\x07\x08" + minus_one), schema) == {
        "n": [5, 6, 7, -1]
    }


def test_no_prefix_of_a_model_is_read(written):
    model = DATA / "regions.pdmodel"
    size = len(model.read_bytes())
    for kept in range(0, size - 1, size // 40):
        with pytest.raises(Dy2stError):
            written(lambda data, kept=kept: data[:kept], model)


def test_changed_files_give_a_model_or_an_error_of_ours(tmp_path):
    ends = run(effort(25, 10_000), 7, Path(tmp_path), measured=True)
    assert ends["FormatError"] > ends.total() // 4
