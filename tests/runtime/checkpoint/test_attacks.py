"""Files made to do harm: each is refused with its name and the cause, nothing runs, memory is bounded."""

import copyreg
import io
import pickle
import random
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dy2st_runtime.checkpoint import load
from dy2st_runtime.errors import Dy2stError, FormatError
from tests.effort import effort

RAN = []


def alarm(*args):
    RAN.append(args)
    return {}


class Evil:
    """Runs `alarm` when pickle.load reads it."""

    def __reduce__(self):
        return alarm, ("boom",)


class WithState:
    def __setstate__(self, state):
        RAN.append(state)


def text(value):
    return b"\x8c" + bytes([len(value)]) + value.encode()


def named(module, name):
    return text(module) + text(name) + b"\x93"


def call(function, *arguments):
    return function + b"(" + b"".join(arguments) + b"tR"


def pickled(*parts, protocol=4):
    return b"\x80" + bytes([protocol]) + b"".join(parts) + b"."


ME = (__name__, "alarm")
ARRAY = named("numpy._core.multiarray", "_reconstruct")
EMPTY = call(ARRAY, named("numpy", "ndarray"), b"K\x00\x85", b"C\x01b")


def dtype(name, *state):
    return call(named("numpy", "dtype"), text(name), b"\x89\x88") + b"".join(state)


def array(kind, shape, data, state=b""):
    """An array of bytes `data`; `shape` is a pickled tuple."""
    raw = b"B" + struct.pack("<I", len(data)) + data
    return EMPTY + b"(K\x01" + shape + dtype(kind, state) + b"\x89" + raw + b"tb"


HUGE = b"\x8a\x08" + struct.pack("<q", 2**60)
NEGATIVE = b"J\xff\xff\xff\xff"

CALLS = {
    "os.system by REDUCE": (pickled(call(named("os", "system"), text("true"))), "posix.system|os.system"),
    "a function of ours by REDUCE": (pickle.dumps(Evil()), "alarm"),
    "in protocol 2": (pickle.dumps(Evil(), 2), "alarm"),
    "deep in a state dict": (pickle.dumps({"w": np.ones(2), "x": [(Evil(),)]}), "alarm"),
    "as a key": (pickled(b"}", call(named(*ME)), b"Ns"), "alarm"),
    "eval of text": (pickled(call(named("builtins", "eval"), text("1"))), "builtins.eval"),
    "exec of Python 2": (pickled(b"c__builtin__\nexecfile\n", text("x"), b"\x85R", protocol=2), "execfile"),
    "getattr": (pickled(call(named("builtins", "getattr"), b"]", text("append"))), "builtins.getattr"),
    "a dotted name": (pickled(call(named("numpy", "dtype.__class__"), b"N")), "numpy.dtype.__class__"),
    "numpy's load": (pickled(call(named("numpy", "load"), text("x"))), "numpy.load"),
    "BUILD with __setstate__": (pickle.dumps(WithState().__class__(), 2), "_reconstructor|object of .*WithState"),
    "BUILD of a dict": (pickled(b"}", b"}b"), "state of a dict"),
    "BUILD of an OrderedDict": (
        pickled(call(named("collections", "OrderedDict")), b"}", text("items"), b"Nsb"),
        "state of a OrderedDict|attributes",
    ),
    "BUILD of a function": (pickled(named("os", "system"), b"N}\x86b"), "state of os.system"),
    "INST": (pickled(b"(", text("true"), b"ios\nsystem\n", protocol=2), "INST"),
    "OBJ": (pickled(b"(", named("os", "system"), text("true"), b"o"), "OBJ"),
    "NEWOBJ": (pickled(named("os", "system"), b")\x81"), "object of os.system.*nothing of it was run"),
    "NEWOBJ_EX": (pickled(named("os", "system"), b")}\x92"), "NEWOBJ_EX"),
    "EXT1": (pickled(b"\x82\xf0"), "EXT1"),
    "EXT2": (pickled(b"\x83\xf0\x00"), "EXT2"),
    "EXT4": (pickled(b"\x84\xf0\x00\x00\x00"), "EXT4"),
    "PERSID": (pickled(b"Pname\n"), "PERSID"),
    "BINPERSID": (pickled(text("name"), b"Q"), "outside"),
    "a buffer of another": (pickled(b"\x97", protocol=5), "NEXT_BUFFER"),
    "a class left in the data": (pickled(b"}", text("a"), named("os", "system"), b"s"), "os.system"),
    "the pickle of a module": (pickle.dumps(np.random.RandomState(0)), "calls numpy.random"),
}  # fmt: skip

LENGTHS = {
    "BINBYTES8": (pickled(b"\x8e" + struct.pack("<Q", 2**60)), "truncated"),
    "BINBYTES": (pickled(b"B" + struct.pack("<I", 2**32 - 1)), "truncated"),
    "BINUNICODE8": (pickled(b"\x8d" + struct.pack("<Q", 2**63)), "truncated"),
    "BYTEARRAY8": (pickled(b"\x96" + struct.pack("<Q", 2**62)), "truncated"),
    "LONG4": (pickled(b"\x8b" + struct.pack("<i", 2**31 - 1)), "integer of"),
    "LONG4, negative": (pickled(b"\x8b" + struct.pack("<i", -5)), "integer of"),
    "BINSTRING": (pickled(b"T" + struct.pack("<i", -5)), "truncated"),
    "FRAME": (pickled(b"\x95" + struct.pack("<Q", 2**60), b"N"), "frame"),
    "a place in the memo": (pickled(b"Nr\xff\xff\xff\xff", b"0j\xfe\xff\xff\xff"), "not noted"),
    "an endless name": (pickled(b"c" + b"a" * 100_000), "longer than"),
    "an endless integer": (pickled(b"I" + b"9" * 200 + b"\n"), "integer"),
    "an array of a huge shape": (pickled(array("f4", HUGE + b"\x85", b"1234")), "do not fit"),
    "an array of a huge shape of nothing": (pickled(array("f4", b"K\x00" + HUGE + b"\x86", b"")), "do not fit"),
    "a shape whose product wraps": (pickled(array("u1", (b"\x8a\x05\0\0\0\0\x01" * 2) + b"\x86", b"")), "do not fit"),
    "a negative shape": (pickled(array("f4", NEGATIVE + b"\x85", b"1234")), "do not fit"),
    "two negative sizes": (pickled(array("u1", NEGATIVE * 2 + b"\x86", b"1")), "do not fit"),
    "a shape that is no tuple": (pickled(array("f4", b"K\x01", b"1234")), "do not fit"),
    "many axes": (pickled(array("u1", b"(" + b"K\x01" * 100 + b"t", b"1")), "do not fit"),
    "objects in an array": (pickled(array("O8", b"K\x01\x85", b"\0" * 8)), "only numbers"),
    "texts in an array": (pickled(array("S8", b"K\x01\x85", b"\0" * 8)), "only numbers"),
    "fields in an array": (pickled(array("f4,O", b"K\x01\x85", b"\0" * 12)), "only numbers"),
    "a wrong name of a dtype": (pickled(array("x9", b"K\x01\x85", b"\0")), "only numbers"),
    "a dtype with fields by its state": (
        pickled(array("u1", b"K\x01\x85", b"\0", b"(K\x03" + text("|") + b"N" + text("a") + b"}K\x08K\x01K\x00tb")),
        "fields",
    ),
    "an array whose state is set twice": (pickled(array("u1", b"K\x01\x85", b"\0"), b"N" * 5, b"0" * 5, b"(NNNNNtb"), "damaged"),
    "an array of another class": (pickled(call(ARRAY, named("numpy", "memmap"), b"K\x00\x85", b"C\x01b")), "another kind"),
    "an array without data": (pickled(b"]", EMPTY, b"a"), "without data"),
}  # fmt: skip


DEEP = 200_000


def laughs(depth):
    """A list of ten lists that are one, and so on."""
    return pickled(b"]", *[b"q\x000](" + b"h\x00" * 10 + b"e"] * depth)


def doubled(count):
    return pickled(
        b"(" + b"N" * 2000 + b"l", b"q\x000]", (b"c__builtin__\ntuple\nh\x00\x85Ra") * count
    )


MEMORY = {
    "billion laughs": (laughs(12), "unfolds"),
    "laughs a thousand deep": (laughs(1000), "nested more than"),
    "lists very deep": (pickled(b"]" * DEEP + b"a" * (DEEP - 1)), "nested more than"),
    "tuples very deep": (pickled(b")" + b"\x85" * DEEP), "nested more than"),
    "a key of nested tuples": (pickled(b"})" + b"\x85" * DEEP + b"Ns"), "as a key"),
    "a set of nested tuples": (pickled(b"\x8f(" + b")" + b"\x85" * DEEP + b"\x90"), "as a key"),
    "a list that holds itself": (pickled(b"]q\x00h\x00a"), "holds itself"),
    "a dict that holds itself": (pickled(b"}q\x00", text("a"), b"h\x00s"), "holds itself"),
    "a list made many times": (doubled(1000), "copies itself"),
    "keys that collide": (
        pickled(b"}", *[pickle.dumps(k * (2**61 - 1), 2)[2:-1] + b"Ns" for k in range(20, 40)]),
        "as a key",
    ),
}

MALFORMED = {
    "nothing at all": (pickled(), "stack"),
    "two objects": (pickled(b"NN"), "more than one"),
    "an open mark": (pickled(b"(N"), "more than one"),
    "no mark": (pickled(b"Nt"), "stack"),
    "APPEND to a number": (pickled(b"K\x01Na"), "as if it were a list"),
    "SETITEMS of a list": (pickled(b"](NNu"), "as if it were a dict"),
    "a key without a value": (pickled(b"}(Nu"), "key"),
    "a list as a key": (pickled(b"}]Ns"), "as a key"),
    "an unknown opcode": (pickled(b"\xff"), "opcode 0xff"),
    "protocol 9": (pickled(b"N", protocol=9), "protocol 9"),
    "protocol 0": (b"\x80\x00N.", "protocol 0"),
    "no UTF-8": (pickled(b"\x8c\x01\xff"), "UTF-8"),
    "a name that is no text": (pickled(b"NN\x93"), "name"),
    "more behind it": (pickled(b"N") + b"cos\nsystem\n", "follow"),
    "a table of names that is none": (pickle.dumps({"StructuredToParameterName@@": [1]}), "table of names"),
    "a table of absent names": (pickle.dumps({"StructuredToParameterName@@": {"a": "b"}}), "table of names"),
    "slices that are not there": (
        pickle.dumps({"UnpackBigParamInfor@@": {"a": {"OriginShape": (2,), "slices": ["a@@.0"]}}}), "slice",
    ),
    "slices of another shape": (
        pickle.dumps({"a@@.0": np.ones(2), "UnpackBigParamInfor@@": {"a": {"OriginShape": (2**40,), "slices": ["a@@.0"]}}}),
        "shape",
    ),
    "one slice twice": (
        pickle.dumps({"a@@.0": np.ones(2), "UnpackBigParamInfor@@": {"a": {"OriginShape": (4,), "slices": ["a@@.0"] * 2}}}),
        "slice",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_runs():
    RAN.clear()
    copyreg.add_extension(__name__, "alarm", 0xF0)
    copyreg._extension_cache[0xF0] = alarm
    yield
    copyreg.remove_extension(__name__, "alarm", 0xF0)
    assert RAN == []


def refused(tmp_path, data, cause, most=30_000_000):
    file = tmp_path / "evil.pdparams"
    file.write_bytes(data)
    begin = time.process_time()  # other work of the machine does not count
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=cause) as caught:
            load(str(file))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "evil.pdparams" in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert peak < most + 200 * len(data)
    assert time.process_time() - begin < 20


@pytest.mark.parametrize("name", CALLS)
def test_what_calls_something_is_refused(tmp_path, name):
    refused(tmp_path, *CALLS[name])


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_are_not_believed(tmp_path, name):
    refused(tmp_path, *LENGTHS[name], most=1_000_000)


@pytest.mark.parametrize("name", MEMORY)
def test_memory_and_the_stack_are_bounded(tmp_path, name):
    refused(tmp_path, *MEMORY[name])


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused(tmp_path, name):
    refused(tmp_path, *MALFORMED[name])


# -- archives of torch ------------------------------------------------------------------------


def archive(data, storages=(b"\0" * 16,), compression=zipfile.ZIP_STORED, **more):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        file.writestr("net/data.pkl", data)
        for index, storage in enumerate(storages):
            file.writestr(f"net/data/{index}", storage)
        for name, content in more.items():
            file.writestr(name, content)
    return buffer.getvalue()


def number(value):
    return pickle.dumps(value, 2)[2:-1]


def storage(key="0", kind="FloatStorage", size=4):
    return (
        b"("
        + text("storage")
        + named("torch", kind)
        + text(key)
        + text("cpu")
        + number(size)
        + b"tQ"
    )


def tensor(offset=0, shape=(4,), strides=(1,), function="_rebuild_tensor_v2", **of):
    return call(
        named("torch._utils", function),
        storage(**of),
        number(offset),
        number(shape),
        number(strides),
        b"\x89}",
    )


ARCHIVES = {
    "a call": (archive(pickle.dumps(Evil())), "alarm"),
    "a rebuild from a type": (
        archive(pickled(call(named("torch._utils", "_rebuild_from_type_v2"), named(*ME), b"N)N"))), "_rebuild_from_type_v2",
    ),
    "a whole module": (archive(pickled(named("torch.nn", "Linear"), b")\x81}b")), "object of torch.nn.Linear"),
    "a negative offset": (archive(pickled(tensor(offset=-1))), "impossible"),
    "a negative stride": (archive(pickled(tensor(strides=(-1,)))), "impossible"),
    "a negative size": (archive(pickled(tensor(shape=(-4,)))), "impossible"),
    "an offset outside": (archive(pickled(tensor(offset=1))), "outside"),
    "a stride outside": (archive(pickled(tensor(strides=(2,)))), "outside"),
    "a huge offset": (archive(pickled(tensor(offset=2**62))), "impossible"),
    "an offset and stride that wrap": (archive(pickled(tensor(offset=2**58, strides=(2**58,)))), "outside"),
    "a huge shape": (archive(pickled(tensor(shape=(2**40,), strides=(0,)))), "repeats"),
    "more shape than strides": (archive(pickled(tensor(shape=(2, 2)))), "impossible"),
    "sizes that are floats": (archive(pickled(tensor(shape=(4.0,)))), "impossible"),
    "a huge empty shape": (archive(pickled(tensor(shape=(0, 2**60), strides=(1, 1)))), "impossible"),
    "a storage that is not there": (archive(pickled(tensor(key="7"))), "data/7"),
    "a storage outside of its folder": (archive(pickled(tensor(key="../../etc/passwd"))), "no 'net/data/../../etc"),
    "a storage of objects": (archive(pickled(tensor(kind="ObjectStorage"))), "ObjectStorage"),
    "a quantized storage": (archive(pickled(tensor(kind="QInt8Storage"))), "QInt8Storage"),
    "a tensor of no storage": (archive(pickled(call(named("torch._utils", "_rebuild_tensor_v2"), b"NK\0))"))), "damaged"),
    "a dtype that is none": (
        archive(pickled(call(named("torch._utils", "_rebuild_tensor_v3"), storage(), b"K\0))\x89}", named("torch", "load")))),
        "torch.load",
    ),
    "a persistent id of another kind": (archive(pickled(text("module"), b"\x85Q")), "storage that is damaged"),
    "attributes of a dict": (
        archive(pickled(call(named("collections", "OrderedDict")), b"}", text("items"), b"Nsb")), "attributes",
    ),
    "a zip bomb": (archive(pickled(tensor()), [b"\0" * 10**7], zipfile.ZIP_DEFLATED), "compressed"),
    "two pickles": (archive(pickled(b"N"), **{"b/data.pkl": b"N."}), "no checkpoint of torch.save"),
    "no pickle": (archive(pickled(b"N")).replace(b"data.pkl", b"data.abc"), "no checkpoint of torch.save"),
    "TorchScript": (archive(pickled(b"N"), **{"net/constants.pkl": b"N."}), "TorchScript"),
    "a wrong sum": (archive(pickled(b"N"), [b"abcdefgh"]).replace(b"abcd", b"abce") , None),
    "a wrong sum of what is used": (
        archive(pickled(tensor(shape=(2,))), [b"abcdefgh"]).replace(b"abcd", b"abce"), "CRC",
    ),
    "an entry longer than the file": (
        archive(pickled(tensor()), [b"q" * 16]).replace(struct.pack("<II", 16, 16), struct.pack("<II", 2**30, 2**30)),
        "claims|damaged",
    ),
    "two entries of one name": (
        archive(pickled(b"N"), **{"net/data.pkx": b"x"}).replace(b"data.pkx", b"data.pkl"), "one name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_are_refused(tmp_path, name):
    data, cause = ARCHIVES[name]
    if cause is None:  # what nobody asks for is not read
        (tmp_path / "evil").write_bytes(data)
        assert load(tmp_path / "evil") is None
    else:
        refused(tmp_path, data, cause)


# -- damage -----------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"
SAMPLES = sorted(file for file in DATA.iterdir() if file.suffix not in (".md", ".npz"))


def name_of(file):
    return file.name


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_a_file_that_is_cut_anywhere_is_refused(tmp_path, sample):
    data = sample.read_bytes()
    places = {
        0,
        1,
        2,
        8,
        9,
        len(data) - 1,
        *random.Random(0).sample(range(len(data)), effort(40, 150)),
    }
    file = tmp_path / "cut"
    for place in sorted(places):
        file.write_bytes(data[:place])
        with pytest.raises(FormatError, match="cut"):
            load(file)


@pytest.mark.parametrize("sample", SAMPLES, ids=name_of)
def test_bytes_that_differ_give_data_or_a_refusal(tmp_path, sample):
    data, chance = sample.read_bytes(), random.Random(1)
    for _ in range(effort(60, 200)):
        other = bytearray(data)
        for _ in range(chance.choice([1, 1, 3])):
            other[chance.randrange(len(data))] = chance.randrange(256)
        try:
            load(io.BytesIO(bytes(other)))
        except Dy2stError as error:
            assert "buffer" in str(error)


def test_views_of_a_storage_of_the_other_byte_order_are_no_copies(tmp_path):
    values = np.arange(200_000, dtype="float32")
    view = tensor(shape=(200_000,), size=200_000)
    many = pickled(b"(" + view * 2_000 + b"l")
    data = archive(many, [values.astype(">f4").tobytes()], **{"net/byteorder": b"big"})
    (tmp_path / "big.pt").write_bytes(data)
    tracemalloc.start()
    try:
        found = load(tmp_path / "big.pt")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found) == 2_000 and (found[7].numpy() == values).all()
    assert peak < 40 * len(data)
