"""Operators that fail for data or sizes which only the run knows, where a handler catches that."""

from __future__ import annotations

from contextlib import contextmanager, suppress

import numpy as np
import pytest

import dy2st as P
import dy2st_runtime
from dy2st import to_static
from dy2st.static import InputSpec
from tests.effort import IS_FULL

F = P.nn.functional


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape, start=1):
    return np.arange(start, start + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def number(value):
    return np.array(value, np.int64)


X = floats(3, 2)
SINGULAR = np.ones((2, 2), np.float32)
GOOD = np.array([[2, 1], [1, 3]], np.float32)
NONE = np.zeros((0, 2), np.float32)
# name -> a function, arguments that fit, arguments for which it fails
OPERATORS = {
    "x[vector]": (lambda x, k: x[k], (X, ints(0, 2)), (X, ints(0, 3))),
    "x[negative vector]": (lambda x, k: x[k], (X, ints(-3)), (X, ints(-4))),
    "x[:, vector]": (lambda x, k: x[:, k], (X, ints(0, 1)), (X, ints(0, 2))),
    "x[a, b]": (lambda x, a, b: x[a, b], (X, ints(0), ints(1)), (X, ints(0), ints(5))),
    "x[number]": (lambda x, k: x[k], (X, number(2)), (X, number(3))),
    "x[:, number]": (lambda x, k: x[:, k], (X, number(-2)), (X, number(-3))),
    "x[number, number]": (lambda x, k: x[k, k], (X, number(1)), (X, number(2))),
    "x[int(number)]": (lambda x, k: x[int(k)], (X, number(1)), (X, number(7))),
    "x[5]": (lambda x: x[5], (floats(6),), (floats(3),)),
    "x[mask]": (lambda x, m: x[m], (X, X > 2), (X, np.ones((4, 2), bool))),
    "set x[vector]": (
        lambda x, k: _set(x, k),
        (X, ints(0, 2)),
        (X, ints(0, 3)),
    ),
    "index_fill": (lambda x, k: P.index_fill(x, k, 0, -1), (X, ints(0)), (X, ints(9))),
    "index_add": (lambda x, k: P.index_add(x, k, 0, x[:1]), (X, ints(0)), (X, ints(9))),
    "index_put": (lambda x, k: P.index_put(x, (k,), x[0]), (X, ints(0)), (X, ints(9))),
    "gather": (lambda x, k: P.gather(x, k), (X, ints(1, 1)), (X, ints(1, 3))),
    "gather_nd": (lambda x, k: P.gather_nd(x, k.unsqueeze(-1)), (X, ints(1)), (X, ints(3))),
    "index_select": (lambda x, k: P.index_select(x, k, 1), (X, ints(1)), (X, ints(2))),
    "index_sample": (
        lambda x, k: P.index_sample(x, k.reshape([3, 1])),
        (X, ints(1, 0, 1)),
        (X, ints(1, 0, 2)),
    ),
    "take": (lambda x, k: P.take(x, k), (X, ints(5)), (X, ints(6))),
    "take_along_axis": (
        lambda x, k: P.take_along_axis(x, k.reshape([1, 2]), 0),
        (X, ints(2, 0)),
        (X, ints(3, 0)),
    ),
    "put_along_axis": (
        lambda x, k: P.put_along_axis(x, k.reshape([1, 2]), 1.0, 0),
        (X, ints(2, 0)),
        (X, ints(3, 0)),
    ),
    "put_along_axis of products": (
        lambda x, k: P.put_along_axis(x, k.reshape([1, 2]), 2.0, 0, "mul"),
        (X, ints(2, 0)),
        (X, ints(3, 0)),
    ),
    "scatter": (lambda x, k: P.scatter(x, k, x[:1]), (X, ints(1)), (X, ints(3))),
    "scatter_nd_add": (
        lambda x, k: P.scatter_nd_add(x, k.unsqueeze(-1), x[:1]),
        (X, ints(1)),
        (X, ints(3)),
    ),
    "embedding": (lambda x, k: F.embedding(k, x), (X, ints(2)), (X, ints(3))),
    "one_hot": (lambda k: F.one_hot(k, 3), (ints(2),), (ints(3),)),
    "one_hot of a number": (
        lambda k, n: F.one_hot(k, n),
        (ints(2), number(3)),
        (ints(2), number(2)),
    ),
    "cross_entropy": (
        lambda x, k: F.cross_entropy(x, k),
        (X, ints(0, 1, 1)),
        (X, ints(0, 1, 2)),
    ),
    "nll_loss": (lambda x, k: F.nll_loss(x, k), (X, ints(0, 1, 1)), (X, ints(0, 1, 2))),
    "bincount": (lambda k: P.bincount(k), (ints(2),), (ints(-1),)),
    "reshape to a tensor": (lambda x, s: P.reshape(x, s), (X, ints(2, 3)), (X, ints(4, 2))),
    "reshape to numbers": (lambda x, n: x.reshape([n, 2]), (X, number(3)), (X, number(4))),
    "reshape of a size": (lambda x: x.reshape([-1, 4]), (floats(8),), (floats(6),)),
    "expand": (lambda x, n: x.expand([n, 3, 2]), (X, number(2)), (X, number(-3))),
    "broadcast_to": (
        lambda x, n: P.broadcast_to(x, [n]),
        (floats(1), number(2)),
        (floats(2), number(3)),
    ),
    "zeros": (lambda n: P.zeros([n]), (number(2),), (number(-2),)),
    "full": (lambda n: P.full([n], 7.0), (number(2),), (number(-2),)),
    "arange": (lambda n: P.arange(0, 6, n), (number(2),), (number(0),)),
    "split": (lambda x: P.split(x, 2)[0], (floats(4),), (floats(3),)),
    "split in parts": (lambda x: P.split(x, [1, 2])[1], (floats(3),), (floats(4),)),
    "chunk": (lambda x: x.reshape([2, 2]).chunk(2)[0], (floats(4),), (floats(3),)),
    "squeeze a number": (
        lambda x, n: P.squeeze(x, n),
        (floats(1, 2), ints(0)),
        (floats(1, 2), ints(4)),
    ),
    "tile": (lambda x, n: P.tile(x, [n]), (floats(2), number(2)), (floats(2), number(-1))),
    "repeat_interleave": (
        lambda x, k: P.repeat_interleave(x, k, 0),
        (floats(2), ints(2, 1)),
        (floats(2), ints(2, -1)),
    ),
    "topk": (lambda x, n: P.topk(x, n)[0], (floats(3), number(2)), (floats(3), number(4))),
    "cholesky": (lambda x: P.linalg.cholesky(x), (GOOD,), (-GOOD,)),
    "inverse": (lambda x: P.linalg.inv(x), (GOOD,), (SINGULAR,)),
    "solve": (lambda x, y: P.linalg.solve(x, y), (GOOD, GOOD), (SINGULAR, GOOD)),
    "matrix_power": (lambda x: P.linalg.matrix_power(x, -2), (GOOD,), (SINGULAR,)),
    "not square": (lambda x: P.linalg.det(x), (GOOD,), (X,)),
    "trace of a product": (
        lambda x, y: P.trace(P.linalg.inv(x) @ y),
        (GOOD, GOOD),
        (SINGULAR, GOOD),
    ),
    "max of nothing": (lambda x: x.max(0), (X,), (NONE,)),
    "argmax of nothing": (lambda x: x.argmax(0), (X,), (NONE,)),
    "amin of nothing": (lambda x: P.amin(x, 0), (X,), (NONE,)),
    "item of a slice": (lambda x: x[1:].item(), (floats(2),), (floats(3),)),
    "float of a vector": (lambda x: float(x), (floats(1),), (floats(3),)),
    "add": (lambda x, y: x + y, (floats(3), floats(3)), (floats(3), floats(2))),
    "where": (lambda x, y: P.where(x > 1, x, y), (floats(3), floats(3)), (floats(3), floats(2))),
    "matmul": (lambda x, y: x @ y, (X, floats(2, 3)), (X, X)),
    "stack": (lambda x, y: P.stack([x, y]), (X, X), (X, floats(2, 2))),
    "concat": (lambda x, y: P.concat([x, y]), (X, X), (X, floats(2, 3))),
    "linear": (lambda x, y: F.linear(x, y), (X, floats(2, 3)), (X, X)),
    "dot": (lambda x, y: P.dot(x, y), (floats(3), floats(3)), (floats(3), floats(2))),
    "einsum": (
        lambda x, y: P.einsum("i,i->", x, y),
        (floats(3), floats(3)),
        (floats(3), floats(2)),
    ),
    "conv1d": (
        lambda x, w: F.conv1d(x, w),
        (floats(1, 2, 4), floats(1, 2, 3)),
        (floats(1, 2, 4), floats(1, 2, 5)),
    ),
    "mse_loss": (lambda x, y: F.mse_loss(x, y), (floats(3), floats(3)), (floats(3), floats(2))),
    "unpack": (lambda x: _first_of_two(x), (floats(2),), (floats(3),)),
    "int to a negative power": (lambda k, n: k**n, (ints(2), ints(3)), (ints(2), ints(-1))),
}


def _set(x, k):
    y = x.clone()
    y[k] = 0
    return y


def _first_of_two(x):
    first, _ = x
    return first


def in_a_function(operate):
    def function(*args):
        try:
            found = operate(*args)
        except IndexError:
            return P.zeros([]) - 1
        except np.linalg.LinAlgError:
            return P.zeros([]) - 2
        except ZeroDivisionError:
            return P.zeros([]) - 3
        except ValueError:
            return P.zeros([]) - 4
        except Exception:
            return P.zeros([]) - 5
        else:
            return P.to_tensor(found).astype("float32").sum()

    return function


def in_a_loop(operate):
    def function(*args):
        found = P.zeros([])
        steps = 0
        for _ in range(P.to_tensor(2) + 0 * args[0].astype("int64").sum()):
            try:
                found = found + P.to_tensor(operate(*args)).astype("float32").sum()
            except IndexError:
                found = found - 10
            except ValueError:
                found = found - 100
            except Exception:
                found = found - 1000
            finally:
                steps += 1
        return found + steps

    return function


def in_a_generator(operate):
    def each(*args):
        for place in range(2):
            try:
                found = P.to_tensor(operate(*args)).astype("float32").sum()
            except (IndexError, ZeroDivisionError):
                found = P.zeros([]) - 1
            except Exception:
                found = P.zeros([]) - 2
            yield found * (place + 1)

    def function(*args):
        return sum(each(*args), P.zeros([]))

    return function


DRAWN = list(OPERATORS)[:: 1 if IS_FULL else 9]
FORMS = {"function": in_a_function, "loop": in_a_loop, "generator": in_a_generator}


def static_of(function, arguments, engine="numpy"):
    """The function converted, with every size unknown."""
    specs = [_spec(one) for one in arguments]
    return to_static(function, input_spec=specs, engine=engine)


def _spec(array):
    """Floats of unknown sizes; how many integers there are may decide how many axes a result has."""
    shape = array.shape if array.dtype == np.int64 else [None] * array.ndim
    return InputSpec(list(shape), str(array.dtype))


def compare(function, model, name):
    _, fits, fails = OPERATORS[name]
    for arguments in (fits, fails):
        tensors = [P.to_tensor(one) for one in arguments]
        expected = float(function(*tensors))
        assert float(model(*tensors)) == pytest.approx(expected, rel=1e-5), (name, expected)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_handler_runs_in_a_function(name):
    function = in_a_function(OPERATORS[name][0])
    assert float(function(*map(P.to_tensor, OPERATORS[name][2]))) < 0, "it does not fail eagerly"
    compare(function, static_of(function, OPERATORS[name][1]), name)


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        return kind is not None and issubclass(kind, IndexError)


class Counting:
    def __enter__(self):
        self.left = 0
        return self

    def __exit__(self, kind, error, place):
        self.left += 1


@contextmanager
def swallowing():
    with suppress(IndexError):
        yield 1


def in_a_manager_of_a_class(x, k):
    y = x
    with Swallowing():
        y = x[k] + 1
    return y


def in_suppress(x, k):
    y = x
    with suppress(IndexError):
        y = x[k] + 1
    return y


def in_a_manager_of_a_generator(x, k):
    y = x
    with swallowing():
        y = x[k] + 1
    return y


def in_a_helper_of_the_try(x, k):
    def picked():
        return x[k] * 2

    try:
        y = picked()
    except LookupError as error:
        return x, type(error).__name__
    else:
        y = y + 1
    return y, "else"


def with_finally_between(x, k):
    steps = []
    try:
        try:
            y = x[k]
        finally:
            steps.append(1)
    except IndexError:
        steps.append(2)
        y = x
    return y, len(steps)


def with_a_yield_in_the_try(x, k):
    def rows():
        for place in k:
            try:
                yield x[place]
            except IndexError:
                yield x[0] * 0

    return sum(rows(), P.zeros([]))


@pytest.mark.parametrize(
    "function",
    [
        in_a_manager_of_a_class,
        in_suppress,
        in_a_manager_of_a_generator,
        in_a_helper_of_the_try,
        with_finally_between,
        with_a_yield_in_the_try,
    ],
)
def test_whatever_catches_it_runs(function):
    static = to_static(function, input_spec=[InputSpec([None]), InputSpec([None], "int64")])
    for places in (ints(1, 0), ints(1, 7), ints(-3)):
        given = P.to_tensor(floats(2)), P.to_tensor(places)
        assert str(static(*given)) == str(function(*given))


def test_what_lets_all_pass_begins_no_branch():
    def f(x, k):
        with Counting() as counting:
            try:
                y = x[k] + x
            finally:
                counting.left += 1
        return y * counting.left

    static = to_static(f, input_spec=[InputSpec([None]), InputSpec([None], "int64")])
    given = P.to_tensor(floats(2)), P.to_tensor(ints(1, 1))
    assert str(static(*given)) == str(f(*given))
    assert not any(one.blocks for one in static.main_program.operators)
    with pytest.raises(IndexError):
        static(P.to_tensor(floats(2)), P.to_tensor(ints(1, 3)))


def test_gradients_flow_through_the_side_that_is_taken():
    def f(x, k):
        try:
            return (x[k] * x[k]).sum()
        except IndexError:
            return x.sum()

    static = to_static(f)
    for places in (ints(1), ints(5), ints(0), ints(-9)):
        found = []
        for function in (f, static, static):
            x = P.to_tensor(floats(2), stop_gradient=False)
            function(x, P.to_tensor(places)).backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1] == found[2]


def test_a_handler_that_asks_for_what_the_exception_does_not_have_raises_on_that_path():
    def f(x, k):
        try:
            return x[k].sum()
        except Exception as error:
            return x.sum() + error.errno

    static = to_static(f, input_spec=[InputSpec([None]), InputSpec([None], "int64")])
    assert float(static(P.to_tensor(floats(2)), P.to_tensor(ints(1)))) == 2
    with pytest.raises(AttributeError, match="errno"):
        static(P.to_tensor(floats(2)), P.to_tensor(ints(4)))


@pytest.mark.parametrize("form", ["loop", "generator"])
@pytest.mark.parametrize("name", DRAWN)
def test_the_handler_runs_in_a_loop_and_in_a_generator(name, form):
    function = FORMS[form](OPERATORS[name][0])
    compare(function, static_of(function, OPERATORS[name][1]), name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DRAWN)
def test_the_handler_runs_in_saved_models_on_each_engine(name, form, tmp_path):
    function = FORMS[form](OPERATORS[name][0])
    static = static_of(function, OPERATORS[name][1])
    P.jit.save(static, str(tmp_path / "model"))
    for engine in ("numpy", "native"):
        model = dy2st_runtime.load(str(tmp_path / "model"), engine=engine)
        compare(function, model, name)
