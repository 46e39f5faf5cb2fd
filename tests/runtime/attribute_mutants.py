"""Every operator with random attributes, sizes and element types, on both engines.

    python -m tests.runtime.attribute_mutants 10000 --processes 2
    python -m tests.runtime.attribute_mutants 1 --from 4711 --show

Each seed is a sample of a record, changed, as a Program of that one operator, and of additions around
it: what code makes is read by code. It is the most that a file could say, as all is required that the
rule asks for. A Dy2stError refuses it, or it runs on arrays beside pages that may not be touched;
then engine native gives what NumPy's engine gives, or both refuse, and the inputs stay as they are.
"""

import math
import os
import random

import numpy as np

from dy2st_runtime.dims import Dim, evaluate, symbol, symbols
from dy2st_runtime.engine import compile as compiled
from dy2st_runtime.errors import ArgumentError, Dy2stError
from dy2st_runtime.ir import DEFINITIONS, Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.definition import Effect
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops.lazy import load_all
from tests.runtime.guarded import guarded
from tests.runtime.workers import TooLong, command_line, limit

SECONDS = 20  # LLVM takes most of them
BYTES = 2**30
HUGE = 2**24
NUMBERS = [0, 1, 2, 3, 5, -1, -2, 7, 64, 1000, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e300, math.inf, math.nan]
DTYPES = ["float32", "float64", "int64", "int32", "bool", "uint8", "float16"]
SIZES = [0, 1, 2, 3, 4, 5, 8, 9]
# What they give of rows that are in no order, or of hardly any difference, is nobody's promise.
UNSURE = {"searchsorted", "svd", "qr", "eigh", "eig"}

load_all()
NAMES = sorted(name for name, record in DEFINITIONS.items() if record.samples)


class Case:
    """A changed sample: element types, shapes and attributes."""

    def __init__(self, seed):
        self.source = source = random.Random(seed)
        self.name = source.choice(NAMES)
        self.record = DEFINITIONS[self.name]
        self.sample = sample = source.choice(self.record.samples)
        self.dtypes = list(sample.dtypes or ("float32",) * len(sample.shapes))
        if source.random() < 0.1 and self.dtypes:
            self.dtypes[source.randrange(len(self.dtypes))] = source.choice(DTYPES)
        self.shapes = self._shapes()
        self.types = [TensorType(*pair) for pair in zip(self.dtypes, self.shapes, strict=True)]
        self.symbols = symbols(tuple(map(tuple, self.shapes)))
        self.attributes = {key: kind.default for key, kind in self.record.allowed.items()}
        self.attributes |= sample.attributes
        for _ in range(source.choice([0, 1, 1, 1, 2])):
            if self.attributes:
                name = source.choice(sorted(self.attributes))
                self.attributes[name] = self._value(self.attributes[name])

    def _shapes(self):
        """Sizes are known, unknown, or one more or less; those that are equal mostly stay equal."""
        source, names = self.source, {}
        share, is_alike = source.choice([0, 0.3, 1]), source.random() < 0.6
        shapes = []
        for number, shape in enumerate(self.sample.shapes):
            keys = [size if is_alike else (number, axis) for axis, size in enumerate(shape)]
            shapes.append(
                [
                    names.setdefault(key, symbol(f"s{len(names)}"))
                    if source.random() < share
                    else size
                    for key, size in zip(keys, shape, strict=True)
                ]
            )
        if source.random() < 0.3 and any(shapes):
            shape = source.choice([shape for shape in shapes if shape])
            axis = source.randrange(len(shape))
            is_known = isinstance(shape[axis], int)
            shape[axis] = (
                max(shape[axis] + source.choice([-1, 1]), 0) if is_known else shape[axis] + 1
            )
        return shapes

    def _value(self, value):
        """Another value for an attribute, or for a part of one."""
        source = self.source
        if isinstance(value, tuple):
            return self._entries(list(value))
        if isinstance(value, bool):
            return not value
        if isinstance(value, float):
            return source.choice(FLOATS)
        if isinstance(value, np.dtype):
            return np.dtype(source.choice(DTYPES))
        if value is not None and not isinstance(value, (int, Dim)):
            return value
        kind = source.randrange(4)
        if kind == 0 and value is not None:
            return value + source.choice([-1, 1])
        return self._size() if kind == 1 and self.symbols else source.choice(NUMBERS)

    def _entries(self, entries):
        source, kind = self.source, self.source.randrange(5)
        if entries and kind < 3:
            place = source.randrange(len(entries))
            entries[place] = self._value(entries[place])
        elif entries and kind == 3:
            del entries[source.randrange(len(entries))]
        else:
            entries.insert(0, source.choice(entries) if entries else self._value(1))
        return tuple(entries)

    def _size(self):
        size, other = self.source.choice(self.symbols), self.source.choice([*self.symbols, 1, 2])
        forms = [
            size,
            size + 1,
            size - 1,
            size - other,
            2 * size,
            size * other,
            size * 2**62,
            -size,
        ]
        return self.source.choice([*forms, size // 2])

    def check_kinds(self):
        """ArgumentError, as the verifier would have it, if an attribute is not of its kind."""
        for name, kind in self.record.allowed.items():
            value = self.attributes[name]
            if value is not kind.default and not kind.fits(value, self.types):
                raise ArgumentError(f"`{name}` is not {kind.what}")

    def program(self):
        """The Program; a Dy2stError where the rule refuses."""
        program = Program("forward")
        for index, type in enumerate(self.types):
            program.inputs.append(program.block.add_parameter(type, f"x{index}"))
        with Tracer(program).tracing():
            made = apply(self.name, *map(self._added, program.inputs), **self.attributes)
            made = list(made) if isinstance(made, (tuple, list)) else [made]
            program.block.yields = list(map(self._added, made))
        return program

    def _added(self, value):
        """A value, or its double, which code makes."""
        is_number = isinstance(value.type, TensorType) and value.dtype.kind in "fi"
        return apply("add", value, value) if is_number and self.source.random() < 0.6 else value

    def arrays(self):
        """Inputs of sizes that are near those of the sample, or any."""
        known = {one: self.source.choice(SIZES) for one in self.symbols}
        if self.source.random() < 0.5:
            for shape, real in zip(self.shapes, self.sample.shapes, strict=True):
                for size, own in zip(shape, real, strict=True):
                    if size in known:
                        known[size] = max(own + self.source.choice([0, 0, 0, 1, -1]), 0)
        rng = np.random.default_rng(self.source.randrange(2**32))
        more = 2 * (self.source.random() < 0.1)
        low, high = self.sample.low - more, self.sample.high + more
        for type in self.types:
            shape = [
                size if isinstance(size, int) else evaluate(size, known) for size in type.shape
            ]
            yield np.asarray(rng.uniform(low, high, shape)).astype(type.dtype)


# -- one case in a worker ---------------------------------------------------------------------


def outcome(case):
    """What became of it; what begins with "!" must not be."""
    try:
        case.check_kinds()
        program = case.program()
        verify(program)
    except Dy2stError:
        return "refused"
    except Exception as error:
        return f"! the rule raises {described(error)}"
    try:
        engines = [compiled(program, name) for name in ("numpy", "native")]
    except Exception as error:
        return f"! an engine cannot compile it: {described(error)}"
    said = [called(case, program, engines, at_end) for at_end in (True, False, True)]
    return next((text for text in said if text.startswith("!")), said[0])


def called(case, program, engines, at_end):
    """What becomes of a call of both engines."""
    given = list(case.arrays())
    if any(array.size > HUGE for array in given):
        return "huge"
    arrays = [guarded(array, at_end) for array in given]
    wanted, found = (tried(engine, arrays) for engine in engines)
    if not all(map(are_equal, arrays, given)):
        return "! it writes into its inputs"
    sizes = [array.shape for array in arrays]
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        if isinstance(wanted, Exception) is isinstance(found, Exception):
            return "raises"
        if isinstance(wanted, MemoryError) or isinstance(found, MemoryError):
            return "huge"
        return f"! {sizes}: NumPy {shown_result(wanted)}, native {shown_result(found)}"
    is_sure = case.record.effect is not Effect.RANDOM and case.name not in UNSURE
    for one, other, value in zip(wanted, found, program.block.yields, strict=True):
        if isinstance(value.type, TensorType) and not are_alike(one, other, is_sure):
            return f"! {sizes}: NumPy {shown_result([one])}, native {shown_result([other])}"
    return "runs"


def tried(engine, arrays):
    """The results, or what is raised."""
    try:
        with np.errstate(all="ignore"):
            return engine.run(arrays, [])
    except Exception as error:
        return error


def are_equal(one, other):
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def are_alike(one, other, is_sure):
    """Whether arrays are of one kind and size, and hold the same up to rounding if that is sure."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    tolerance = 1e-2 if one.dtype.itemsize == 2 else 1e-3
    return not is_sure or np.allclose(one, other, rtol=tolerance, atol=1e-4, equal_nan=True)


def described(error):
    return f"{type(error).__name__}: {error!s:.100}".replace("\n", " ")


def shown_result(result):
    if isinstance(result, Exception):
        return described(result)
    return " ".join(f"{a.dtype}{a.shape} {a.ravel()[:4]}" for a in result)


def trial(run):
    """What `run` makes of a function that tries one case."""
    os.environ["DY2ST_CACHE"] = "off"

    def try_one(seed):
        case = Case(seed)
        limit(SECONDS)
        try:
            return case.name, outcome(case)
        except TooLong:
            return case.name, "! it takes too long"
        except MemoryError:
            return case.name, "huge"
        finally:
            limit(0)

    return run(try_one, BYTES)


def shown(seed):
    """A case as text."""
    case = Case(seed)
    attributes = {k: v for k, v in case.attributes.items() if not isinstance(v, np.ndarray)}
    try:
        program = to_text([case.program()])
    except Exception as error:
        program = described(error)
    return f"{seed} {case.name} {case.dtypes} {case.shapes} {attributes}\n{program}"


if __name__ == "__main__":
    command_line(__doc__.splitlines()[0], shown, trial)
