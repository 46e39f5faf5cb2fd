"""Helpers under PaddlePaddle's names; the expected values are those of PaddlePaddle."""

import hashlib
from collections import namedtuple

import pytest

import dy2st
from dy2st import utils
from dy2st.errors import ArgumentError, Dy2stError, MissingFile

Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    "nest, leaves",
    [
        ([1, (2, [3])], [1, 2, 3]),
        ({"b": 1, "a": {"d": 3, "c": 4}}, [4, 3, 1]),
        (5, [5]),
        ("ab", ["ab"]),
        ([], []),
        (Pair(1, [2]), [1, 2]),
    ],
)
def test_leaves_come_in_order_and_go_back(nest, leaves):
    assert utils.flatten(nest) == leaves
    assert utils.pack_sequence_as(nest, leaves) == nest
    assert type(utils.map_structure(lambda x: x, nest)) is type(nest)


def test_a_function_of_several_structures():
    assert utils.map_structure(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"b": (20,), "a": 10}) == {
        "a": 11,
        "b": (22,),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: utils.map_structure(lambda x, y: x, [1, (2,)], [3, (4, 5)]),
        lambda: utils.map_structure(lambda x, y: x, [1], [[1]]),
        lambda: utils.map_structure(lambda x, y: x, {"a": 1}, {"b": 1}),
        lambda: utils.pack_sequence_as([1, (2, 3)], [1, 2]),
        lambda: utils.assert_same_structure([1], (1,)),
        lambda: utils.convert_to_list([1, 2], 3, "stride"),
        lambda: utils.require_version(3),
        lambda: utils.strtobool("perhaps"),
        lambda: utils.deprecated("new", level=2)(print),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ArgumentError):
        wrong()


def test_structures_of_tensors_in_a_converted_function():
    def f(x):
        parts = utils.map_structure(lambda t: t * 2 if t.sum() > 0 else t, {"a": x, "b": [x - 3]})
        return utils.flatten(parts)

    x = dy2st.ones([2])
    assert [t.tolist() for t in dy2st.to_static(f)(x)] == [t.tolist() for t in f(x)]


def test_imports_and_releases():
    assert utils.try_import("json").__name__ == "json"
    with pytest.raises(ImportError, match="pip install no_such"):
        utils.try_import("no_such")
    with pytest.raises(ImportError, match="mine"):
        utils.try_import("no_such", "mine")
    utils.require_version("2.4.0"), utils.require_version("3.0", "3.9")
    for wrong in (("9.0",), ("2.0", "2.6")):
        with pytest.raises(Dy2stError, match="is required"):
            utils.require_version(*wrong)


def test_deprecated_functions_may_warn():
    with pytest.warns(UserWarning, match=r"f is deprecated since 2.0. slow Use new instead"):

        @utils.deprecated(update_to="new", since="2.0", reason="slow", level=1)
        def f():
            return 1

    assert f() == 1


def test_names_are_counted():
    from dy2st.paddle.utils import unique_name

    with unique_name.guard():
        assert [unique_name.generate("a") for _ in range(2)] == ["a_0", "a_1"]
        with unique_name.guard("x_"):
            assert unique_name.generate("a") == "x_a_0"
        before = unique_name.switch()
        assert unique_name.generate("a") == "a_0"
        unique_name.switch(before)
        assert unique_name.generate("a") == "a_2"


def test_files_are_taken_and_not_downloaded(tmp_path):
    from dy2st.paddle.utils import download

    url = "https://example.org/models/net.pdparams"
    with pytest.raises(MissingFile, match="downloads nothing"):
        download.get_path_from_url(url, str(tmp_path))
    (tmp_path / "net.pdparams").write_bytes(b"data")
    path = download.get_path_from_url(url, str(tmp_path), hashlib.md5(b"data").hexdigest())
    assert path == str(tmp_path / "net.pdparams")
    with pytest.raises(ArgumentError, match="MD5"):
        download.get_path_from_url(url, str(tmp_path), "0")


def test_a_capsule_goes_round():
    x = dy2st.to_tensor([1.0, 2.0])
    assert utils.dlpack.from_dlpack(x).tolist() == [1.0, 2.0]
    assert "dltensor" in repr(utils.dlpack.to_dlpack(x))


@pytest.mark.parametrize(
    "name", ["load", "setup", "CppExtension", "CUDAExtension", "BuildExtension"]
)
def test_operators_in_other_languages_are_refused_when_they_are_built(name):
    from dy2st.paddle.utils import cpp_extension

    with pytest.raises(ArgumentError, match="PyLayer"):
        getattr(cpp_extension, name)(name="ops", sources=["a.cc"])
