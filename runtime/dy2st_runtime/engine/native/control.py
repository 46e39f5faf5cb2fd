"""The steps of a Program as code: calls of nests, branches and loops, and calls back into Python.

A branch writes what it yields into the places of the operator's results. A loop has two places for
each of its values: a turn reads the one and writes the other; then they change their roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Constraint, Dim, Size, is_symbol, product, symbols
from dy2st_runtime.engine.native import abi
from dy2st_runtime.engine.native import emit as nests
from dy2st_runtime.engine.native.access import stored
from dy2st_runtime.engine.native.function import Function
from dy2st_runtime.engine.native.identity import Identity
from dy2st_runtime.engine.native.kernels import dividing, kernel_call, refusing
from dy2st_runtime.engine.native.lanes import Lanes, Value
from dy2st_runtime.engine.native.lifetimes import Kind, is_alias
from dy2st_runtime.engine.native.llvm import Processor
from dy2st_runtime.engine.native.module import Module
from dy2st_runtime.engine.native.places import Place, Places
from dy2st_runtime.engine.native.planned import Planned, Step
from dy2st_runtime.engine.native.products import Products
from dy2st_runtime.engine.native.rows import emit, has_row
from dy2st_runtime.engine.native.sides import is_product, product_axes
from dy2st_runtime.engine.native.sizes import Sizes
from dy2st_runtime.ir.checks.broken_sizes import formulas
from dy2st_runtime.ir.list_owners import lists_in_place
from dy2st_runtime.ir.program import LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

_LONG = 20_000
"""From how many elements, or products of numbers, on the interpreter's lock is let go."""

_TURNS = 1 << 14
"""How many turns of a loop run until it is asked whether the user has interrupted it."""

_SAVE = "call ptr @PyEval_SaveThread()"
_RESTORE = "call void @PyEval_RestoreThread(ptr {})"
_LOAD = "load ptr, ptr "


class Body:
    """Writes the steps of a Program into a function that goes to `fail` with an exception set."""

    def __init__(
        self,
        program: Program,
        module: Module,
        function: Function,
        sizes: Sizes,
        places: Places,
        identity: Identity,
    ) -> None:
        """All values of the outermost Block's parameters have their places."""
        self.fail = "fail"
        self._let_go: tuple[str, str] | None = None  # whether the lock is, and the thread's slot
        self._program, self._module = program, module
        self._function, self._sizes, self._places = function, sizes, places
        self._identity = identity
        self._products = Products(module, function, sizes, places)
        self.numbers = {result: function.alloca("i32") for result in identity.tracked}
        self._lists = lists_in_place(program.block)
        self._waiting = [c for c in program.constraints if not self._is_known(c)]
        self._most_arguments = 1
        self._processor = Processor.host()

    def all(self, planned: Planned) -> None:
        """The steps of the outermost Block."""
        self.block(planned)
        self._function.reserve("%arguments", f"[{self._most_arguments} x ptr]")

    def block(self, planned: Planned) -> None:
        """The steps of a Block."""
        for step in planned.steps:
            if step.nest is not None:
                self._nest(step)
            else:
                self._operator(step)
            for variable in self._places.found.last.get(step.number, ()):
                self._release(variable)

    def _release(self, variable: Variable) -> None:
        """Give up an object that nobody reads again."""
        if self._places.found.kinds.get(variable) is Kind.OBJECT and self._places.has(variable):
            self._places.replace(self._places.of(variable).name, "null")

    # -- steps ---------------------------------------------------------------------------------

    def _nest(self, step: Step) -> None:
        nest = step.nest
        assert nest is not None
        text = nests.function(nest, "NAME", self._processor)
        name = self._module.shared(text, "nest")
        self._check_divisors(nest.sizes, None)
        arguments = []
        for leaf in nest.leaves:
            if leaf.is_scalar:
                arguments.append(self._scalar(leaf.variable))
            else:
                arguments.append(f"ptr {self._places.address(leaf.variable)}")
        arguments += [f"ptr {self._place(variable)}" for variable in nest.outputs]
        arguments += [f"i64 {self._sizes.value(size)}" for size in nest.sizes]
        result = "i32" if nest.has_checks else "void"
        call = f"call {result} @{name}({', '.join(arguments)})"
        with self._without_lock(self._is_long(part.axes for part in nest.parts)):
            if nest.has_checks:
                failed = self._function.let(call)
            else:
                self._function.line(call)
        if nest.has_checks:
            self._check_nest(failed, step)

    def _check_nest(self, failed: str, step: Step) -> None:
        """Where a check of a nest has failed, let the kernels of NumPy say what is wrong."""
        wrong, right = self._function.label("wrong"), self._function.label("right")
        is_right = self._function.let(f"icmp eq i32 {failed}, 0")
        self._function.branch(is_right, right, wrong)
        self._function.begin(wrong)
        self._lock()
        for operator in step.checked:
            result = self._result_of(operator)
            self._function.line(f"call void @Py_DecRef(ptr {result})")
        self._function.jump(self.fail)
        self._function.begin(right)

    def _scalar(self, variable: Variable) -> str:
        value, type = self._places.load(variable), stored(variable.dtype)
        if variable.dtype == bool:
            return f"i1 {self._function.let(f'trunc i8 {value} to i1')}"
        return f"{type} {value}"

    def _place(self, variable: Variable) -> str:
        """Where a step is to write a value; an object is made first."""
        place = self._places.make(variable)
        if place.kind is Kind.OBJECT:
            made = self._places.array(variable.tensor_type, "null")
            self._check_made(made)
            self._places.replace(place.name, made)
        return self._places.address(variable)

    def _operator(self, step: Step) -> None:
        operator = step.operator
        assert operator is not None
        self._check_divisors(
            formulas((*_shapes(operator), *operator.attributes.values())), operator
        )
        if is_alias(operator):
            return
        writer = WRITERS.get(operator.name)
        if _is_scalar(operator):
            self._apply(operator)
        elif _is_number(operator):
            self._full(operator)
        elif writer is not None:
            writer(self, step, operator)
        elif is_product(operator):
            target = self._place(operator.results[0])
            with self._without_lock(self._is_long([product_axes(operator)])):
                self._products.write(operator, target)
        elif step.inner:
            self.block(step.inner[0])
        else:
            self._call_back(operator)
        for variable in operator.results:
            self._bind(variable)

    def _constant(self, step: Step, operator: Operator) -> None:
        variable, value = operator.results[0], operator.attributes["value"]
        kind = self._places.found.kinds[variable]
        if kind is Kind.OBJECT:
            slot = self._places.make(variable).name
            object = self._module.object(value, "constant")
            self._function.line(f"call void @Py_IncRef(ptr {object})")
            self._places.replace(slot, object)
        elif kind is Kind.SCALAR:
            place = self._places.make(variable)
            type = f"i{8 * value.itemsize}"
            bits = int(value.view(f"i{value.itemsize}"))
            self._function.line(f"store {type} {bits}, ptr {place.name}")
        else:
            self._places.put(variable, Place(Kind.FOREIGN, self._module.array(value)))

    def _full(self, operator: Operator) -> None:
        lanes, result = Lanes(self._function, 1), operator.results[0]
        number = lanes.constant(operator.attributes["value"], result.dtype)
        lanes.store(number, self._places.make(result).name)

    def _from_dim(self, step: Step, operator: Operator) -> None:
        value, result = operator.attributes["value"], operator.results[0]
        if not is_code(step):
            self._call_back(operator)
            return
        if isinstance(value, Condition):
            found = Value(self._sizes.condition(value), np.dtype(bool))
        else:
            found = Value(self._sizes.value(value), np.dtype(np.int64))
        lanes = Lanes(self._function, 1)
        lanes.store(lanes.cast(found, result.dtype), self._places.make(result).name)

    def _require(self, step: Step, operator: Operator) -> None:
        condition = operator.attributes["condition"]
        if not isinstance(condition, Condition):
            self._call_back(operator)
            return
        constraint = Constraint(condition, operator.attributes["message"])
        self._check(LocatedConstraint(constraint, operator.location))

    def _apply(self, operator: Operator) -> None:
        """An elementwise operator on registers."""
        lanes = Lanes(self._function, 1)
        operands = [lanes.load(self._places.address(v), v.dtype) for v in operator.operands]
        lanes.store(emit(lanes, operator, operands), self._places.make(operator.results[0]).name)

    # -- branches and loops --------------------------------------------------------------------

    def _cond(self, step: Step, operator: Operator) -> None:
        function = self._function
        for result in operator.results:
            self._places.make(result)
        labels = [function.label("then"), function.label("else")]
        after = function.label("after")
        function.branch(self._places.truth(operator.operands[0]), *labels)
        for label, planned in zip(labels, step.inner, strict=True):
            function.begin(label)
            slots, waiting = dict(self._sizes.slots), list(self._waiting)
            self.block(planned)
            for variable, result in zip(planned.block.yields, operator.results, strict=True):
                self._yield(variable, self._places.of(result), result)
            self._number(operator.results, planned.block.yields)
            self._sizes.slots, self._waiting = slots, waiting
            function.jump(after)
        function.begin(after)

    def _yield(self, variable: Variable, place: Place, result: Variable) -> None:
        """Put a value where it is to be, unless it was made there."""
        places = self._places
        if place.kind is Kind.OBJECT:
            made = places.owned(variable)
            self._check_made(made)
            places.replace(place.name, made)
        elif place.kind is Kind.SCALAR:
            type = stored(result.dtype)
            self._function.line(f"store {type} {places.load(variable)}, ptr {place.name}")
        elif places.of(variable) != place:
            places.copy(self._target(place), places.address(variable), variable.tensor_type)

    def _number(self, results: Sequence[Variable], values: Sequence[Variable]) -> None:
        """Note which argument of the call each value is; all at once, as they change places."""
        numbers = []
        for result, value in zip(results, values, strict=False):
            if result in self.numbers:
                value = self._identity.of(value)
                number = str(self._identity.number(value))
                if value in self.numbers:
                    number = self._function.let(f"load i32, ptr {self.numbers[value]}")
                numbers.append((number, self.numbers[result]))
        for number, slot in numbers:
            self._function.line(f"store i32 {number}, ptr {slot}")

    def _target(self, place: Place) -> str:
        return self._function.let(f"load ptr, ptr {place.name}") if place.moves else place.name

    def _while(self, step: Step, operator: Operator) -> None:
        results = operator.results
        for number, (given, result) in enumerate(zip(operator.operands, results, strict=False)):
            place = self._places.carried(result)
            self._yield(given, place, result)
            if (operator, number) in self._lists.copied:
                self._copy_list(place)
        self._number(results, operator.operands)
        with self._without_lock(None if self._asks_python(step) else "true"):
            self._turns(step, results)

    def _turns(self, step: Step, results: Sequence[Variable]) -> None:
        function = self._function
        head, body, after = (function.label(stem) for stem in ("head", "body", "after"))
        condition, turn = step.inner
        slots, waiting = dict(self._sizes.slots), list(self._waiting)
        function.jump(head)
        function.begin(head)
        self._bind_all(condition.block.parameters[: len(results)])
        self.block(condition)
        function.branch(self._places.truth(condition.block.yields[0]), body, after)
        function.begin(body)
        self._let_signals_in()
        self._bind_all(turn.block.parameters[: len(results)])
        self.block(turn)
        self._end_turn(turn.block.yields, results, turn.block.parameters)
        function.jump(head)
        function.begin(after)
        self._sizes.slots, self._waiting = slots, waiting

    def _end_turn(
        self, yields: Sequence[Variable], results: Sequence[Variable], given: Sequence[Variable]
    ) -> None:
        """Let the next turn read what this one yields; all at once, since values change places."""
        root = self._places.found.root
        changed = [(y, r) for y, r in zip(yields, results, strict=True) if root(y) is not r]
        for variable, result in changed:
            self._yield(variable, self._places.following(result), result)
        for _, result in changed:
            self._advance(result)
        self._number(results, yields)

    def _advance(self, result: Variable) -> None:
        now, following = self._places.of(result), self._places.following(result)
        function = self._function
        if now.kind is Kind.ARENA:
            first = function.let(f"load ptr, ptr {now.name}")
            second = function.let(f"load ptr, ptr {following.name}")
            function.line(f"store ptr {second}, ptr {now.name}")
            function.line(f"store ptr {first}, ptr {following.name}")
        elif now.kind is Kind.OBJECT:
            object = function.let(f"load ptr, ptr {following.name}")
            function.line(f"store ptr null, ptr {following.name}")
            self._places.replace(now.name, object)
        else:
            self._places.copy(now.name, following.name, result.tensor_type)

    def _copy_list(self, place: Place) -> None:
        object = self._function.let(f"load ptr, ptr {place.name}")
        made = self._call(self._module.object(list, "list"), [object])
        self._places.replace(place.name, made)

    # -- the lock ------------------------------------------------------------------------------

    def _asks_python(self, step: Step) -> bool:
        """Whether a step calls Python, makes or holds objects, or may raise."""
        operator = step.operator
        if operator is not None:
            told = formulas((*_shapes(operator), *operator.attributes.values()))
            early = all(isinstance(f, Condition) or self._sizes.is_early(f) for f in told)
            if not early or operator.name == "require" or not (is_code(step) or is_alias(operator)):
                return True
        kinds = self._places.found.kinds
        if any(kinds.get(variable) is Kind.OBJECT for variable in step.results):
            return True
        return any(self._asks_python(one) for planned in step.inner for one in planned.steps)

    def _is_long(self, parts: Iterable[Sequence[Size]]) -> str | None:
        """Whether so much is computed that others should run meanwhile; None if never."""
        sizes = [product(axes) for axes in parts]
        if all(isinstance(size, int) for size in sizes):
            return "true" if max(map(int, sizes), default=0) >= _LONG else None
        tests = [self._sizes.value(size) for size in sizes]
        found = "false"
        for size in tests:
            is_long = self._function.let(f"icmp sge i64 {size}, {_LONG}")
            found = self._function.let(f"or i1 {found}, {is_long}")
        return found

    @contextmanager
    def _without_lock(self, condition: str | None) -> Iterator[None]:
        """Let other threads of Python run meanwhile, if the condition holds; None never does."""
        if condition is None or self._let_go is not None:
            yield
            return
        function, slot = self._function, self._function.alloca("ptr")
        self._when(condition, lambda: function.line(f"store ptr {function.let(_SAVE)}, ptr {slot}"))
        self._let_go = condition, slot
        yield
        self._lock()
        self._let_go = None

    def _lock(self) -> None:
        """Take the lock again, if it was let go."""
        if self._let_go is not None:
            condition, slot = self._let_go
            write = self._function
            self._when(condition, lambda: write.line(_RESTORE.format(write.let(_LOAD + slot))))

    def _let_signals_in(self) -> None:
        """Now and then ask whether the user has interrupted the loop."""
        function, turns = self._function, self._function.alloca("i32")
        with function.writing(self._sizes.start):
            function.line(f"store i32 0, ptr {turns}")
        count = function.let(f"add i32 {function.let(f'load i32, ptr {turns}')}, 1")
        function.line(f"store i32 {count}, ptr {turns}")
        rest = function.let(f"and i32 {count}, {_TURNS - 1}")
        self._when(function.let(f"icmp eq i32 {rest}, 0"), self._ask_for_signals)

    def _ask_for_signals(self) -> None:
        function, label = self._function, self._function.label("quiet")
        self._lock()
        raised = function.let("call i32 @PyErr_CheckSignals()")
        function.branch(function.let(f"icmp eq i32 {raised}, 0"), label, self.fail)
        function.begin(label)
        if self._let_go is not None:
            condition, slot = self._let_go
            self._when(
                condition, lambda: function.line(f"store ptr {function.let(_SAVE)}, ptr {slot}")
            )

    def _when(self, condition: str, write: Callable[[], None]) -> None:
        function = self._function
        yes, after = function.label("yes"), function.label("after")
        function.branch(condition, yes, after)
        function.begin(yes)
        write()
        function.jump(after)
        function.begin(after)

    # -- sizes ---------------------------------------------------------------------------------

    def _is_known(self, entry: LocatedConstraint) -> bool:
        return all(s in self._sizes.known for s in symbols(entry.constraint.condition))

    def _bind_all(self, variables: Iterable[Variable]) -> None:
        for variable in variables:
            self._bind(variable, again=True)

    def _bind(self, variable: Variable, again: bool = False) -> None:
        """Take the symbols of a value's type from its real sizes, and check what is about them."""
        if not isinstance(variable.type, TensorType):
            return
        is_new = False
        for axis, size in enumerate(variable.type.shape):
            if not is_symbol(size) or size in self._sizes.known:
                continue
            assert isinstance(size, Dim)
            if size in self._sizes.slots and not again:
                continue
            slot = self._sizes.slots.setdefault(size, self._function.alloca("i64"))
            object = self._function.let(f"load ptr, ptr {self._places.of(variable).name}")
            self._function.line(f"store i64 {self._places.size(object, axis)}, ptr {slot}")
            is_new = True
        if is_new:
            self._check_waiting()

    def _check_waiting(self) -> None:
        for entry in list(self._waiting):
            found = symbols(entry.constraint.condition)
            if all(s in self._sizes.known or s in self._sizes.slots for s in found):
                self._waiting.remove(entry)
                self._check(entry)

    def _check(self, entry: LocatedConstraint) -> None:
        condition = entry.constraint.condition
        told = symbols(condition)
        refuse = refusing(self._program, entry, told)
        self._unless(self._sizes.condition(condition), refuse, told)

    def _check_divisors(self, values: Iterable[Any], operator: Operator | None) -> None:
        """Raise if a size cannot be computed that was not looked at where the function begins."""
        for value in values:
            if isinstance(value, int) or self._is_computed(value):
                continue
            for divisor in self._sizes.divisors(value):
                if not self._sizes.is_early(divisor) or operator is not None:
                    is_zero = self._sizes.condition(Condition("!=", divisor, 0))
                    assert operator is not None
                    self._unless(is_zero, dividing(operator), ())

    def _is_computed(self, value: Dim | Condition) -> bool:
        return isinstance(value, Dim) and self._sizes.is_early(value)

    def _unless(self, holds: str, refuse: Any, told: Iterable[Dim]) -> None:
        """Call what raises where a condition does not hold."""
        function = self._function
        wrong, right = function.label("wrong"), function.label("right")
        function.branch(holds, right, wrong)
        function.begin(wrong)
        numbers = [self._integer(self._sizes.value(symbol)) for symbol in told]
        self._call(self._module.object(refuse, "refuse"), numbers, numbers)
        function.jump(self.fail)
        function.begin(right)

    # -- Python --------------------------------------------------------------------------------

    def _call_back(self, operator: Operator) -> None:
        """Let the kernel of NumPy compute."""
        result = self._result_of(operator)
        if len(operator.results) == 1:
            self._take(result, operator.results[0])
            return
        for index, variable in enumerate(operator.results):
            entry = self._places.field(result, 24 + 8 * index)
            self._function.line(f"call void @Py_IncRef(ptr {entry})")
            self._take(entry, variable)
        self._function.line(f"call void @Py_DecRef(ptr {result})")

    def _result_of(self, operator: Operator) -> str:
        """What the kernel of NumPy gives."""
        in_place = operator in self._lists.changed
        kernel = kernel_call(operator, self._program.name, in_place)
        objects, made = [], []
        for operand in operator.operands:
            object, is_new = self._object(operand)
            objects.append(object)
            made += [object] if is_new else []
        for value in operator.attributes.values():
            for formula in formulas(value):
                objects.append(self._integer(self._formula(formula)))
                made.append(objects[-1])
        return self._call(self._module.object(kernel, operator.name), objects, made)

    def _formula(self, formula: Dim | Condition) -> str:
        if isinstance(formula, Condition):
            return self._function.let(f"zext i1 {self._sizes.condition(formula)} to i64")
        return self._sizes.value(formula)

    def _integer(self, value: str) -> str:
        return self._function.let(f"call ptr @PyLong_FromLongLong(i64 {value})")

    def _object(self, variable: Variable) -> tuple[str, bool]:
        """An object of a value, for a call; and whether it was made for that."""
        place = self._places.of(variable)
        if place.kind is Kind.OBJECT and (
            variable is self._places.found.root(variable) or isinstance(variable.type, ArrayType)
        ):
            return self._function.let(f"load ptr, ptr {place.name}"), False
        address = self._places.address(variable)
        made = self._places.array(variable.tensor_type, address)
        self._check_made(made)
        return made, True

    def _call(self, callee: str, objects: Sequence[str], made: Sequence[str] = ()) -> str:
        """Call a function of Python; what was `made` for the call is given up."""
        function = self._function
        self._most_arguments = max(self._most_arguments, len(objects))
        for index, object in enumerate(objects):
            place = function.let(f"getelementptr ptr, ptr %arguments, i64 {index}")
            function.line(f"store ptr {object}, ptr {place}")
        result = function.let(
            f"call ptr @PyObject_Vectorcall(ptr {callee}, ptr %arguments, "
            f"i64 {len(objects)}, ptr null)"
        )
        for object in made:
            function.line(f"call void @Py_DecRef(ptr {object})")
        self._check_made(result)
        return result

    def _check_made(self, object: str) -> None:
        function, label = self._function, self._function.label("ok")
        function.branch(function.let(f"icmp eq ptr {object}, null"), self.fail, label)
        function.begin(label)

    def _take(self, object: str, variable: Variable) -> None:
        """Let a value be what an object holds."""
        place = self._places.make(variable)
        if place.kind is Kind.OBJECT:
            self._places.replace(place.name, object)
            return
        data, type = self._places.data(object), variable.tensor_type
        self._places.copy(self._target(place), data, type)
        self._function.line(f"call void @Py_DecRef(ptr {object})")


WRITERS: dict[str, Callable[[Body, Step, Operator], None]] = {
    "constant": Body._constant,
    "from_dim": Body._from_dim,
    "require": Body._require,
    "cond": Body._cond,
    "while": Body._while,
}
"""What writes the operators that are computed without Python, beside those in nests."""


def is_code(step: Step) -> bool:
    """Whether a step is computed without Python."""
    operator = step.operator
    if operator is not None and operator.name == "from_dim":
        return abi.is_native(operator.results[0].dtype)
    if operator is None or operator.name in WRITERS or step.inner:
        return True
    return _is_scalar(operator) or _is_number(operator) or is_product(operator)


def _is_scalar(operator: Operator) -> bool:
    """Whether it computes one number of numbers."""
    types = [variable.type for variable in (*operator.operands, *operator.results)]
    return has_row(operator) and all(isinstance(t, TensorType) and not t.shape for t in types)


def _is_number(operator: Operator) -> bool:
    """Whether it makes one number that is known, and fits its dtype."""
    if operator.name != "full" or operator.attributes["shape"]:
        return False
    value, dtype = operator.attributes["value"], operator.results[0].dtype
    if not abi.is_native(dtype) or not isinstance(value, (bool, int, float)):
        return False
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return isinstance(value, int) and limits.min <= value <= limits.max
    return True


def _shapes(operator: Operator) -> tuple[Any, ...]:
    return tuple(v.type.shape for v in operator.results if isinstance(v.type, TensorType))


__all__ = ["Body", "is_code"]
