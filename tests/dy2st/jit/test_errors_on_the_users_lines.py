"""Errors of converted code: Python's own objects, on the user's lines, without our frames."""

from __future__ import annotations

import asyncio
import builtins
import functools
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.errors import Dy2stError, ShapeError, TensorAsPython

HERE = __file__
OURS = (str(Path(dy2st.__file__).parent), str(Path(dy2st.nn.Layer.forward.__code__.co_filename)))
X = np.ones(3, "float32")
has_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no notes")


def raised(function, *arguments) -> BaseException:
    """What a call raises."""
    with pytest.raises(BaseException) as caught:
        function(*arguments)
    return caught.value


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The entries of an error's traceback behind that of `raised`."""
    found = traceback.extract_tb(error.__traceback__)
    while found[0].name in ("raised",):
        found.pop(0)
    if sys.version_info < (3, 11):  # which adds the frame that raises anew
        anew = ("static_function.py", "location.py", "spelling.py")
        found = [frame for frame in found if not frame.filename.endswith(anew)]
    return list(found)


def lines(error: BaseException) -> list[str]:
    """The texts of the lines in a traceback, all of which are of this file."""
    assert {frame.filename for frame in frames(error)} <= {HERE}
    return [frame.line for frame in frames(error)]


class CodeError(Exception):
    """An exception with a signature of its own."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _decode_error():
    return UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


KINDS = [
    ValueError("text"),
    ValueError(),
    TypeError("a", 1),
    KeyError("k"),
    IndexError(3),
    AttributeError("name"),
    NameError("name"),
    UnboundLocalError("x"),
    ZeroDivisionError("by zero"),
    OverflowError(),
    AssertionError("why"),
    RuntimeError(["a list"]),
    NotImplementedError(),
    RecursionError("deep"),
    OSError(2, "no such file", "a.txt"),
    FileNotFoundError(2, "no such file"),
    StopIteration(4),
    EOFError(),
    ImportError("no module", name="m"),
    SyntaxError("bad", ("f.py", 1, 2, "text")),
    _decode_error(),
    CodeError(7, "own"),
    KeyboardInterrupt(),
    SystemExit(3),
    asyncio.CancelledError(),
    DeprecationWarning("old"),
]


@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
def test_an_exception_is_the_object_that_was_raised(error):
    @dy2st.to_static
    def f(x):
        y = x + 1
        if y.ndim == 1:
            raise error
        return y

    before = dict(vars(error)), error.args
    assert raised(f, X) is error
    assert (dict(vars(error)), error.args) == before
    assert lines(error) == ["raise error"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="new in 3.11")
def test_an_exception_group_keeps_its_members():
    members = [ValueError(1), builtins.ExceptionGroup("inner", [KeyError(2)])]
    group = builtins.ExceptionGroup("outer", members)

    def fail():
        raise members[0]

    @dy2st.to_static
    def f(x):
        try:
            fail()
        except ValueError:
            raise group from None
        return x

    assert raised(f, X) is group
    assert group.exceptions == tuple(members)
    assert lines(group) == ["raise group from None"]
    assert [frame.line for frame in traceback.extract_tb(members[0].__traceback__)] == [
        "fail()",
        "raise members[0]",
    ]


def test_cause_context_and_notes_are_pythons():
    first, second, third = KeyError("first"), ValueError("second"), OSError("third")
    first.__notes__ = ["a note"]

    @dy2st.to_static
    def f(x):
        try:
            try:
                raise first
            except KeyError as error:
                raise second from error
        except ValueError:
            raise third
        return x

    assert raised(f, X) is third
    assert third.__context__ is second and third.__cause__ is None
    assert second.__cause__ is first and first.__context__ is None
    assert first.__notes__ == ["a note"]
    assert [traceback.extract_tb(e.__traceback__)[0].line for e in (first, second)] == [
        "raise first",
        "raise second from error",
    ]


def test_except_in_converted_code_sees_the_exception_of_python():
    error = CodeError(7, "own")
    seen = []

    def fail():
        raise error

    @dy2st.to_static
    def f(x):
        try:
            fail()
        except CodeError as caught:
            seen.append((caught, caught.code, sys.exc_info()[1]))
        return x

    f(X)
    assert seen == [(error, 7, error)]


def test_the_traceback_leads_through_every_function_of_the_user():
    def inner(x, index):
        return [x][index]

    def middle(x, index):
        return inner(x, index) + 1

    @dy2st.to_static
    def f(x, index):
        return middle(x, index) * 2

    error = raised(f, X, 5)
    assert lines(error) == [
        "return middle(x, index) * 2",
        "return inner(x, index) + 1",
        "return [x][index]",
    ]
    assert [frame.name for frame in frames(error)] == ["f", "middle", "inner"]


def test_an_error_in_staged_statements_shows_the_lines_that_python_shows():
    @dy2st.to_static
    def f(x):
        while x.sum() > 0:
            if x.max() > 1:
                for row in x:
                    x = x - row.missing
        return x

    error = raised(f, X)
    assert lines(error) == ["x = x - row.missing"]
    assert [frame.name for frame in frames(error)] == ["f"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no columns")
def test_carets_stand_under_the_expression_that_failed():
    @dy2st.to_static
    def f(x):
        return x + [1, 2][7] + x

    frame = frames(raised(f, X))[-1]
    line = Path(HERE).read_text().splitlines()[frame.lineno - 1]
    assert line[frame.colno : frame.end_colno] == "[1, 2][7]"


def test_a_layers_error_shows_no_frame_of_ours():
    class Net(dy2st.nn.Layer):
        def forward(self, x):
            return x @ x.missing

    error = raised(dy2st.to_static(Net()), X)
    assert isinstance(error, AttributeError)
    own = [frame for frame in frames(error) if frame.filename.startswith(OURS)]
    assert len(own) <= (1 if sys.version_info < (3, 11) else 0)
    assert frames(error)[-1].line == "return x @ x.missing"


def test_an_error_of_shapes_ends_on_the_users_line():
    @dy2st.to_static
    def f(x, y):
        return x @ y

    error = raised(f, X, np.ones((4, 4), "float32"))
    assert isinstance(error, ShapeError)
    assert lines(error) == ["return x @ y"]


@pytest.mark.parametrize(
    "how", ["save", "export", "main_program", "get_concrete_program", "shapes", "report"]
)
def test_an_error_of_a_conversion_without_call_shows_the_users_frames(how, tmp_path):
    @dy2st.to_static
    def f(x):
        return x.missing

    spec = InputSpec([None, 3], "float32")
    calls = {
        "save": lambda: dy2st.jit.save(f, str(tmp_path / "f"), input_spec=[spec]),
        "export": lambda: dy2st.onnx.export(f, str(tmp_path / "f"), input_spec=[spec]),
        "main_program": lambda: dy2st.to_static(f, input_spec=[spec]).main_program,
        "shapes": lambda: dy2st.to_static(f, input_spec=[spec]).shapes(),
        "report": lambda: dy2st.to_static(f, input_spec=[spec]).report(),
        "get_concrete_program": lambda: f.get_concrete_program(spec),
    }
    shown = [frame.line for frame in frames(raised(calls[how])) if frame.filename == HERE]
    assert shown[-1] == "return x.missing"
    if sys.version_info >= (3, 11):
        assert {frame.filename for frame in frames(raised(calls[how]))} == {HERE}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the frame of the `except` stays on 3.10")
@pytest.mark.parametrize("arguments", [(4,), ([None, 4], "flot32"), ([1.5],)])
def test_an_error_of_an_input_spec_shows_the_users_line_alone(arguments):
    assert {one.filename for one in frames(raised(lambda: InputSpec(*arguments)))} == {HERE}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no notes")
@pytest.mark.parametrize("convert", [lambda net: net, dy2st.to_static])
def test_an_error_inside_of_a_layer_of_ours_says_in_which(convert):
    class Inner(dy2st.nn.Layer):
        def forward(self, x):
            return x.reshape([7])

    linear = dy2st.nn.Linear
    net = dy2st.nn.Sequential(linear(3, 8), dy2st.nn.Sequential(dy2st.nn.ReLU(), linear(9, 2)))
    error = raised(convert(net), dy2st.ones([2, 3]))
    assert error.__notes__ == ["in the layer Linear(in_features=9, out_features=2)"]
    own = raised(convert(dy2st.nn.Sequential(Inner())), dy2st.ones([2, 3]))
    assert isinstance(own, ShapeError) and not hasattr(own, "__notes__")


def test_all_frames_stay_when_debugging(monkeypatch):
    monkeypatch.setenv("DY2ST_DEBUG", "1")

    @dy2st.to_static
    def f(x):
        raise ValueError

    assert len({frame.filename for frame in frames(raised(f, X))}) > 1


def test_a_failed_assertion_of_our_own_keeps_its_frames(monkeypatch):
    @dy2st.to_static
    def f(x):
        return x + 1

    def fail(*_):
        assert False  # noqa: B011

    monkeypatch.setattr(dy2st.jit.programs, "as_tensor", fail)
    fail.__code__ = fail.__code__.replace(co_filename=OURS[0])
    assert len(frames(raised(f, X))) > 1


def test_arguments_that_do_not_fit_are_refused_in_pythons_words():
    def f(a, b, /, c, *, d=1):
        raise AssertionError("ran")

    converted = dy2st.to_static(f)
    for args, kwargs in [((), {}), ((1, 2, 3, 4), {}), ((1, 2, 3), {"e": 1}), ((1,), {"b": 2})]:
        try:
            f(*args, **kwargs)
        except TypeError as error:
            expected = str(error)
        with pytest.raises(TypeError) as caught:
            converted(*args, **kwargs)
        assert str(caught.value) == expected
        assert caught.value.__context__ is None


@has_notes
def test_an_error_in_staged_statements_says_in_which():
    @dy2st.to_static
    def f(x):
        while x.sum() > 0:
            if x.max() > 1:
                x = x - missing  # noqa: F821
        return x

    error = raised(f, X)
    assert isinstance(error, NameError)
    first = f.dygraph_function.__code__.co_firstlineno
    assert error.__notes__ == [
        f"in the staged `if` of {HERE}:{first + 3}:13: if x.max() > 1:",
        f"in the staged `while` of {HERE}:{first + 2}:9: while x.sum() > 0:",
    ]


@has_notes
def test_an_error_where_python_decides_has_no_note():
    @dy2st.to_static
    def f(x):
        for n in range(3):
            if n == 2:
                raise ValueError("plain")
        return x

    assert not hasattr(raised(f, X), "__notes__")


def test_a_program_that_fails_shows_the_users_line():
    @dy2st.to_static
    def f(x, i):
        y = x * 2
        return y[i]

    error = raised(f, X, np.array(7))
    assert isinstance(error, IndexError)
    assert [frame.line for frame in frames(error) if frame.filename == HERE] == ["return y[i]"]


def test_an_exception_raised_in_a_branch_shows_its_own_line():
    def check(x):
        raise ValueError("negative")

    @dy2st.to_static
    def f(x):
        if x.sum() < 0:
            check(x)
        return x

    assert f(X).shape == [3]
    error = raised(f, -X)
    assert (type(error), str(error)) == (ValueError, "negative")
    assert lines(error) == ['raise ValueError("negative")']
    if sys.version_info >= (3, 11):
        line = check.__code__.co_firstlineno + 1
        assert error.__notes__ == [f"raised by the Program at {HERE}:{line}:9"]


@pytest.mark.parametrize("wants_gradients", [False, True])
def test_an_assertion_of_the_program_shows_its_line(wants_gradients):
    @dy2st.to_static
    def f(x):
        assert x.sum() > 0, "too small"
        return x * 2

    x = dy2st.to_tensor(-X, stop_gradient=not wants_gradients)
    error = raised(f, x)
    assert (type(error), str(error)) == (AssertionError, "too small")
    assert lines(error) == ['assert x.sum() > 0, "too small"']


def test_a_saved_program_that_fails_names_the_line_and_no_path(tmp_path):
    @dy2st.to_static
    def f(x, i):
        return x[i]

    specs = [InputSpec([None], "float32"), InputSpec([], "int64")]
    dy2st.jit.save(f, str(tmp_path / "saved"), input_spec=specs)
    assert str(Path(HERE).parent) not in (tmp_path / "saved.mlir").read_text()
    error = raised(dy2st.jit.load(str(tmp_path / "saved")), X, np.array(7))
    line = f.dygraph_function.__code__.co_firstlineno + 2
    place = (f"<{Path(HERE).name}>", line)
    assert place in [(frame.filename, frame.lineno) for frame in frames(error)]
    if sys.version_info >= (3, 11):
        assert error.__notes__ == [f"in the operator 'index' of {Path(HERE).name}:{line}:16"]


def test_a_function_without_source_is_refused_when_it_is_converted():
    namespace: dict = {}
    exec("def f(x):\n    return x + 1\n", namespace)
    error = raised(dy2st.to_static(namespace["f"]), X)
    assert isinstance(error, dy2st.errors.SourceUnavailable)
    assert error.why and error.hint


def test_a_condition_in_a_function_without_source_names_function_and_reason():
    namespace: dict = {}
    exec("def helper(x):\n    if x.sum() > 0:\n        return x\n    return -x\n", namespace)
    helper = namespace["helper"]

    @dy2st.to_static
    def f(x):
        return helper(x)

    error = raised(f, X)
    assert isinstance(error, TensorAsPython)
    assert "helper() is not converted: its source is not available" in error.why
    assert "to_static" in error.hint


def test_code_below_a_function_that_is_not_converted_names_that_function():
    def helper(x):
        return x if x.sum() > 0 else -x

    def asks_for_its_variables(x):
        return helper(locals()["x"])

    error = raised(dy2st.to_static(lambda x: asks_for_its_variables(x)), X)
    assert isinstance(error, TensorAsPython)
    assert "asks_for_its_variables() is not converted: its function calls locals()" in error.why


def test_a_size_that_a_tensor_from_outside_gives_is_refused_on_the_line():
    size = dy2st.to_tensor(3)
    for function in (lambda x: x + dy2st.zeros([2, size]).sum(), lambda x: x.reshape([size, 1])):
        error = raised(dy2st.to_static(function), X)
        assert isinstance(error, TensorAsPython) and str(error).startswith(__file__)
        assert "keep a Python number in the Layer" in error.hint


def test_a_function_without_source_runs_where_no_tensor_decides():
    namespace: dict = {}
    exec("def helper(x, n):\n    return x + 1 if n else x\n", namespace)
    helper = namespace["helper"]

    @dy2st.to_static
    def f(x):
        return helper(x, 1)

    assert f(X).numpy().tolist() == [2, 2, 2]


def test_a_condition_in_a_marked_function_names_the_mark():
    @dy2st.jit.not_to_static
    def helper(x):
        return x if x.sum() > 0 else -x

    @dy2st.to_static
    def f(x):
        return helper(x)

    assert "it is marked with not_to_static" in raised(f, X).why


@pytest.mark.parametrize(
    "thing",
    [len, np.sum, np.add, np.ndarray, dict.get, functools.partial(len), type("C", (), {}), 3],
)
def test_what_is_no_function_is_refused_at_once(thing):
    error = raised(dy2st.to_static, thing)
    assert isinstance(error, Dy2stError) and isinstance(error, TypeError)
    assert error.why and error.hint


def test_warnings_point_at_the_users_line():
    def helper(x):
        warnings.warn("look here", stacklevel=1)
        return x

    def caller(x):
        warnings.warn("look there", stacklevel=2)
        return x

    @dy2st.to_static
    def f(x):
        y = helper(x)
        return caller(y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(X)
    first = f.dygraph_function.__code__.co_firstlineno
    found = [(w.filename, w.lineno) for w in caught]
    assert found == [(HERE, helper.__code__.co_firstlineno + 1), (HERE, first + 3)]


def test_a_traceback_is_printed_by_a_process_of_its_own(tmp_path):
    (tmp_path / "program.py").write_text(
        "import numpy, dy2st\n\n@dy2st.to_static\ndef f(x):\n    return x + [1][2]\n\n"
        "f(numpy.ones(2))\n"
    )
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    shown = [line for line in result.stderr.splitlines() if "File" in line]
    assert shown[0].endswith("line 7, in <module>") and shown[-1].endswith("line 5, in f")
    assert len(shown) == (3 if sys.version_info < (3, 11) else 2)


class Outer(dy2st.nn.Layer):
    def forward(self, x):
        return through(x)


def through(x):
    return missing_in_branch(x)


def missing_in_branch(x):
    if x.sum() > 0:
        return x.nosuch
    return x


def test_every_function_on_the_way_to_a_staged_branch_of_a_layer_is_shown():
    error = raised(dy2st.jit.to_static(Outer()), dy2st.ones([2]))
    assert [frame.name for frame in frames(error)][-3:] == [
        "forward",
        "through",
        "missing_in_branch",
    ]


def _returned_in_a_function(x, bind):
    def inner(x):
        if x.sum() > 0:
            z = bind(x)
        return z  # read here

    inner(x)
    return x + 1


def _assigned_on(x, bind):
    if x.sum() > 0:
        z = bind(x)
    w = z  # read here
    x = x + 1
    return x if bind is None else w


@pytest.mark.parametrize("function", [_returned_in_a_function, _assigned_on])
@pytest.mark.parametrize("bind", [lambda x: x * 2, lambda x: "text", lambda x: None])
def test_a_variable_that_is_unbound_when_the_program_runs_fails_where_it_is_read(function, bind):
    f = dy2st.to_static(function)
    f(X, bind)
    error = raised(f, -X, bind)
    assert type(error) is UnboundLocalError and "'z'" in str(error)
    assert lines(error)[-1].endswith("# read here")
    assert type(raised(function, -X, bind)) is UnboundLocalError


class Counting(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        self.count += 1
        return x + dy2st.to_tensor([1.0, 2.0, 3.0])  # here


def test_our_own_warnings_point_at_the_users_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dy2st.to_static(Counting())(X)
    assert {warning.filename for warning in caught} == {HERE}
    texts = Path(HERE).read_text(encoding="utf-8").splitlines()
    assert [texts[warning.lineno - 1][-6:] for warning in caught] == ["# here"]


@pytest.mark.parametrize("engine", [None, "numpy"])
def test_what_numpy_warns_of_can_be_an_error_that_names_the_users_line(engine):
    def f(x):
        return dy2st.log(x)

    called = f if engine is None else dy2st.to_static(f, engine=engine)
    with np.errstate(all="raise"):
        error = raised(called, dy2st.zeros([2]))
    assert isinstance(error, FloatingPointError)
    assert [frame.name for frame in frames(error)][-1] == "f"
