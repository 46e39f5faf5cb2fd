"""Complex numbers: values against NumPy, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st as P
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import DEFINITIONS, TensorType
from dy2st_runtime.ir.promotion import promotion
from dy2st_runtime.ir.tracing.tracer import infer

RNG = np.random.default_rng(0)


def complex_numbers(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


Z, W, X, Y = (*(complex_numbers(2, 3) for _ in range(2)), *(RNG.normal(size=(2, 3)) for _ in "xy"))
ROW, MATRIX = complex_numbers(3), complex_numbers(3, 4)
PLACES = dy2st.to_tensor([2, 0, 2])
CHOICE = dy2st.to_tensor([True, False, True])

# Functions of our tensors, of NumPy's, and what they are given.
CASES = {
    "add": (lambda a, b: a + b, None, (X, W)),
    "subtract": (lambda a, b: a - b, None, (ROW, X)),
    "multiply": (lambda a, b: a * b, None, (Z, ROW)),
    "multiply by real": (lambda a, b: a * b, None, (Z, X)),
    "multiply by numbers": (lambda a: (2.5 * a + 1j) * 2j - 3, None, (Z,)),
    "real by a complex number": (lambda a: a * 1j, None, (X,)),
    "divide": (lambda a, b: a / b, None, (Z, W)),
    "divide real": (lambda a, b: a / b, None, (X, W)),
    "neg": (lambda a: -a, None, (Z,)),
    "square": (dy2st.square, np.square, (Z,)),
    "exp": (dy2st.exp, np.exp, (Z,)),
    "reciprocal": (dy2st.reciprocal, lambda a: 1 / a, (Z,)),
    "cumsum": (lambda a: dy2st.cumsum(a, 1), lambda a: np.cumsum(a, 1), (Z,)),
    "norm": (dy2st.linalg.norm, np.linalg.norm, (Z,)),
    "vecdot": (dy2st.vecdot, lambda a, b: (a.conj() * b).sum(-1), (Z, W)),
    "cov": (dy2st.linalg.cov, np.cov, (Z,)),
    "round": (lambda a: dy2st.round(a * 3), lambda a: np.round(a * 3), (Z,)),
    "round to places": (lambda a: dy2st.round(a, 2), lambda a: np.round(a, 2), (Z,)),
    "sgn": (dy2st.sgn, lambda a: a / np.abs(a), (Z,)),
    "abs": (dy2st.abs, np.abs, (Z,)),
    "angle": (dy2st.angle, np.angle, (Z,)),
    "angle of real": (dy2st.angle, np.angle, (X,)),
    "conj": (dy2st.conj, np.conj, (Z,)),
    "real": (dy2st.real, np.real, (Z,)),
    "imag": (dy2st.imag, np.imag, (Z,)),
    "complex": (dy2st.complex, lambda a, b: a + 1j * b, (X, Y[0])),
    "polar": (dy2st.polar, lambda a, b: a * np.exp(1j * b), (X, Y)),
    "as_real": (dy2st.as_real, lambda a: np.stack([a.real, a.imag], -1), (Z,)),
    "as_complex": (dy2st.as_complex, lambda a: a[..., 0] + 1j * a[..., 1], (X.reshape(3, 2),)),
    "matmul": (lambda a, b: a @ b, None, (Z, MATRIX)),
    "matmul by real": (lambda a, b: a @ b, None, (X, MATRIX)),
    "einsum": (
        lambda a, b: dy2st.einsum("ij,jk->ki", a, b),
        lambda a, b: np.einsum("ij,jk->ki", a, b),
        (Z, MATRIX),
    ),
    "sum": (lambda a: a.sum(0), None, (Z,)),
    "mean": (lambda a: a.mean(1), None, (Z,)),
    "var": (dy2st.var, lambda a: np.var(a, ddof=1), (Z,)),
    "where": (
        lambda a, b: dy2st.where(CHOICE, a, b),
        lambda a, b: np.where([True, False, True], a, b),
        (Z, X),
    ),
    "reshape": (lambda a: a.reshape([3, 2]), lambda a: a.reshape(3, 2), (Z,)),
    "transpose": (lambda a: dy2st.transpose(a, [1, 0]), np.transpose, (Z,)),
    "expand": (lambda a: a.expand([2, 3]), lambda a: np.broadcast_to(a, (2, 3)), (ROW,)),
    "concat": (lambda a, b: dy2st.concat([a, b]), lambda a, b: np.concatenate([a, b]), (Z, X)),
    "stack": (lambda a, b: dy2st.stack([a, b], 1), lambda a, b: np.stack([a, b], 1), (Z, W)),
    "split": (lambda a: dy2st.split(a, [1, 2], 1)[1], lambda a: a[:, 1:], (Z,)),
    "slice": (lambda a: a[:, ::2], None, (Z,)),
    "index": (lambda a: a[:, PLACES], lambda a: a[:, [2, 0, 2]], (Z,)),
    "pad": (
        lambda a: dy2st.nn.functional.pad(a, [0, 0, 1, 2]),
        lambda a: np.pad(a, ((0, 0), (1, 2))),
        (Z,),
    ),
    "roll": (lambda a: dy2st.roll(a, 1, 1), lambda a: np.roll(a, 1, 1), (Z,)),
    "flip": (lambda a: dy2st.flip(a, [1]), lambda a: np.flip(a, 1), (Z,)),
    "tril": (dy2st.tril, np.tril, (Z,)),
    "equal": (lambda a, b: (a == b).astype("float64"), lambda a, b: (a == b) * 1.0, (Z, ROW)),
    **{
        f"{name} {n} {norm}": (
            lambda a, name=name, n=n, norm=norm: getattr(dy2st.fft, name)(a, n, -1, norm),
            lambda a, name=name, n=n, norm=norm: getattr(np.fft, name)(a, n, -1, norm),
            (X if name in ("rfft", "ihfft") else Z,),
        )
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for n, norm in ((None, "backward"), (5, "ortho"), (2, "forward"))
    },
}


def loss(y, weights):
    """A real number that all parts of all elements have a share in."""
    parts = (y * weights.real).sum() if y.dtype.kind == "f" else None
    return (y.real * weights.real + y.imag * weights.imag).sum() if parts is None else parts


def slopes(function, arrays, place, weights):
    """dL/d(real z) + i dL/d(imag z) by finite differences."""
    step, array = 1e-6, arrays[place]
    found = np.zeros(array.shape, array.dtype)
    for at in np.ndindex(array.shape):
        for unit in (1, 1j) if array.dtype.kind == "c" else (1,):
            ends = []
            for sign in (1, -1):
                moved = list(arrays)
                moved[place] = array.copy()
                moved[place][at] += sign * step * unit
                ends.append(loss(function(*moved), weights))
            found[at] += unit * (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    function, reference, arrays = CASES[name]
    reference = function if reference is None else reference
    tensors = [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]
    y, expected = function(*tensors), np.asarray(reference(*arrays))
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y.numpy(), expected, atol=1e-12)
    if name == "equal":
        return
    weights = complex_numbers(*expected.shape)
    given = dy2st.to_tensor(weights if expected.dtype.kind == "c" else weights.real)
    y.backward(given)
    for place, tensor in enumerate(tensors):
        assert tensor.grad.dtype == tensor.dtype
        wanted = slopes(reference, arrays, place, weights)
        np.testing.assert_allclose(tensor.grad.numpy(), wanted, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_a_program_gives_the_same_numbers(name):
    function, _, arrays = CASES[name]
    tensors = [dy2st.to_tensor(array) for array in arrays]
    found = dy2st.jit.to_static(lambda *given: function(*given))(*tensors)
    expected = function(*tensors)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_integers_yield_to_complex_numbers_as_paddle_has_it():
    z, n = dy2st.to_tensor([1j]), dy2st.to_tensor([2])
    assert (z * n).dtype == (n * 1j).dtype == np.complex128
    with promotion("paddle"):
        assert (z * n).dtype == (n * 1j).dtype == np.complex64
        assert (z * n).tolist() == [2j]


def test_the_slope_of_abs_and_angle_at_zero_is_zero():
    z = dy2st.to_tensor(np.zeros(2, complex), stop_gradient=False)
    (dy2st.abs(z) + dy2st.angle(z)).sum().backward()
    assert z.grad.tolist() == [0, 0]


def test_second_derivatives_flow_through_spectra():
    x = dy2st.to_tensor(X[0], stop_gradient=False)
    power = (dy2st.fft.fft(x).abs() ** 2).sum()  # 3 * sum(x * x)
    (first,) = dy2st.grad([power], [x], create_graph=True)
    np.testing.assert_allclose(first.numpy(), 6 * X[0])
    (second,) = dy2st.grad([first.sum()], [x])
    np.testing.assert_allclose(second.numpy(), [6, 6, 6], atol=1e-12)


def test_parts_decide_what_is_no_number():
    z = dy2st.to_tensor([complex(np.nan, 0), complex(0, np.inf), 1j])
    assert dy2st.isnan(z).tolist() == [True, False, False]
    assert dy2st.isinf(z).tolist() == [False, True, False]
    assert dy2st.isfinite(z).tolist() == [False, False, True]


def test_python_numbers_become_complex_tensors():
    assert dy2st.to_tensor([1 + 2j, 3.0]).dtype == np.complex64
    assert dy2st.to_tensor(1j, dtype="complex128").item() == 1j
    assert (dy2st.ones([2]) * 1j).dtype == np.complex64
    assert dy2st.full([2], 1 - 2j).tolist() == [1 - 2j, 1 - 2j]
    assert dy2st.full_like(dy2st.ones([1], "complex128"), 0.1j).item() == 0.1j
    assert dy2st.is_complex(dy2st.zeros([2], "complex64"))
    assert dy2st.isreal(dy2st.to_tensor([1j, 2.0])).tolist() == [False, True]
    x = dy2st.ones([2])
    x = x.cfloat()
    x[0] = 2j
    assert x.tolist() == [2j, 1]


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
def test_a_cast_to_real_numbers_takes_the_real_parts(engine):
    def cast(z):
        return z.astype("float64"), z.astype("int32"), z.astype("bool"), dy2st.sum(z, dtype="int64")

    z = dy2st.to_tensor([1.5 - 2j, 0j, 3j, -2.0], stop_gradient=False)
    call = cast if engine == "eager" else dy2st.to_static(cast, engine=engine)
    real, whole, truth, total = call(z)
    assert real.tolist() == [1.5, 0, 0, -2]
    assert whole.tolist() == [1, 0, 0, -2]
    assert truth.tolist() == [True, False, True, True]
    assert total.item() == -1
    real.sum().backward()
    assert z.grad.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.item() * 2,
        lambda z: int(z[0]),
        lambda z: float(z[0]),
        lambda z: z.tolist()[0],
        lambda z: complex(z[0]),
    ],
)
def test_a_program_makes_no_number_of_python_of_a_complex_one(call):
    with pytest.raises(Dy2stError):
        dy2st.to_static(call)(dy2st.to_tensor([3.5 + 2j]))


def test_the_sign_of_a_complex_number_is_its_direction():
    z = dy2st.to_tensor([3 + 4j, 0j, -2.0], stop_gradient=False)
    np.testing.assert_allclose(dy2st.sign(z).numpy(), [0.6 + 0.8j, 0, -1], rtol=1e-6)
    assert dy2st.nonzero(z).tolist() == [[0], [2]]


NOT_FOR_THEM = [name for name, record in DEFINITIONS.items() if not record.takes_complex]


@pytest.mark.parametrize("name", NOT_FOR_THEM)
def test_all_other_operators_refuse_complex_numbers(name):
    record = DEFINITIONS[name]
    if not record.inputs:
        return
    attributes = next((dict(s.attributes) for s in record.samples), {})
    types = [TensorType("complex64", (2, 3)) for _ in record.inputs]
    with pytest.raises(Dy2stError, match=f"{name} takes no tensor of complex64"):
        infer(record, types, attributes)


@pytest.mark.parametrize(
    "call",
    [
        lambda z: dy2st.full([2], 1j, "float32"),
        lambda z: dy2st.masked_fill(z.real(), z.real() > 0, 1j),
        lambda z: dy2st.scatter(z.real(), dy2st.to_tensor([0]), z[:1]),
        lambda z: dy2st.select_scatter(z.real(), z[0], 0, 0),
        lambda z: z.real().clone().copy_(z),
        lambda z: z < z,
        dy2st.nn.functional.relu,
        dy2st.floor,
        dy2st.max,
        lambda z: z.real().as_real(),
        lambda z: dy2st.complex(z, z),
        lambda z: dy2st.as_complex(z.real()),
        lambda z: dy2st.complex(dy2st.arange(2), dy2st.arange(2)),
    ],
)
def test_what_complex_numbers_have_not_is_refused(call):
    z = dy2st.to_tensor(Z)
    with pytest.raises(Dy2stError):
        call(z)
    with pytest.raises(Dy2stError):
        dy2st.jit.to_static(call)(z)


def test_optimizers_take_parts_only():
    weight = dy2st.create_parameter(
        [2], "complex64", default_initializer=dy2st.nn.initializer.Assign(np.ones(2, "complex64"))
    )
    (weight * 1j).abs().sum().backward()
    with pytest.raises(Dy2stError, match="as_complex"):
        dy2st.optimizer.SGD(0.1, parameters=[weight]).step()


class Filter(dy2st.nn.Layer):
    """A global filter, as image models have it: multiplies the spectrum."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([4, 3, 2])
        self.register_buffer("turn", dy2st.polar(dy2st.ones([3]), dy2st.arange(3.0)))

    def forward(self, x):
        spectrum = dy2st.fft.rfft2(x) * dy2st.as_complex(self.weight) * self.turn
        if spectrum.abs().mean() > 1.0:
            spectrum = spectrum * 0.5
        return dy2st.fft.irfft2(spectrum, s=x.shape[-2:])


def test_a_saved_filter_computes_and_trains_as_in_python(tmp_path):
    layer = Filter()
    x = RNG.normal(size=(2, 4, 4)).astype("float32")
    given = dy2st.to_tensor(x)
    expected = layer(given)
    expected.square().sum().backward()
    slope = layer.weight.grad.numpy()
    layer.weight.grad = None
    converted = dy2st.jit.to_static(
        layer, input_spec=[dy2st.static.InputSpec([None, 4, 4], "float32")]
    )
    found = converted(given)
    found.square().sum().backward()
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    np.testing.assert_allclose(layer.weight.grad.numpy(), slope, rtol=1e-5, atol=1e-6)
    dy2st.jit.save(converted, str(tmp_path / "filter"))
    loaded = dy2st.jit.load(str(tmp_path / "filter"))
    np.testing.assert_array_equal(loaded(given).numpy(), expected.numpy())


# -- functions -------------------------------------------------------------------------------------


F = P.nn.functional
RANDOM = np.random.default_rng(6)
POINTS = RANDOM.normal(size=8) + 1j * RANDOM.normal(size=8)
SQUARE = RANDOM.normal(size=(3, 3)) + 1j * RANDOM.normal(size=(3, 3))
NAMES = {
    **{name: name for name in "square exp expm1 log log1p log2 log10 sqrt sin cos tan".split()},
    **{name: name for name in "sinh cosh tanh reciprocal".split()},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
FUNCTIONS = {
    **{name: (getattr(P, name), getattr(np, theirs), POINTS) for name, theirs in NAMES.items()},
    "rsqrt": (P.rsqrt, lambda z: 1 / np.sqrt(z), POINTS),
    "sigmoid": (F.sigmoid, lambda z: 1 / (1 + np.exp(-z)), POINTS),
    "silu": (F.silu, lambda z: z / (1 + np.exp(-z)), POINTS),
    "pow": (lambda z: P.pow(z, z * 0.5), lambda z: np.power(z, z * 0.5), POINTS),
    "prod": (P.prod, np.prod, POINTS),
    "cumprod": (lambda z: P.cumprod(z, 0), np.cumprod, POINTS),
    "inverse": (P.linalg.inv, np.linalg.inv, SQUARE),
    "det": (P.linalg.det, np.linalg.det, SQUARE),
    "solve": (lambda z: P.linalg.solve(z, z @ z), lambda z: z, SQUARE),
    "cholesky_solve": (
        lambda z: P.linalg.cholesky_solve(z, P.tril(z)),
        lambda z: np.linalg.solve(np.tril(z) @ np.tril(z).conj().T, z),
        SQUARE,
    ),
}


def _slopes(function, array):
    """dL/d(real) + i dL/d(imag) of L, the sum of real parts times weights."""
    weights = np.random.default_rng(3).normal(size=np.shape(function(array)))
    found, step = np.zeros_like(array), 1e-6
    for place in np.ndindex(array.shape):
        for way in (1, 1j):
            move = np.zeros_like(array)
            move[place] = step * way
            ends = [np.sum(weights * function(array + m).real) for m in (move, -move)]
            found[place] += way * (ends[0] - ends[1]) / (2 * step)
    return weights, found


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_their_gradients(name, engine):
    function, reference, array = FUNCTIONS[name]
    call = function if engine == "eager" else P.to_static(function, engine=engine)
    z = P.to_tensor(array, stop_gradient=False)
    y = call(z)
    np.testing.assert_allclose(y.numpy(), reference(array), rtol=1e-12, atol=1e-14)
    weights, slopes = _slopes(reference, array)
    (P.real(y) * P.to_tensor(weights)).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), slopes, rtol=1e-5, atol=1e-6)


def test_truth_of_complex_numbers():
    z = P.to_tensor([0j, 1j, 1 + 0j])
    assert P.logical_not(z).tolist() == [True, False, False]
    assert P.logical_and(z, z).tolist() == [False, True, True]
    assert (P.any(z).item(), P.all(z).item()) == (True, False)


def test_matrices_of_no_elements():
    assert P.linalg.pinv(P.zeros([0, 3])).shape == [3, 0]
    assert P.linalg.matrix_rank(P.zeros([0, 0])).tolist() == 0
    assert P.masked_select(P.to_tensor(3.0), P.to_tensor(True)).tolist() == [3.0]
    assert P.masked_select(P.to_tensor(3.0), P.to_tensor(False)).tolist() == []
    x = P.multigammaln(P.to_tensor([5]), 2).item()
    np.testing.assert_allclose(x, 6.2041553441150885, rtol=1e-6)
