"""Matrix products by machine code, called on arrays."""

from __future__ import annotations

import ctypes

import numpy as np

from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object, load
from dy2st_runtime.engine.native.matmul import product
from dy2st_runtime.engine.native.text.code import Code, first_lanes
from dy2st_runtime.engine.native.text.lanes import Lanes, element

GUARD = 1024


def callable_at(address, name):
    """A function of machine code, with the types that PARAMETERS tells."""
    pointers, _, sizes = product.PARAMETERS[name].partition("|")
    types = [ctypes.c_void_p] * len(pointers.split()) + [ctypes.c_int64] * len(sizes.split())
    return ctypes.CFUNCTYPE(None if pointers else ctypes.c_int64, *types)(address)


def strides(array):
    return [stride // array.itemsize for stride in array.strides]


def address(array):
    return array.__array_interface__["data"][0]


class Products:
    """The functions for a dtype; memory that they are given is watched on both sides."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        suffix = f"f{8 * self.dtype.itemsize}"
        found = product.linked(Processor.host(), suffix).addresses
        for name in product.PARAMETERS:
            setattr(self, name, callable_at(found[f"{name}_{suffix}"], name))

    def plain(self, a, b, c, epilogue=None, context=None):
        """`c = a @ b`."""
        (m, k), n = a.shape, b.shape[1]
        with Room(self.product_scratch(m, n, k)) as scratch:
            numbers = (m, n, k, *strides(a), *strides(b), strides(c)[0])
            pointers = (address(c), address(a), address(b), None, scratch, epilogue, context)
            self.product(*pointers, *numbers)

    def shared(self, a, b, c, epilogue=None, context=None):
        """The same, by as many threads as are set."""
        (m, k), n = a.shape, b.shape[1]
        bytes = self.shared_scratch(m, n, k)
        assert bytes >= self.product_scratch(m, n, k)
        with Room(bytes) as scratch:
            numbers = (m, n, k, *strides(a), *strides(b), strides(c)[0], bytes)
            pointers = (address(c), address(a), address(b), None, scratch, epilogue, context)
            self.shared_product(*pointers, *numbers)

    def packed(self, a, b, c):
        """The same; b is packed before."""
        (m, k), n = a.shape, b.shape[1]
        with (
            Room(self.packed_bytes(n, k)) as panels,
            Room(self.product_scratch(m, n, k)) as scratch,
        ):
            self.pack(panels, address(b), n, k, *strides(b))
            numbers = (m, n, k, *strides(a), 0, 0, strides(c)[0])
            pointers = (address(c), address(a), None, panels, scratch, None, None)
            self.product(*pointers, *numbers)


class Room:
    """Bytes, of which nothing is written before the first or behind the last."""

    def __init__(self, size):
        self.bytes = np.full(size + 2 * GUARD, 0xAB, np.uint8)

    def __enter__(self):
        return address(self.bytes) + GUARD

    def __exit__(self, *_):
        assert (self.bytes[:GUARD] == 0xAB).all() and (self.bytes[-GUARD:] == 0xAB).all()


def loaded(text, name, types):
    """A function of a module that takes products from the library of the process."""
    libraries = [product.linked(Processor.host(), suffix) for suffix in ("f32", "f64")]
    symbols = {n: where for library in libraries for n, where in library.addresses.items()}
    used = [n for n in symbols if f"@{n}(" in text]
    text = "\n".join([*map(product.declaration, used), text])
    code = compile_object(text, Processor.host())
    library = load(code, [name], {n: symbols[n] for n in used})
    return library, ctypes.CFUNCTYPE(None, *types)(library.addresses[name])


def epilogue(name, dtype, processor, hook):
    """A function that puts what `hook` makes of the results of a product in their place.

    The hook may read more by `%context`, a pointer, in `lanes.function`, with the mask.
    """
    parameters = [("ptr", "%context"), ("ptr", "%c")]
    parameters += [("i64", f"%{n}") for n in ("c_row", "row", "rows", "column", "columns")]
    code = Code(name, parameters, element(dtype), attributes="noinline nounwind")
    lanes = Lanes(code, processor.vector_bytes // dtype.itemsize)
    end = code.plus("%row", "%rows")
    with code.loop("%row", end) as row, code.loop("0", "%columns", str(lanes.lanes)) as at:
        mask = first_lanes(lanes, code.minus("%columns", at))
        column = code.plus("%column", at)
        place = code.at(code.at("%c", code.times(row, "%c_row")), column)
        value = hook(lanes, lanes.load(place, dtype, mask), row, column, mask)
        lanes.store(value, place, mask)
    return code.end()
