"""Fourier transforms along several axes, frequencies and shifts: composites.

y[k] = sum over j of x[j] * exp(-2 pi i j k / n), and the inverse with +; `n` and `s` cut x, or put
zeros behind it, first. float32 gives complex64, float64 complex128, integers become float32.
norm: "backward" divides the inverse by n, "forward" the other one, "ortho" both by sqrt(n).
The names with r take, or give back, real numbers, whose frequencies from n // 2 + 1 on are the
conjugates of others and are left out; those with h the same with the directions exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.dims import equal, minimum
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import as_int, as_ints, as_shape, normalize_axes, normalize_axis
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ops.fourier_along import NORMS, OTHER_WAY
from dy2st_runtime.ops.rules import with_floats


def fftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """The frequencies of a transform of n samples that are d apart: (n,).

    >>> dy2st.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    places = F.arange(n, dtype="float64")
    steps = places - n * (places >= (n + 1) // 2).astype("float64")
    return (steps / (n * d)).astype("float32" if dtype is None else dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None, name: str | None = None) -> Any:
    """The frequencies of a transform of n real samples that are d apart: (n // 2 + 1,).

    >>> dy2st.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    found = F.arange(n // 2 + 1, dtype="float64") / (n * d)
    return found.astype("float32" if dtype is None else dtype)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """x with the frequency 0 in the middle of the axes, all by default.

    >>> dy2st.fft.fftshift(dy2st.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    places = _axes(x, axes)
    return F.roll(x, [x.shape[axis] // 2 for axis in places], places)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """x with the frequency 0 first again: what undoes `fftshift`.

    >>> dy2st.fft.ifftshift(dy2st.fft.fftshift(dy2st.arange(4))).tolist()
    [0, 1, 2, 3]
    """
    places = _axes(x, axes)
    return F.roll(x, [-(x.shape[axis] // 2) for axis in places], places)


def _axes(x: Any, axes: Any) -> list[int]:
    return list(normalize_axes(None if axes is None else as_ints(axes, "an axis"), x.ndim))


def _with_size(x: Any, axis: int, size: Any) -> Any:
    """x cut along the axis, or with zeros behind it."""
    if equal(x.shape[axis], size) is True:
        return x
    kept = minimum(x.shape[axis], size)
    x = F.slice(x, [axis], [0], [kept])
    pads = [0] * (2 * x.ndim)
    pads[2 * axis + 1] = size - kept
    return F.pad(x, pads)


def _complex(x: Any) -> Any:
    x = with_floats(x)
    return x if x.dtype.kind == "c" else F.complex(x, F.zeros_like(x))


def _full(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str, inverse: bool) -> Any:
    """From complex to complex, along all axes."""
    x = _complex(x)
    for axis, size in zip(axes, sizes, strict=True):
        x = _with_size(x, axis, size)
    for axis in reversed(axes):
        x = F.fourier(x, axis, inverse, norm)
    return x


def _of_real(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    """Real numbers along the last axis, and what that gives along the others."""
    x = with_floats(x)
    for axis, size in zip(axes, sizes, strict=True):
        x = _with_size(x, axis, size)
    x = F.fourier_of_real(x, axes[-1], norm)
    for axis in reversed(axes[:-1]):
        x = F.fourier(x, axis, False, norm)
    return x


def _to_real(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    """What undoes `_of_real`."""
    x = _full(x, sizes[:-1], axes[:-1], norm, inverse=True)
    x = _with_size(x, axes[-1], sizes[-1] // 2 + 1)
    return F.fourier_to_real(x, axes[-1], sizes[-1], norm)


def _forward(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    return _full(x, sizes, axes, norm, inverse=False)


def _inverse(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    return _full(x, sizes, axes, norm, inverse=True)


def _hermitian(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    return _to_real(F.conj(_complex(x)), sizes, axes, OTHER_WAY[norm])


def _inverse_hermitian(x: Any, sizes: Sequence[Any], axes: Sequence[int], norm: str) -> Any:
    return F.conj(_of_real(x, sizes, axes, OTHER_WAY[norm]))


_TO_REAL = (_to_real, _hermitian)


def _run(run: Callable[..., Any], x: Any, s: Any, axes: Any, norm: str) -> Any:
    """With the sizes that x has where none are given."""
    if norm not in NORMS:
        raise ArgumentError(f"norm is one of {', '.join(NORMS)}, not {norm!r}")
    given = None if s is None else list(as_shape(s))
    if axes is None and given is not None:
        axes = range(x.ndim - len(given), x.ndim)
    places = [normalize_axis(a, x.ndim) for a in (range(x.ndim) if axes is None else axes)]
    if not places or len({*places}) != len(places):
        raise ArgumentError(f"a Fourier transform works along different axes, not {list(axes)}")
    if given is None:
        given = [x.shape[axis] for axis in places]
        if run in _TO_REAL:
            given[-1] = 2 * (given[-1] - 1)
    if len(given) != len(places):
        raise ArgumentError(f"{len(given)} sizes are given for {len(places)} axes")
    return run(x, given, places, norm)


def _of_one(run: Callable[..., Any], name: str, *text: str) -> Callable[..., Any]:
    def transform(
        x: Any, n: Any = None, axis: int = -1, norm: str = "backward", name: str | None = None
    ) -> Any:
        return _run(run, x, None if n is None else [n], [as_int(axis, "an axis")], norm)

    return _described(transform, name, "along one axis", *text)


def _of_two(run: Callable[..., Any], name: str, *text: str) -> Callable[..., Any]:
    def transform(
        x: Any, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
    ) -> Any:
        axes = as_ints(axes, "an axis")
        if len(axes) != 2:
            raise ArgumentError(f"{transform.__name__} takes two axes, not {list(axes)}")
        return _run(run, x, s, axes, norm)

    return _described(transform, name, "along two axes", *text)


def _of_many(run: Callable[..., Any], name: str, *text: str) -> Callable[..., Any]:
    def transform(
        x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
    ) -> Any:
        return _run(run, x, s, None if axes is None else as_ints(axes, "an axis"), norm)

    where = "along all axes, or the last ones that `s` has sizes for"
    return _described(transform, name, where, *text)


def _described(
    transform: Callable[..., Any], name: str, where: str, doc: str, given: str, seen: str
) -> Callable[..., Any]:
    """With its name, and an example: what is given, and what is seen of the result."""
    transform.__name__ = transform.__qualname__ = name
    part = ".real()" if name.startswith("ih") else ""
    transform.__doc__ = (
        f"{doc}, {where}.\n\n"
        "Sizes that are given cut x first, or put zeros behind it; norm: 'backward', 'ortho' or\n"
        "'forward' says which direction is divided by n, by sqrt(n) both.\n\n"
        f">>> x = dy2st.to_tensor({given})\n"
        f">>> dy2st.fft.{name}(x){part}.tolist()\n{seen}\n"
    )
    return without_own_frames(transform)


_ONES, _FIRST = "[[1.0, 1.0], [1.0, 1.0]]", "[[4.0, 0.0], [0.0, 0.0]]"
_FIRST_OF_4, _COMPLEX_ONES = "[[(4+0j), 0j], [0j, 0j]]", "[[(1+0j), (1+0j)], [(1+0j), (1+0j)]]"
_DOC = "The Fourier transform"
fft = _of_one(_forward, "fft", _DOC, "[1.0, 1.0]", "[(2+0j), 0j]")
fft2 = _of_two(_forward, "fft2", _DOC, _ONES, _FIRST_OF_4)
fftn = _of_many(_forward, "fftn", _DOC, _ONES, _FIRST_OF_4)
_DOC = "The inverse Fourier transform"
ifft = _of_one(_inverse, "ifft", _DOC, "[2.0, 0.0]", "[(1+0j), (1+0j)]")
ifft2 = _of_two(_inverse, "ifft2", _DOC, _FIRST, _COMPLEX_ONES)
ifftn = _of_many(_inverse, "ifftn", _DOC, _FIRST, _COMPLEX_ONES)
_DOC = "The Fourier transform of real numbers: (..., n) -> (..., n // 2 + 1)"
rfft = _of_one(_of_real, "rfft", _DOC, "[1.0, 1.0, 1.0, 1.0]", "[(4+0j), 0j, 0j]")
rfft2 = _of_two(_of_real, "rfft2", _DOC, _ONES, _FIRST_OF_4)
rfftn = _of_many(_of_real, "rfftn", _DOC, _ONES, _FIRST_OF_4)
_DOC = "The real numbers with these frequencies: (..., m) -> (..., n), by default 2 (m - 1)"
irfft = _of_one(_to_real, "irfft", _DOC, "[4.0, 0.0, 0.0]", "[1.0, 1.0, 1.0, 1.0]")
irfft2 = _of_two(_to_real, "irfft2", _DOC, _FIRST, _ONES)
irfftn = _of_many(_to_real, "irfftn", _DOC, _FIRST, _ONES)
_DOC = "The real transform of half of what is its own conjugate: (..., m) -> (..., n)"
hfft = _of_one(_hermitian, "hfft", _DOC, "[1.0, 1.0, 1.0]", "[4.0, 0.0, 0.0, 0.0]")
hfft2 = _of_two(_hermitian, "hfft2", _DOC, _ONES, _FIRST)
hfftn = _of_many(_hermitian, "hfftn", _DOC, _ONES, _FIRST)
_DOC = "What undoes `hfft`: (..., n) -> (..., n // 2 + 1)"
ihfft = _of_one(_inverse_hermitian, "ihfft", _DOC, "[4.0, 0.0, 0.0, 0.0]", "[1.0, 1.0, 1.0]")
ihfft2 = _of_two(_inverse_hermitian, "ihfft2", _DOC, _FIRST, _ONES)
ihfftn = _of_many(_inverse_hermitian, "ihfftn", _DOC, _FIRST, _ONES)
