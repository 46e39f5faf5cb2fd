"""bucket: Programs made for some sizes, and a dispatcher that picks the right one for a call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dy2st.jit.save_load import alone, for_file
from dy2st.jit.static_function import StaticFunction
from dy2st.static.freezing import check_number, named_sizes
from dy2st.static.padding import NotIndifferent, Proof, proof_of
from dy2st_runtime import engine as engines
from dy2st_runtime.dims import Dim, Size, symbol
from dy2st_runtime.errors import ArgumentError, SpecError, WrongKind, counted
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.broken_sizes import check_inputs, refusal
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.sizes import input_sizes, origins
from dy2st_runtime.ir.structure import rebuild as nested
from dy2st_runtime.shape_table import titled
from dy2st_runtime.tensor import EagerTensor, wrapped

Array = np.ndarray[Any, Any]
Bucket = int | tuple[int, int]
"""A size, or the least and the largest one of a range."""

_SHAPES_KEPT = 4096


def bucket(
    program: Program | StaticFunction,
    *,
    pad: bool = True,
    cache_size: int = 32,
    engine: str | None = None,
    **sizes: Iterable[Bucket],
) -> Dispatcher:
    """Programs made for the given values of named sizes, and the choice among them by the inputs.

    A number is a Program of that size; it also serves smaller sizes, the inputs being padded, if
    `pad` is set and the Program is proved to compute the same. A pair (low, high) is a Program for
    these sizes, which stay unknown within. The Programs are made when they are needed; the
    `cache_size` used last are kept. They are made of the Program as it was traced, without the
    passes of a `build_strategy`. `engine` names what runs them; without it that of the converted
    function does. Raises SpecError for names and sizes that the Program does not
    have.

    >>> from dy2st import ones, to_static
    >>> from dy2st.static import InputSpec
    >>> double = to_static(lambda x: x * 2.0, input_spec=[InputSpec(["batch", 4])])
    >>> fast = bucket(double, batch=[1, 8, 32])
    >>> fast(ones([5, 4])).shape
    [5, 4]
    """
    if not sizes:
        raise SpecError("bucket needs the sizes: bucket(program, batch=[1, 8, 32])")
    if cache_size < 1:
        raise ArgumentError(f"cache_size is at least 1, not {cache_size}")
    return Dispatcher(program, sizes, pad, cache_size, engine)


class _Table:
    """The buckets of one size, in order."""

    def __init__(self, own: Dim, entries: Iterable[Bucket]):
        self.symbol = own
        self.buckets = sorted({_checked(own, entry) for entry in entries}, key=_top)
        if not self.buckets:
            raise SpecError(f"the size {own} has no buckets")
        for left, right in zip(self.buckets, self.buckets[1:], strict=False):
            if _top(left) >= _least(right):
                raise SpecError(f"the buckets {left} and {right} of the size {own} overlap")
        self.tops = [_top(entry) for entry in self.buckets]

    def at(self, size: int) -> Bucket | None:
        """The bucket whose largest size is the least that is enough, None if all are too small."""
        place = bisect_left(self.tops, size)
        return self.buckets[place] if place < len(self.buckets) else None


def _checked(own: Dim, entry: Any) -> Bucket:
    if isinstance(entry, tuple):
        if len(entry) != 2 or entry[0] > entry[1]:
            raise SpecError(f"a range of the size {own} is (low, high), not {entry!r}")
        return check_number(own, entry[0]), check_number(own, entry[1])
    return check_number(own, entry)


def _top(entry: Bucket) -> int:
    return entry[1] if isinstance(entry, tuple) else entry


def _least(entry: Bucket) -> int:
    return entry[0] if isinstance(entry, tuple) else entry


@dataclass(eq=False)
class _Plan:
    """How inputs of some shapes are run."""

    choice: tuple[Bucket, ...]
    shapes: list[tuple[int, ...]] | None  # of the padded inputs, None if nothing is padded
    cuts: list[tuple[slice, ...] | None]  # of the outputs
    real: int
    padded: int


@dataclass(eq=False)
class _Count:
    """What was asked of one bucket."""

    hits: int = 0
    real: int = 0
    padded: int = 0


class Dispatcher:
    """Calls a Program that was made for the sizes at hand; `report()` says how it went."""

    def __init__(
        self,
        program: Program | StaticFunction,
        sizes: Mapping[str, Iterable[Bucket]],
        pad: bool,
        cache_size: int,
        engine: str | None,
    ):
        """Made by `bucket`."""
        self._static: Any = None  # what keeps the live tensors of its parameters and buffers
        if isinstance(program, StaticFunction):
            self._static = for_file([(program, program.concrete_program)])[0]
            self.program = alone(self._static)
        elif not isinstance(program, Program):
            raise WrongKind(f"bucket takes a Program or a converted function, not {program!r:.80}")
        elif program.state:
            raise ArgumentError(
                f"{program.name} has parameters: give bucket the converted function that has them"
            )
        else:
            self.program = program
        own = program.engine if isinstance(program, StaticFunction) else None
        self._engine = engines.check_name(engine) or own
        known = named_sizes(self.program)
        for name in sizes:
            if name not in known:
                raise SpecError(
                    f"{self.program.name} has no size {name!r}; it has {', '.join(sorted(known))}"
                )
        self._tables = [_Table(known[name], entries) for name, entries in sizes.items()]
        self._pads, self._cache_size = pad, cache_size
        self._plans: dict[Any, _Plan] = {}
        self._made: dict[tuple[Bucket, ...], Any] = {}
        self._counts: dict[tuple[Bucket, ...], _Count] = {}
        self._proofs: dict[Dim, Proof | str] = {}

    # -- calling -----------------------------------------------------------------------------

    def __call__(self, *inputs: Any) -> Any:
        """The Program's results for these tensors or arrays; real sizes, whatever was padded."""
        arrays = [x.array if isinstance(x, EagerTensor) else np.asarray(x) for x in inputs]
        key = tuple([(array.shape, array.dtype) for array in arrays])
        plan = self._plans.get(key)
        if plan is None:
            check_inputs(self.program, arrays)
            sizes = input_sizes(self.program, [array.shape for array in arrays])
            error = refusal(self.program, sizes)
            if error is not None:
                raise error
            choice = tuple(self._chosen(table, sizes[table.symbol]) for table in self._tables)
            plan = self._plan(choice, arrays, sizes)
            if len(self._plans) >= _SHAPES_KEPT:
                self._plans.clear()
            self._plans[key] = plan
        executable = self._executable(plan.choice)
        count = self._counts[plan.choice]
        count.hits += 1
        count.real += plan.real
        count.padded += plan.padded
        if plan.shapes is not None:
            arrays = [_padded(a, shape) for a, shape in zip(arrays, plan.shapes, strict=True)]
        state = {} if self._static is None else self._static.state
        results = engines.run_live(executable, arrays, state.values())
        own = len(results) - len(self.program.updates)
        for name, value in zip(self.program.updates, results[own:], strict=True):
            state[name].hold(value)
        cut = [wrapped(result) for result in results[:own]]
        if plan.shapes is not None:
            cut = [
                result if places is None else EagerTensor(np.array(result.array[places]))
                for result, places in zip(cut, plan.cuts, strict=True)
            ]
        for given, variable in zip(inputs, self.program.inputs, strict=True):
            index = self.program.changes.get(variable.name)
            if index is not None and isinstance(given, EagerTensor):
                given.put(cut[index].array)
                cut[index] = given
        if self.program.structure is None:
            return cut
        return nested(self.program.structure, cut)

    def _executable(self, choice: tuple[Bucket, ...]) -> Any:
        """The compiled Program of a choice, made if it is not there; the one used last is kept."""
        executable = self._made.pop(choice, None)  # and put in again, behind all others
        if executable is not None:
            self._made[choice] = executable
            return executable
        self._counts.setdefault(choice, _Count())
        sizes: dict[Dim, Size] = {}
        for table, entry in zip(self._tables, choice, strict=True):
            if isinstance(entry, tuple):
                sizes[table.symbol] = symbol(str(table.symbol), *entry)
            else:
                sizes[table.symbol] = entry
        executable = engines.compile(rebuild(self.program, sizes), self._engine)
        self._made[choice] = executable
        for oldest in list(self._made)[: -self._cache_size]:
            self._made.pop(oldest, None)
        return executable

    # -- planning ----------------------------------------------------------------------------

    def _chosen(self, table: _Table, size: int) -> Bucket:
        entry = table.at(size)
        if entry is None:
            raise SpecError(
                f"{self._place(table.symbol)}: {size}; the largest bucket of `{table.symbol}` is "
                f"{table.tops[-1]}"
            )
        if _least(entry) <= size:
            return entry
        if isinstance(entry, tuple) or not self._pads:
            raise SpecError(
                f"{self._place(table.symbol)}: {size}; no bucket of `{table.symbol}` has this size"
            )
        proof = self._proof(table.symbol)
        if isinstance(proof, str):
            raise self._unpadded(table.symbol, size, entry, proof)
        if size < proof.least:
            reason = "there is no last element to repeat, and others may fail"
            raise self._unpadded(table.symbol, size, entry, reason)
        return entry

    def _unpadded(self, own: Dim, size: int, entry: int, reason: str) -> SpecError:
        return SpecError(
            f"{self._place(own)}: {size}; it cannot be padded to {entry}: {reason}; "
            f"give `{own}` a bucket of this size, or a range, or mask and pad outside"
        )

    def _place(self, own: Dim) -> str:
        origin = origins(self.program.inputs)[own]
        return f"argument `{origin.variable.name}`, axis {origin.axis}"

    def _proof(self, own: Dim) -> Proof | str:
        """The axes of outputs that padding makes longer, or why it must not be done."""
        if own not in self._proofs:
            try:
                # Rebuilt: what nobody reads is gone, and need not be indifferent.
                self._proofs[own] = proof_of(rebuild(self.program), own)
            except NotIndifferent as reason:
                self._proofs[own] = str(reason)
        return self._proofs[own]

    def _plan(
        self, choice: tuple[Bucket, ...], arrays: Sequence[Array], sizes: Mapping[Dim, int]
    ) -> _Plan:
        longer = {
            table.symbol: entry
            for table, entry in zip(self._tables, choice, strict=True)
            if isinstance(entry, int) and entry != sizes[table.symbol]
        }
        real = sum(array.size for array in arrays)
        cuts: list[tuple[slice, ...] | None] = [None] * len(self.program.outputs)
        if not longer:
            return _Plan(choice, None, cuts, real, 0)
        error = refusal(self.program, {**sizes, **longer})
        if error is not None:
            own, entry = next(iter(longer.items()))
            raise self._unpadded(own, sizes[own], entry, f"then {error}")
        shapes = [
            tuple(
                longer.get(size, number) if isinstance(size, Dim) else number
                for size, number in zip(variable.tensor_type.shape, array.shape, strict=True)
            )
            for variable, array in zip(self.program.inputs, arrays, strict=True)
        ]
        for own in longer:
            proof = self._proof(own)
            assert not isinstance(proof, str)
            for index, axes in enumerate(proof.outputs):
                if axes:  # the real part of an output
                    whole = (slice(None),) * self.program.outputs[index].ndim
                    cut = list(cuts[index] or whole)
                    for axis in axes:
                        cut[axis] = slice(sizes[own])
                    cuts[index] = tuple(cut)
        padded = sum(int(np.prod(shape)) for shape in shapes) - real
        return _Plan(choice, shapes, cuts, real, padded)

    # -- reporting ---------------------------------------------------------------------------

    def all_buckets(self) -> list[tuple[Bucket, ...]]:
        """Every combination, the smallest first; none of them is made for that."""
        return list(product(*(table.buckets for table in self._tables)))

    def report(self) -> str:
        """Hits, padding and memory of every bucket that was used, as a table."""
        names = [str(table.symbol) for table in self._tables]
        rows = []
        for choice, count in sorted(self._counts.items(), key=lambda item: str(item[0])):
            whole = count.real + count.padded
            waste = 100.0 * count.padded / whole if whole else 0.0
            memory, executable = "dropped", self._made.get(choice)
            if executable is not None:
                operators = executable.program.walk()
                values = [o.attributes["value"] for o in operators if o.name == "constant"]
                memory = counted(sum(value.nbytes for value in values), "byte")
            shown = [
                f"{one[0]} to {one[1]}" if isinstance(one, tuple) else str(one) for one in choice
            ]
            rows.append((*shown, str(count.hits), f"{waste:.1f} %", memory))
        total = sum(count.hits for count in self._counts.values())
        table = titled(*names, "hits", "padding", "constants", rows=rows) if rows else ""
        possible = counted(len(self.all_buckets()), "Program")
        made = f"{len(self._made)} of {possible} are kept; {counted(total, 'call')}"
        return f"{table}\n\n{made}" if table else made


def _padded(array: Array, shape: tuple[int, ...]) -> Array:
    """The array with its last elements repeated: values that the Program knows how to treat."""
    for axis, size in enumerate(shape):
        missing = size - array.shape[axis]
        if missing:
            last = array.take([-1], axis) if array.shape[axis] else None
            lead = (*array.shape[:axis], missing, *array.shape[axis + 1 :])
            more = np.zeros(lead, array.dtype) if last is None else np.broadcast_to(last, lead)
            array = np.concatenate([array, more], axis)
    return array


__all__ = ["Bucket", "Dispatcher", "bucket"]
