"""Each wrong input gives one clear error of the fitting class, and never a wrong answer."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import dy2st
from dy2st.errors import (
    ArgumentError,
    ConversionError,
    FormatError,
    LoopMismatch,
    ParameterMismatch,
    ShapeError,
    SourceUnavailable,
    SpecError,
    TensorAsPython,
    UndecidedDim,
)
from dy2st.jit import to_static
from dy2st.static import InputSpec


@to_static(input_spec=[InputSpec(["batch", 3], "float32", "x")])
def with_spec(x):
    return x + 1


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3, "float32"), r"`x` has the shape \[3\]; its InputSpec says .* number of axes"),
        (np.ones((2, 4), "float32"), r"`x`, axis 1: 4; its InputSpec says 3"),
        (np.ones((2, 3), "float64"), r"`x` has dtype float64; its InputSpec says float32"),
    ],
)
def test_a_tensor_that_does_not_fit_its_spec_names_argument_and_axis(array, message):
    with pytest.raises(SpecError, match=message):
        with_spec(array)


def test_a_number_where_the_spec_says_tensor():
    with pytest.raises(SpecError, match="`x` is 3"):
        with_spec(3)


def test_sizes_of_one_name_must_be_equal():
    static = to_static(
        lambda_two, input_spec=[InputSpec(["n"], name="x"), InputSpec(["n"], name="y")]
    )
    with pytest.raises(SpecError, match=r"`y`, axis 0: 3; must equal .*`x`, axis 0: 2"):
        static(dy2st.ones([2]), dy2st.ones([3]))


def lambda_two(x, y):
    return x * y


def test_sizes_that_do_not_broadcast_name_the_users_line():
    static = to_static(
        lambda_two, input_spec=[InputSpec([2, 3], name="x"), InputSpec([4], name="y")]
    )
    with pytest.raises(ShapeError, match=r"multiply: the shapes \[2, 3\] and \[4\] do not fit"):
        static.concrete_program  # noqa: B018


def takes_wrong_number(x, y):
    return x


def test_wrong_arguments_are_a_type_error_as_python_words_it():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        to_static(takes_wrong_number)(dy2st.ones([1]))


def structure_from_tensor(x, n):
    return dy2st.chunk(x, n)[0]


def test_a_tensor_where_the_structure_depends_on_it_is_refused_with_the_line():
    with pytest.raises(TensorAsPython, match=r"test_bad_input.py:\d+.*chunks is a traced"):
        to_static(structure_from_tensor)(dy2st.ones([1]), dy2st.to_tensor(3))


class Plain:
    pass


def objects_that_differ(x):
    y = object()
    if x.sum() > 0:
        y = Plain()
    return y


def test_branches_may_give_objects_that_differ():
    static = to_static(objects_that_differ)
    for x in (dy2st.ones([2]), dy2st.zeros([2])):
        assert type(static(x)) is type(objects_that_differ(x))


def changes_dtype(x):
    while x.sum() < 10:
        x = (x + 1).astype("float64")
    return x


def changes_rank(x):
    y = x
    while y.sum() < 10:
        y = y.sum() + 1
    return y


@pytest.mark.parametrize("function", [changes_dtype, changes_rank])
def test_a_loop_variable_may_change_its_kind_once(function):
    for x in (dy2st.ones([2]), dy2st.ones([2]) * 20):
        found, wanted = to_static(function)(x), function(x)
        assert (found.tolist(), found.dtype) == (wanted.tolist(), wanted.dtype)


def grows_a_pair(x):
    pair = x
    while x.sum() < 10:
        x = x + 1
        pair = (pair, x)
    return pair


def test_a_loop_variable_that_changes_its_kind_for_ever_is_named():
    with pytest.raises(LoopMismatch, match=r"test_bad_input.py:\d+.*`pair`, .* another form after"):
        to_static(grows_a_pair)(dy2st.ones([2]))


def size_as_bool(x):
    return 1 if bool.__call__(x.shape[0] > 3) else 2


@dy2st.jit.not_to_static
def asks_the_size(x):
    if x.shape[0] > 3:
        return x
    return x + 1


def calls_unconverted(x):
    return asks_the_size(x)


def test_an_undecided_size_in_code_that_is_not_converted():
    static = to_static(calls_unconverted, input_spec=[InputSpec(["n"], name="x")])
    with pytest.raises(UndecidedDim, match="n > 3"):
        static.concrete_program  # noqa: B018


@dy2st.jit.not_to_static
def asks_the_tensor(x):
    if x.sum() > 3:
        return x
    return x + 1


def test_the_truth_of_a_tensor_in_code_that_is_not_converted_names_the_line():
    def calls(x):
        return asks_the_tensor(x)

    with pytest.raises(TensorAsPython, match=r"test_bad_input.py:\d+.*not converted"):
        to_static(calls)(dy2st.ones([2]))


def test_functions_without_source_say_so():
    namespace = {}
    exec("def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", namespace)
    with pytest.raises((SourceUnavailable, TensorAsPython)):
        to_static(namespace["f"])(dy2st.ones([2]))


def test_what_cannot_be_converted_is_a_type_error():
    for thing in (int, 3, dy2st.nn.Linear):
        with pytest.raises(TypeError):
            to_static(thing)


def test_nan_and_infinity_pass_through():
    static = to_static(lambda_two)
    with np.errstate(all="ignore"):
        out = static(dy2st.to_tensor([float("nan"), float("inf")]), dy2st.to_tensor([1.0, 2.0]))
    assert math.isnan(out[0].item()) and math.isinf(out[1].item())


def test_python_values_that_look_alike_have_programs_of_their_own():
    def reduce(x, axis):
        return x.sum(axis=axis)

    static = to_static(reduce)
    x = dy2st.ones([2, 3])
    assert static(x, -1).shape == [2] and static(x, -2).shape == [3]
    scaled = to_static(lambda_scale)
    assert [str(scaled(dy2st.to_tensor([1]), n).dtype) for n in (2, 2.0, True)] == [
        "int64",
        "float64",
        "int64",
    ]


def lambda_scale(x, n):
    return x * n


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = dy2st.nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "net"
    dy2st.jit.save(Net(), str(path), input_spec=[InputSpec([None, 3], name="x")])
    return path


def test_truncated_files_are_refused_at_every_length(saved):
    for suffix in (".mlir", ".safetensors"):
        file = saved.with_suffix(suffix)
        whole = file.read_bytes()
        for length in range(0, len(whole) - 2, max(len(whole) // 40, 1)):
            file.write_bytes(whole[:length])
            with pytest.raises(FormatError):
                dy2st.jit.load(str(saved))
        file.write_bytes(whole)
    assert dy2st.jit.load(str(saved))(dy2st.ones([1, 3])).shape == [1, 2]


def test_a_file_of_a_newer_version_says_what_to_install(saved):
    file = saved.with_suffix(".mlir")
    file.write_text(file.read_text().replace("format = 4 : i64", "format = 99 : i64"))
    with pytest.raises(FormatError, match="99"):
        dy2st.jit.load(str(saved))


def test_missing_and_superfluous_parameters_are_named(saved):
    from safetensors.numpy import load_file, save_file

    file = str(saved.with_suffix(".safetensors"))
    arrays = load_file(file)
    save_file({"fc.weight": arrays["fc.weight"]}, file)
    with pytest.raises(ParameterMismatch, match="fc.bias"):
        dy2st.jit.load(str(saved))
    save_file({**arrays, "extra": arrays["fc.bias"]}, file)
    with pytest.raises(ParameterMismatch, match="extra"):
        dy2st.jit.load(str(saved))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        dy2st.jit.load(str(tmp_path / "nothing"))


def test_saving_without_knowing_the_inputs_says_what_to_give(tmp_path):
    with pytest.raises(ValueError, match="input_spec"):
        dy2st.jit.save(Net(), str(tmp_path / "net"))


LOG = []


def appends_to_a_global(x):
    if x.sum() > 0:
        LOG.append(1)
    return x


def appends_to_a_closure(x):
    log = []

    def note(y):
        log.append(1)
        return y

    while x.sum() < 10:
        x = note(x) + 1
    return x


class Remembers(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        if x.sum() > 0:
            self.seen.append(x)
        return x


def test_objects_of_python_are_changed_where_the_branch_is_taken():
    net = Remembers()
    static = to_static(net)
    for x in (dy2st.ones([2]), -dy2st.ones([2]), dy2st.ones([2]) * 2):
        static(x)
    assert [seen.tolist() for seen in net.seen] == [[1.0, 1.0], [2.0, 2.0]]


def test_a_list_grown_in_a_loop_comes_back_as_a_list_of_tensors(tmp_path):
    def grow(x, n):
        parts = []
        i = 0
        while i < n:
            parts.append(x * i)
            i = i + 1
        return parts

    specs = [InputSpec([None], name="x"), InputSpec([], "int64", "n")]
    static = to_static(grow, input_spec=specs)
    dy2st.jit.save(static, str(tmp_path / "grow"))
    for run in (static, dy2st.jit.load(str(tmp_path / "grow"))):
        parts = run(dy2st.ones([2]), dy2st.to_tensor(3))
        assert isinstance(parts, list) and [p.tolist() for p in parts] == [[0, 0], [1, 1], [2, 2]]
        assert run(dy2st.ones([2]), dy2st.to_tensor(0)) == []


def test_the_groups_of_a_convolution_may_be_any_whole_number_above_zero():
    weight = dy2st.ones([4, 2, 3, 3])
    image = dy2st.ones([1, 4, 5, 5])
    grouped = to_static(lambda x: dy2st.nn.functional.conv2d(x, weight, groups=np.int64(2)))
    assert (grouped(image).numpy() == 18).all()
    for groups in (0, -2):
        with pytest.raises(ArgumentError, match=f"groups is at least 1, not {groups}"):
            dy2st.nn.functional.conv2d(image, weight, groups=groups)
        with pytest.raises(ArgumentError, match=f"groups is at least 1, not {groups}"):
            dy2st.nn.functional.conv2d_transpose(image, weight, groups=groups)
        with pytest.raises(ValueError, match=f"cannot be split into {groups} groups"):
            dy2st.nn.Conv2D(4, 4, 3, groups=groups)


def _keyed(x):
    return [{(1, x.sum()): 1}]


def _in_a_view(x):
    return {"a": x}.values()


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (_keyed, "_keyed() returns a dict with a tensor as a key"),
        (_in_a_view, "_in_a_view() returns a dict_values"),
    ],
)
def test_results_that_a_program_cannot_give_back_name_the_function_and_its_place(function, what):
    with pytest.raises(ConversionError) as caught:
        to_static(function)(dy2st.ones([2]))
    assert what in str(caught.value)
    assert caught.value.at.file == __file__
    assert caught.value.at.line == function.__code__.co_firstlineno


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([3], r"`x` is a tensor; its entry of input_spec is 3: write InputSpec\(\[2\], 'float32'"),
        ([None], "`x` is a tensor; its entry of input_spec is None"),
        ([[InputSpec([2])]], "`x` is a tensor; its InputSpec is a list"),
        ([InputSpec([2]), 4], "`n` is 3; its input_spec says 4"),
        ([InputSpec([2]), 3.0], "`n` is 3; its input_spec says 3.0"),
        (
            [InputSpec([2]), 3, 3],
            'has 3 entries, and the function takes 2: "x", "n"'.replace('"', "'"),
        ),
    ],
)
def test_an_input_spec_that_the_call_does_not_fit_is_refused(spec, message):
    def f(x, n):
        return x * n

    with pytest.raises(ValueError, match=message):
        to_static(f, input_spec=spec)(dy2st.ones([2]), 3)


def test_every_tensor_of_many_has_an_input_spec():
    def f(*xs):
        return xs[0] * len(xs)

    static = to_static(f, input_spec=[InputSpec([2]), InputSpec(["n"])])
    assert static(dy2st.ones([2]), dy2st.ones([5])).tolist() == [2.0, 2.0]
    with pytest.raises(SpecError, match="`xs` is of length 1; .* of length 2"):
        static(dy2st.ones([2]))


@pytest.mark.parametrize("keys", ["a", "ac", "abc"])
def test_a_dict_with_other_keys_than_its_input_spec_is_refused_with_both(keys):
    static = to_static(lambda d: d["a"] + d["b"], [{key: InputSpec([2]) for key in "ab"}])
    assert static({"b": dy2st.ones([2]), "a": dy2st.ones([2])}).tolist() == [2.0, 2.0]
    with pytest.raises(SpecError, match=rf"`d` has the keys \['{keys[0]}'.*; its .* \['a', 'b'\]"):
        static({key: dy2st.ones([2]) for key in keys})


def test_a_method_that_needs_a_value_is_refused_by_its_own_name():
    with pytest.raises(TensorAsPython, match=r"numpy\(\) of a traced tensor") as caught:
        to_static(lambda x: x.numpy() > 0)(dy2st.ones([2]))
    assert caught.value.hint.startswith("use dy2st's own functions")


def test_the_numbers_of_a_tensor_are_numbers_of_the_program():
    assert to_static(lambda x: x.tolist())(dy2st.ones([2])) == [1.0, 1.0]


def test_why_a_function_is_not_converted_is_said_once():
    namespace = {}
    exec("def f(x):\n    return 1 if x.sum() > 0 else 2\n", namespace)
    with pytest.raises(TensorAsPython) as caught:
        to_static(lambda x: namespace["f"](x))(dy2st.ones([2]))
    assert str(caught.value).count("its source is not available") == 1


def _class_method():
    class Net:
        @to_static
        @classmethod
        def make(cls, x):
            return x


@pytest.mark.parametrize(
    "convert",
    [
        _class_method,
        lambda: to_static(len),
        lambda: to_static(dict),
        lambda: to_static(len, spec=[]),
        lambda: to_static(_keyed, input_spec=InputSpec([2])),
        lambda: to_static(_keyed, build_strategy="inferenc"),
    ],
)
def test_what_to_static_refuses_shows_the_users_lines_alone(convert):
    with pytest.raises((TypeError, ValueError)) as caught:
        convert()
    ours = {"location.py"} if sys.version_info < (3, 11) else set()  # 3.10 adds the frame
    assert {entry.path.name for entry in caught.traceback} == {"test_bad_input.py", *ours}


@pytest.mark.parametrize(
    ("function", "what", "instead"),
    [
        (lambda x: np.cbrt(x), "np.cbrt of a traced tensor", "dy2st's own"),
        (lambda x: np.interp(x, [0, 1], [2, 3]), "np.interp of a traced tensor", "dy2st's own"),
        (lambda x: np.array(x), "an array of NumPy is made of a traced tensor", "dy2st's own"),
    ],
)
def test_a_function_of_numpy_on_a_traced_tensor_says_what_to_use(function, what, instead):
    with pytest.raises(TensorAsPython, match=what) as caught:
        to_static(function)(dy2st.ones([2]))
    assert instead in caught.value.hint
    assert caught.value.at.line == function.__code__.co_firstlineno


@pytest.mark.parametrize("function", [np.std, np.var, np.transpose], ids=lambda f: f.__name__)
def test_functions_of_numpy_that_call_a_method_are_traced(function):
    x = dy2st.to_tensor([[1.0, 2.0, 4.0], [0.0, 1.0, 5.0]])
    assert np.allclose(to_static(lambda x: function(x))(x), function(x.numpy()))


def test_functions_of_numpy_on_shapes_and_arrays_stay():
    def f(x):
        return x + np.sqrt(np.ones(np.shape(x)), dtype="float32") * np.ndim(x)

    assert to_static(f)(dy2st.ones([2])).tolist() == [2.0, 2.0]


def test_sizes_that_do_not_fit_outside_of_a_trace_are_one_error():
    with pytest.raises(ShapeError) as caught:
        dy2st.ones([2, 3]) @ dy2st.ones([2, 3])
    assert caught.value.__suppress_context__


def _if_many(x):
    return x if x > 0 else -x


def _while_many(x):
    while x < 3:
        x = x + 1
    return x


def _and_many(x):
    return x > 0 and x < 3


def _assert_many(x):
    assert x > 0
    return x


@pytest.mark.parametrize("function", [_if_many, _while_many, _and_many, _assert_many])
@pytest.mark.parametrize("shape", [[3], [0], [2, 2]])
def test_the_truth_of_several_elements_is_refused_as_python_refuses_it(function, shape):
    x = dy2st.ones(shape)
    with pytest.raises(ShapeError) as expected:
        function(x)
    with pytest.raises(ShapeError, match="use any\\(\\) or all\\(\\)") as found:
        to_static(function)(x)
    assert str(found.value) == str(expected.value)
    assert to_static(function)(dy2st.ones([1])) is not None


def test_a_name_of_numpys_that_a_package_has_replaced_is_no_concern(monkeypatch):
    monkeypatch.setattr(np, "bool", bool)  # what code for an old NumPy does; dtypes lose their repr

    def function(x):
        return (x > 0).astype("bool").astype("float32") + dy2st.zeros([2], "bool")

    x = dy2st.to_tensor([1.0, -1.0])
    assert dy2st.to_static(function)(x).tolist() == function(x).tolist()
