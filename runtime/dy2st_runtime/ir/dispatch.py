"""The one call path: who runs an operator is decided here.

`apply("add", x, y)` hands the operator to the interpreter on top of a stack: at the bottom the
eager one, which runs kernels on arrays; above it, while a function is traced, a tracer, which
appends the operator to a Program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol, TypeVar

from dy2st_runtime.ir.definition import OperatorDefinition, lookup
from dy2st_runtime.ir.operator_families import ALIASES, load_function
from dy2st_runtime.ir.spelling import spelled
from dy2st_runtime.thread_state import ThreadState

Function = TypeVar("Function", bound=Callable[..., Any])


Look = Callable[[Any], Any]


class Interpreter(Protocol):
    """Gives an operator its meaning."""

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Return the result, or a tuple of results for operators that have several."""

    def share(self, owner: Any, view: Any, look: Look | None) -> None:
        """Note that a tensor is a view of another one: what changes one in place changes both."""

    def separate(self, tensor: Any) -> None:
        """Note that a tensor is no view of any other one, whatever it was made of."""


class _Stack(ThreadState):
    interpreters: tuple[Interpreter, ...] = ()


stack = _Stack()
_eager: list[Interpreter] = []


def install_eager(interpreter: Interpreter, as_recorded: Interpreter) -> None:
    """Set the interpreter at the bottom of every thread's stack, and the one for Programs."""
    _eager[:] = [interpreter, as_recorded]


@contextmanager
def watched(wrap: Callable[[Interpreter], Interpreter]) -> Iterator[None]:
    """Let what `wrap` makes of the eager interpreters run operators inside the `with`.

    In all threads: who watches one asks which it is in.
    """
    held = list(_eager)
    _eager[:] = map(wrap, held)
    try:
        yield
    finally:
        _eager[:] = held


def announced(name: str) -> AbstractContextManager[None]:
    """Let who watches eager operators know what the `with` does, which is none of them."""
    announce = None if stack.interpreters else getattr(_eager[0], "announce", None)
    return _UNWATCHED if announce is None else announce(name)


_UNWATCHED: AbstractContextManager[None] = nullcontext()


def apply(name: str, *inputs: Any, **attributes: Any) -> Any:
    """Run one operator on tensors, Variables, Python numbers or Dims; attributes are keywords.

    >>> from dy2st_runtime.ir import apply
    >>> apply("sum", dy2st.to_tensor([[1, 2], [3, 4]]), axis=(1,), keepdim=False).tolist()
    [3, 7]
    """
    definition = lookup(name)
    held = stack.interpreters
    return (held[-1] if held else _eager[0]).run(definition, inputs, attributes)


def as_view(owner: Any, made: Any, look: Look | None = None) -> Any:
    """What was made of a tensor by operators that move elements: it is a view of that tensor.

    Of operators that copy, `look` finds the same elements in the memory of an array.
    """
    (active() or _eager[0]).share(owner, made, look)
    return made


def as_copy(made: Any) -> Any:
    """What was made by operators that give views, as a tensor of its own."""
    (active() or _eager[0]).separate(made)
    return made


def active() -> Interpreter | None:
    """The interpreter on top of this thread's stack, None when operators run eagerly."""
    held = stack.interpreters
    return held[-1] if held else None


@contextmanager
def interpreting(interpreter: Interpreter) -> Iterator[None]:
    """Let an interpreter take every operator that is called inside the `with`.

    >>> from dy2st_runtime.ir import interpreting
    >>> class Naming:
    ...     def run(self, definition, inputs, attributes):
    ...         return definition.name
    >>> with interpreting(Naming()):
    ...     dy2st.exp(dy2st.ones([2]))
    'exp'
    """
    outer = stack.interpreters
    stack.interpreters = (*outer, interpreter)
    try:
        yield
    finally:
        stack.interpreters = outer


@contextmanager
def eagerly(as_recorded: bool = False) -> Iterator[None]:
    """Run operators on arrays inside the `with`, even while a function is traced.

    `as_recorded`: they are those of a Program, whose dtypes are decided.

    >>> from dy2st_runtime.ir import eagerly
    >>> with eagerly():
    ...     dy2st.exp(dy2st.zeros([2])).tolist()
    [1.0, 1.0]
    """
    with interpreting(_eager[as_recorded]):
        yield


class _Functions:
    """`F.sum(x)` calls the registered function `sum`: by name, so that families need no cycle."""

    def __getattr__(self, name: str) -> Any:
        """What is not registered yet."""
        if name in ALIASES:
            return getattr(self, ALIASES[name])
        if not load_function(name):
            raise AttributeError(f"there is no function {name!r}")
        return FUNCTIONS[name]


F = _Functions()
FUNCTIONS: dict[str, Callable[..., Any]] = vars(F)
SPELLED: dict[str, Callable[..., Any]] = {}
"""The functions as users call them, in PaddlePaddle's other spellings too."""
METHODS: list[str] = []


def public(function: Function) -> Function:
    """Register a function of the public API, so that rules can call it by name as `F.name`.

    >>> from dy2st_runtime.ir import F  # `zeros` stands under @public
    >>> F.zeros([2]).tolist()
    [0.0, 0.0]
    """
    name = function.__name__
    assert name not in FUNCTIONS, f"function {name!r} is defined twice"
    FUNCTIONS[name] = function
    SPELLED[name] = call = spelled(function)
    return call


def method(function: Function) -> Function:
    """Register a public function that is a method of Tensor too: `F.sum(x)` is `x.sum()`.

    >>> from dy2st_runtime.ir import F  # `square` stands under @method
    >>> x = dy2st.to_tensor([3.0])
    >>> F.square(x).item(), x.square().item()
    (9.0, 9.0)
    """
    METHODS.append(function.__name__)
    return public(function)
