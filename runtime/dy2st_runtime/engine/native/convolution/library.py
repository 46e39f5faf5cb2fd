"""Calls oneDNN's C interface, of version 3: layouts of tensors, and primitives that compute.

No other file knows the library. It is optional: `find()` gives None where it is not installed, or
is not made for this system.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from dy2st_runtime.lazy import Lazy, cached_property, once

metadata = Lazy("importlib.metadata")

Sizes = Sequence[int]

# The file of the version: those of shorter names another package of oneDNN writes over.
_PACKAGE, _VERSION, _FILE = "onednn-cpu-gomp", "2023", "libdnnl.so.3.2"

_LOOKS = "GOMP_SPINCOUNT"

_FLOAT32, _ANY_LAYOUT, _CPU, _IN_ORDER, _GIVEN_SCRATCH = 3, 1, 1, 1, 1
_TRAINING, _INFERENCE, _DIRECT, _TRANSPOSED = 64, 96, 1, 10
_ARGUMENT_LAYOUT, _IMPLEMENTATION = 255, 8
_MOST_AXES = 12
_STRIDES, _AXES, _INNER_AXES = 14, 256, 263
_BLOCKED = {3: (56, 69, 60), 4: (78, 102, 84), 5: (121, 142, 128)}
"""The last: layouts of so many axes, with 16, 8 or 4 channels of a place beside each other."""

_ELTWISE = {
    "relu": 0x20,
    "tanh": 0x21,
    "abs": 0x24,
    "linear": 0x26,
    "sigmoid": 0x29,
    "swish": 0x2C,
    "clip": 0x2E,
    "hardswish": 0x34,
}
_BINARY = {
    "add": 0x1FFF0,
    "multiply": 0x1FFF1,
    "maximum": 0x1FFF2,
    "minimum": 0x1FFF3,
    "divide": 0x1FFF4,
    "subtract": 0x1FFF5,
}
_POOLING = {"max": 0x1FF, "mean": 0x2FF}

SOURCE, OTHER, RESULT, WEIGHTS, BIAS, SCRATCH = 1, 2, 17, 33, 41, 80
RESULT_GRADIENT, WEIGHTS_GRADIENT = 145, 161
"""The arguments of a primitive, by number."""


def joined(number: int) -> int:
    """The n-th of the arguments that are put behind each other."""
    return 1024 + number


def second_of_post_op(number: int) -> int:
    """The second operand of the n-th post-op of a primitive."""
    return 32768 * (number + 1) + OTHER


class Refused(Exception):
    """The library has nothing that computes this."""


class Post(NamedTuple):
    """What is done to results, element by element, before they are written.

    layout    of the second operand, if there is one.
    """

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    layout: Layout | None = None


class Geometry(NamedTuple):
    """How windows lie along each spatial axis."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    before: Sizes
    after: Sizes


class _Held:
    """Something of the library's, freed when nobody holds this object."""

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[[ctypes.c_void_p], Any]) -> None:
        self.pointer, self._free = pointer, free

    def __del__(self) -> None:
        self._free(self.pointer)


class Layout:
    """The sizes of a tensor, and where its elements lie."""

    def __init__(self, library: Library, held: _Held) -> None:
        """Take a descriptor."""
        self.pointer, self._library, self._held = held.pointer, library, held

    @cached_property
    def bytes(self) -> int:
        """How much memory it takes."""
        return int(self._library.c.dnnl_memory_desc_get_size(self.pointer))

    @cached_property
    def strides(self) -> list[int]:
        """How far apart in memory neighbours along each axis are, or their blocks."""
        found = self._asked(_STRIDES, ctypes.POINTER(ctypes.c_int64))
        return [int(found[axis]) for axis in range(self._asked(_AXES, ctypes.c_int32).value)]

    @property
    def is_blocked(self) -> bool:
        """Whether channels lie in blocks."""
        return bool(self._asked(_INNER_AXES, ctypes.c_int32).value)

    def _asked(self, what: int, kind: Callable[[], Any]) -> Any:
        answer = kind()
        self._library.c.dnnl_memory_desc_query(self.pointer, what, ctypes.byref(answer))
        return answer

    def is_like(self, other: Layout) -> bool:
        """Whether all elements lie alike."""
        return bool(self._library.c.dnnl_memory_desc_equal(self.pointer, other.pointer))


class Primitive:
    """Something that computes: several threads may, each with memory of its own."""

    def __init__(self, library: Library, description: _Held) -> None:
        """Let the library write its code."""
        self._library, self._description = library, description
        if "ref" in self.implementation:
            raise Refused("it would be computed number by number")
        c = library.c
        made = library.made(c.dnnl_primitive_create, description.pointer)
        self._held = _Held(made, c.dnnl_primitive_destroy)
        self.pointer = made

    @property
    def implementation(self) -> str:
        """The library's name of what computes it."""
        name = ctypes.c_char_p()
        query = self._library.c.dnnl_primitive_desc_query
        query(self._description.pointer, _IMPLEMENTATION, 0, ctypes.byref(name))
        return (name.value or b"").decode()

    def layout(self, argument: int) -> Layout:
        """How an argument must lie."""
        c = self._library.c
        what = (ctypes.c_int(_ARGUMENT_LAYOUT), ctypes.c_int(argument))
        found = c.dnnl_primitive_desc_query_md(self._description.pointer, *what)
        own = self._library.made(c.dnnl_memory_desc_clone, ctypes.c_void_p(found))
        return Layout(self._library, _Held(own, c.dnnl_memory_desc_destroy))


class Library:
    """The functions of the library, with arguments of Python."""

    def __init__(self, path: str) -> None:
        """Load it; OSError where that is impossible."""
        with _short_waits():
            self.c = ctypes.CDLL(path)
        self._process = os.getpid()
        self.c.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
        self.c.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self._engine = self.made(self.c.dnnl_engine_create, _CPU, ctypes.c_size_t(0))
        # On a processor it holds no state: threads may share it.
        self.stream = self.made(self.c.dnnl_stream_create, self._engine, _IN_ORDER)

    @property
    def has_helpers(self) -> bool:
        """Whether other threads can work: OpenMP's do not live on in a forked child."""
        return os.getpid() == self._process

    def address(self, name: str) -> int:
        """Where a function of the library is, or of the threads that it works with."""
        return ctypes.cast(getattr(self.c, name), ctypes.c_void_p).value or 0

    def made(self, function: Any, *arguments: Any) -> ctypes.c_void_p:
        """What a function makes."""
        result = ctypes.c_void_p()
        self._done(function, ctypes.byref(result), *arguments)
        return result

    def _done(self, function: Any, *arguments: Any) -> None:
        status = function(*arguments)
        if status == 1:
            raise MemoryError("oneDNN has no memory left")
        if status:
            raise Refused(f"{function.__name__} gives {status}")

    # -- layouts -------------------------------------------------------------------------------

    def plain(self, shape: Sizes) -> Layout:
        """Row by row, without gaps."""
        return self.in_order(shape, range(len(shape)))

    def channels_last(self, shape: Sizes) -> Layout:
        """All channels of a place beside each other."""
        return self.in_order(shape, (0, *range(2, len(shape)), 1))

    def in_order(self, shape: Sizes, axes: Iterable[int]) -> Layout:
        """Without gaps, with the axes in this order in memory."""
        strides, step = [0] * len(shape), 1
        for axis in reversed(list(axes)):
            strides[axis] = step
            step *= shape[axis]
        create = self.c.dnnl_memory_desc_create_with_strides
        return self._layout(create, len(shape), _dims(shape), _FLOAT32, _dims(strides))

    def alike(self, layout: Layout, before: Sizes, after: Sizes) -> Layout:
        """The order of a layout, for other sizes."""
        if not layout.is_blocked:
            strides = layout.strides
            return self.in_order(after, sorted(range(len(after)), key=lambda axis: -strides[axis]))
        for own, other in zip(self.blocked(before), self.blocked(after), strict=True):
            if own.is_like(layout):
                return other
        raise Refused("a layout that is not known")

    def blocked(self, shape: Sizes) -> list[Layout]:
        """An image with 16, 8 or 4 channels of a place beside each other."""
        return [self._tagged(shape, tag) for tag in _BLOCKED[len(shape)]]

    def _tagged(self, shape: Sizes, tag: int) -> Layout:
        create = self.c.dnnl_memory_desc_create_with_tag
        return self._layout(create, len(shape), _dims(shape), _FLOAT32, tag)

    def free(self, shape: Sizes) -> Layout:
        """As the library likes it best: a wish, which a primitive fulfils."""
        return self._tagged(shape, _ANY_LAYOUT)

    def _layout(self, create: Any, *arguments: Any) -> Layout:
        return Layout(self, _Held(self.made(create, *arguments), self.c.dnnl_memory_desc_destroy))

    def memory(self, layout: Layout, address: int) -> ctypes.c_void_p:
        """Elements at an address, as an argument of primitives; to be given to `forget`."""
        create = self.c.dnnl_memory_create
        return self.made(create, layout.pointer, self._engine, ctypes.c_void_p(address))

    def forget(self, memory: ctypes.c_void_p) -> None:
        """Free what `memory` made."""
        self.c.dnnl_memory_destroy(memory)

    # -- primitives ----------------------------------------------------------------------------

    def convolution(
        self,
        source: Layout,
        weights: Layout,
        bias: Layout | None,
        result: Layout,
        geometry: Geometry,
        posts: Iterable[Post],
        is_transposed: bool = False,
    ) -> Primitive:
        """The products of filters with windows; or, transposed, every element adds its filter.

        Filters are by channel of the result, both times.
        """
        kind, algorithm = (
            ("deconvolution", _TRANSPOSED) if is_transposed else ("convolution", _DIRECT)
        )
        create = getattr(self.c, f"dnnl_{kind}_forward_primitive_desc_create")
        layouts = (source.pointer, weights.pointer, bias and bias.pointer, result.pointer)
        sizes = (_dims(geometry.strides), *_reach(geometry))
        return self._primitive(create, (_INFERENCE, algorithm, *layouts, *sizes), posts)

    def filters_gradient(
        self, source: Layout, filters: Layout, gradient: Layout, geometry: Geometry
    ) -> Primitive:
        """The gradient of filters, of what a convolution reads and that of its results."""
        sizes = (_dims(geometry.strides), *_reach(geometry))
        layouts = (source.pointer, filters.pointer, None, gradient.pointer)
        forward = self._with_attributes(
            (),
            lambda attributes: self.made(
                self.c.dnnl_convolution_forward_primitive_desc_create,
                self._engine,
                _TRAINING,
                _DIRECT,
                *layouts,
                *sizes,
                attributes,
            ),
        )
        create = self.c.dnnl_convolution_backward_weights_primitive_desc_create
        return self._primitive(create, (_DIRECT, *layouts, *sizes, forward.pointer), ())

    def pooling(
        self, name: str, source: Layout, result: Layout, geometry: Geometry, posts: Iterable[Post]
    ) -> Primitive:
        """The largest or the mean of windows; around the source there is nothing, or zeros."""
        sizes = (_dims(geometry.strides), _dims(geometry.kernel), *_reach(geometry))
        return self._primitive(
            self.c.dnnl_pooling_forward_primitive_desc_create,
            (_INFERENCE, _POOLING[name], source.pointer, result.pointer, *sizes),
            posts,
        )

    def eltwise(self, post: Post, source: Layout, posts: Iterable[Post]) -> Primitive:
        """A function of each element."""
        numbers = (ctypes.c_float(post.alpha), ctypes.c_float(post.beta))
        return self._primitive(
            self.c.dnnl_eltwise_forward_primitive_desc_create,
            (_INFERENCE, _ELTWISE[post.name], source.pointer, source.pointer, *numbers),
            posts,
        )

    def binary(self, name: str, source: Layout, other: Layout, posts: Iterable[Post]) -> Primitive:
        """Element by element of two tensors; the sizes of the second may be 1."""
        layouts = (source.pointer, other.pointer, source.pointer)
        create = self.c.dnnl_binary_primitive_desc_create
        return self._primitive(create, (_BINARY[name], *layouts), posts)

    def concat(self, axis: int, sources: Sequence[Layout], result: Layout) -> Primitive:
        """Tensors behind each other."""
        listed = (ctypes.c_void_p * len(sources))(*[one.pointer for one in sources])
        create = self.c.dnnl_concat_primitive_desc_create
        return self._primitive(create, (result.pointer, len(sources), axis, listed), ())

    def reorder(self, source: Layout, result: Layout) -> Primitive:
        """The same elements in another layout."""
        made = self._with_attributes(
            (),
            lambda attributes: self.made(
                self.c.dnnl_reorder_primitive_desc_create,
                source.pointer,
                self._engine,
                result.pointer,
                self._engine,
                attributes,
            ),
        )
        return Primitive(self, made)

    def _primitive(self, create: Any, about: Sequence[Any], posts: Iterable[Post]) -> Primitive:
        made = self._with_attributes(
            posts, lambda attributes: self.made(create, self._engine, *about, attributes)
        )
        return Primitive(self, made)

    def _with_attributes(
        self, posts: Iterable[Post], make: Callable[[ctypes.c_void_p], ctypes.c_void_p]
    ) -> _Held:
        c = self.c
        attributes = _Held(self.made(c.dnnl_primitive_attr_create), c.dnnl_primitive_attr_destroy)
        chain = _Held(self.made(c.dnnl_post_ops_create), c.dnnl_post_ops_destroy)
        for post in posts:
            if post.layout is None:
                numbers = (ctypes.c_float(post.alpha), ctypes.c_float(post.beta))
                self._done(
                    c.dnnl_post_ops_append_eltwise, chain.pointer, _ELTWISE[post.name], *numbers
                )
            else:
                what = _BINARY[post.name]
                self._done(c.dnnl_post_ops_append_binary, chain.pointer, what, post.layout.pointer)
        self._done(c.dnnl_primitive_attr_set_post_ops, attributes.pointer, chain.pointer)
        self._done(c.dnnl_primitive_attr_set_scratchpad_mode, attributes.pointer, _GIVEN_SCRATCH)
        return _Held(make(attributes.pointer), c.dnnl_primitive_desc_destroy)


def _dims(sizes: Sizes) -> Any:
    return (ctypes.c_int64 * _MOST_AXES)(*sizes)


def _reach(geometry: Geometry) -> tuple[Any, Any, Any]:
    """Dilations, as the library counts them: gaps; and the pads on both sides."""
    gaps = [dilation - 1 for dilation in geometry.dilations]
    return _dims(gaps), _dims(geometry.before), _dims(geometry.after)


@contextmanager
def _short_waits() -> Iterator[None]:
    """Let helpers look for work for some microseconds, and then sleep.

    That is enough between two primitives. GNU's OpenMP, which reads its environment when it is
    loaded, would have them look for a millisecond, in which others wait for the processor.
    """
    if {"OMP_WAIT_POLICY", _LOOKS} & set(os.environ):
        yield
        return
    os.environ[_LOOKS] = "2000"
    try:
        yield
    finally:
        del os.environ[_LOOKS]


@once
def find() -> Library | None:
    """The library, if it is installed: in the version whose interface this is."""
    try:
        package = metadata.distribution(_PACKAGE)
        if package.version.partition(".")[0] != _VERSION:
            return None
        path = next(file for file in package.files or () if file.name == _FILE)
        return Library(str(path.locate()))
    except (metadata.PackageNotFoundError, StopIteration):
        return None
    except OSError as error:  # it is there, and is damaged, or for another machine
        warnings.warn(
            f"NumPy computes convolutions, since {_PACKAGE} is installed and cannot be loaded: "
            f"{error}; install it again",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


__all__ = [
    "BIAS",
    "OTHER",
    "RESULT",
    "RESULT_GRADIENT",
    "SCRATCH",
    "SOURCE",
    "WEIGHTS",
    "WEIGHTS_GRADIENT",
    "Geometry",
    "Layout",
    "Library",
    "Post",
    "Primitive",
    "Refused",
    "find",
    "joined",
    "second_of_post_op",
]
