"""Writes the steps of a Program as code: calls of nests, and operators, each by its writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dy2st_runtime.engine.native.machine import threads
from dy2st_runtime.engine.native.machine.kernels import changed
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.nests import emit as nests
from dy2st_runtime.engine.native.nests import shares
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.nests.identity import Identity
from dy2st_runtime.engine.native.nests.nests import Nest
from dy2st_runtime.engine.native.nests.shares import Share
from dy2st_runtime.engine.native.program.calls import FAIL, Calls
from dy2st_runtime.engine.native.program.constraints import Constraints
from dy2st_runtime.engine.native.program.lifetimes import Kind, is_alias
from dy2st_runtime.engine.native.program.lock import Lock
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.engine.native.program.prepacked_code import Keeping
from dy2st_runtime.engine.native.program.products import Products
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.sizes import Sizes
from dy2st_runtime.ir.program import Operator, Program, Variable


class Writer(NamedTuple):
    """What writes some of the operators that no nest computes, without Python.

    takes   whether it is one of them
    write   (body, step, operator): its code, which puts the results in their places
    holds   whether it works on objects of Python, whose lock it needs, and gives such objects
    changes whether it writes a part of its first operand, or of a copy if that is still needed
    """

    takes: Callable[[Operator], bool]
    write: Callable[[Body, Step, Operator], None]
    holds: bool = False
    changes: bool = False


def writer(
    takes: Callable[[Operator], bool], holds: bool = False, changes: bool = False
) -> Callable[[Callable[[Body, Step, Operator], None]], Writer]:
    """Make a Writer of a function that writes the code."""
    return lambda write: Writer(takes, write, holds, changes)


class Body:
    """Writes the steps of a Program into a function that goes to `FAIL` with an exception set."""

    def __init__(
        self,
        program: Program,
        module: Module,
        function: Function,
        sizes: Sizes,
        places: Places,
        identity: Identity,
        writer_of: Callable[[Step], Writer | None],
    ) -> None:
        """All values of the outermost Block's parameters have their places."""
        self.module, self.function, self.sizes, self.places = module, function, sizes, places
        self.identity, self.writer_of = identity, writer_of
        self.numbers = {result: function.alloca("i32") for result in identity.tracked}
        self.calls = Calls(program, module, function, sizes, places)
        self.constraints = Constraints(program, function, sizes, places, self.calls)
        self.lock = Lock(function, sizes)
        self.keeping = Keeping(program, module, function, places, self.calls)
        self.products = Products(module, function, sizes, places, self.keeping)
        self._processor = Processor.host()
        self._whole: Sequence[Operator] = ()

    def all(self, planned: Planned) -> None:
        """The steps of the outermost Block."""
        self.keeping.begin(planned)
        self.block(planned)
        self.calls.end()

    def block(self, planned: Planned) -> None:
        """The steps of a Block."""
        for step in planned.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        """One step; then what nobody reads again is given up."""
        with self.keeping.unless_kept(step):
            if step.nest is not None:
                nest = step.nest
                failed = self.call_nest(nest, [self.place(variable) for variable in nest.outputs])
                if nest.has_checks:
                    self.unless(self.function.let(f"icmp eq i32 {failed}, 0"), step.checked)
            elif step.region is not None:
                for one in step.region.operators:
                    self.constraints.check_divisors(one)
                self.calls.call_region(step.region)
            else:
                operator = step.operator
                assert operator is not None
                self.constraints.check_divisors(operator)
                if not is_alias(operator):
                    found = self.writer_of(step)
                    if found is None:
                        self.calls.call_back(operator)
                    else:
                        found.write(self, step, operator)
                    for variable in operator.results:
                        self.constraints.bind(variable)
        self.release(self.places.found.last.get(step.number, ()))

    def place(self, variable: Variable) -> str:
        """Where a step is to write a value; an object is made first."""
        place = self.places.make(variable)
        if place.kind is Kind.OBJECT:
            made = self.places.array(variable.tensor_type, "null")
            self.calls.check_made(made)
            self.places.replace(place.name, made)
        return self.places.address(variable)

    def release(self, variables: Iterable[Variable]) -> None:
        """Give up objects that nobody reads again."""
        for variable in variables:
            if self.places.found.kinds.get(variable) is Kind.OBJECT and self.places.has(variable):
                self.places.replace(self.places.of(variable).name, "null")

    def call_nest(self, nest: Nest, outputs: Sequence[str]) -> str:
        """Call the function of a nest, which writes to these places; gives what it gives."""
        share = shares.share_of(nest)
        long = self.lock.is_long(part.axes for part in nest.parts)
        text = nests.function(nest, "NAME", self._processor, share is not None, long is not None)
        # Equal nests, as of equal layers, are one function.
        name = self.module.shared(text, "nest")
        arguments = []
        for leaf in nest.leaves:
            if leaf.is_scalar:
                value, type = self.places.load(leaf.variable), stored(leaf.variable.dtype)
                if leaf.variable.dtype == bool:
                    scalar = f"i1 {self.function.let(f'trunc i8 {value} to i1')}"
                else:
                    scalar = f"{type} {value}"
                arguments.append(scalar)
            else:
                arguments.append(f"ptr {self.places.address(leaf.variable)}")
        arguments += [f"ptr {output}" for output in outputs]
        arguments += [f"i64 {self.sizes.value(size)}" for size in nest.sizes]
        if share is not None:
            types = [type for type, _ in nests.parameters(nest)]
            name, numbers = self.shared(name, types, share)
            arguments += numbers
        result = "i32" if nest.has_checks else "void"
        call = f"call {result} @{name}({', '.join(arguments)})"
        with self.lock.without(long, polls=share is not None):
            if nest.has_checks:
                return self.function.let(call)
            self.function.line(call)
        return ""

    def shared(self, name: str, types: Sequence[str], share: Share) -> tuple[str, list[str]]:
        """The function that lets several threads work at one, and what it takes in addition."""
        library = threads.pool(self._processor)
        for symbol in ("parallel", "threads_for"):
            self.module.link(symbol, library.addresses[symbol], library)
        self.module.add("parallel", shares.DECLARED)
        self.module.add(f"shared_{name}", shares.functions(share.unit, name, types))
        numbers = [f"i64 {self.sizes.value(size)}" for size in (share.axis, share.work)]
        return f"shared_{name}", numbers

    def unless(self, holds: str, operators: Sequence[Operator]) -> None:
        """Where something does not hold, let the kernels of NumPy say what is wrong."""
        wrong, right = self.function.label("wrong"), self.function.label("right")
        self.function.branch(holds, right, wrong)
        self.function.begin(wrong)
        # Kernels are Python, which needs the lock that long work has let go.
        self.lock.take()
        for operator in self._whole or operators:
            result = self.calls.result_of(operator)
            self.function.line(f"call void @Py_DecRef(ptr {result})")
        # They found nothing wrong: another thread has changed an array meanwhile.
        refuse = self.module.object(changed((self._whole or operators)[-1]), "refuse")
        self.calls.call(refuse, ())
        self.function.jump(FAIL)
        self.function.begin(right)

    @contextmanager
    def standing_for(self, operator: Operator) -> Iterator[None]:
        """What is written is another form of an operator, whose kernel says what is wrong."""
        # The outermost one: it is what stands in the Program, and in the user's source.
        outer, self._whole = self._whole, self._whole or [operator]
        yield
        self._whole = outer


__all__ = ["Body", "Writer", "writer"]
