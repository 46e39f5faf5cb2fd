"""Syntax of Python 3.12: type parameters, `type`, nested f-strings."""

from typing import TypeVar

from tests.dy2st.catalogue.entry import construct


@construct(
    "`def f[T](v: T)`",
    "as Python has it",
)
def generic_function(x):
    def scaled[T, *Ts, **P](v: T, factor: float = 2.0) -> T:
        if v.sum() > 0:
            v = v * factor
        return v

    return scaled(x), [p.__name__ for p in scaled.__type_params__]


@construct(
    "a type parameter read in the function",
    "as Python has it",
)
def type_parameter_read(x):
    def named[T](v):
        if v.sum() > 0:
            v = v + 1
        return v, T.__name__, isinstance(T, TypeVar)

    return named(x)


@construct(
    "`class C[T]:`",
    "as Python has it",
)
def generic_class(x):
    class Box[T]:
        def __init__(self, value: T):
            self.value = value

        def doubled(self) -> T:
            if self.value.sum() > 0:
                return self.value * 2
            return self.value

        def parameter(self):
            return T.__name__

    box = Box[int](x)
    return box.doubled(), box.parameter(), Box.__type_params__[0].__name__


@construct(
    "`type Name = ...`",
    "as Python has it",
)
def type_alias(x):
    type Pair[T] = tuple[T, T]
    type Pairs = list[Pair[int]]
    y = x
    if x.sum() > 0:
        y = x * 2
    return y, Pair.__name__, Pairs.__value__.__origin__.__name__


@construct("`type` in a branch that a tensor decides", "the alias is not carried out of it")
def type_alias_in_a_branch(x):
    y = x
    if x.sum() > 0:
        type Number = int | float
        y = x * len(Number.__value__.__args__)
    return y


@construct("f-strings in f-strings with the same quotes", "Python's")
def nested_text(x):
    names = {"a": 1, "b": 2}
    text = f"{', '.join(f'{name}={f"{value:>{1 + 1}}"}' for name, value in names.items())}"
    y = x
    if x.sum() > 0:
        y = y + len(text)
    return (
        y,
        text,
        f"{'\n'.join(names)}",
        f"{
            1 + 1  # a comment
        }",
    )


@construct("comprehensions in class bodies", "see the class, as in Python")
def comprehension_in_a_class(x):
    class Table:
        width = 2
        sizes = [k + 1 for k in range(width)]

        def total(self, v):
            return v * sum(self.sizes) if v.sum() > 0 else v

    return Table().total(x)


@construct("a comprehension beside a name it hides", "keeps the function's name")
def inlined_comprehension(x):
    k = 10
    parts = [x * k for k in range(2)]
    functions = [lambda: k for k in range(2)]
    return parts, k, functions[0]()
