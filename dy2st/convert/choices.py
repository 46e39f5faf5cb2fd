"""What code does with a Choice: it is done for every case, in a branch of its own, and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import BuiltinMethodType, MethodType, MethodWrapperType
from typing import Any

from dy2st.convert.guards import bound_flag, is_guarded
from dy2st.convert.heap import containers_in, snapshot
from dy2st.convert.regions import Copies, raised_when_run
from dy2st.convert.stage_if import stage_branches
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import Block, F, Tensor, Variable, current_tracer, user_location
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.structure import map_entries


def over_cases(choice: Choice, run: Callable[[Any], Any]) -> Any:
    """`run(case)` for whichever case it is; what it raises is raised when the Program runs."""
    taken = False

    def noted(case: Any) -> Any:
        nonlocal taken
        result = run(case)
        taken = taken or _takes_from(result, case)
        return result

    result = _from(choice, 0, noted)
    if taken:
        note_shared(result)
    return result


def _takes_from(result: Any, case: Any) -> bool:
    """Whether a result is a list or dict of a case, or has one in it."""
    inner = set(map(id, containers_in(case)))
    return not inner.isdisjoint(map(id, containers_in(result)))


def note_shared(value: Any) -> None:
    """Refuse that a list or dict, which stands for one in each case, is changed later."""
    found = [one for one in containers_in(value) if isinstance(one, (list, dict, Choice))]
    tracer = current_tracer()
    if found and tracer is not None:
        tracer.shared.append((user_location(), [(one, snapshot(one)) for one in found]))


def _from(choice: Choice, index: int, run: Callable[[Any], Any]) -> Any:
    case = choice.cases[index]
    if index == len(choice.cases) - 1:
        return _attempt(case, run)
    results = stage_branches(
        is_case(choice, [index]),
        lambda: (_attempt(case, run),),
        lambda: (_from(choice, index + 1, run),),
        (),
        (),
        ("the value for one of several cases",),
    )
    return results[0]


def _attempt(case: Any, run: Callable[[Any], Any]) -> Any:
    try:
        if isinstance(case, Undefined):
            raise case.error()
        return run(case)
    except ConversionError:
        raise
    except Exception as error:  # whatever the user's code raises for this case
        if current_tracer() is not None:
            raise raised_when_run(error) from error
        raise


def loop_over_cases(
    choice: Choice, run: Callable[..., tuple[Any, ...]], variables: Sequence[Any], names: Any
) -> tuple[Any, ...]:
    """`run(case, *variables)` for whichever case it is; the results are the variables after it."""

    def rest(index: int, *values: Any) -> tuple[Any, ...]:
        case = choice.cases[index]
        if index == len(choice.cases) - 1:
            return tuple(_attempt(case, lambda known: run(known, *values)))
        return stage_branches(
            is_case(choice, [index]),
            lambda *own: tuple(_attempt(case, lambda known: run(known, *own))),
            lambda *own: rest(index + 1, *own),
            values,
            values,
            names,
        )

    return rest(0, *variables)


def is_case(choice: Choice, wanted: Sequence[int]) -> Any:
    """Whether a Choice is one of these cases: a bool, or one of the Program."""
    if len(wanted) in (0, len(choice.cases)):
        return bool(wanted)
    answer: Any = None
    for index in wanted:
        same = F.equal(choice.tag, index)
        answer = same if answer is None else F.logical_or(answer, same)
    answer.number = bool
    tracer = current_tracer()
    assert tracer is not None
    tracer.narrowings[answer] = (choice, frozenset(wanted))
    return answer


def spread(function: Callable[..., Any], *values: Any) -> Any:
    """The function's result for whichever cases its Choices are."""
    index = next((k for k, value in enumerate(values) if isinstance(value, Choice)), None)
    if index is None:
        return function(*values)

    def with_case(case: Any) -> Any:
        return spread(function, *values[:index], case, *values[index + 1 :])

    return over_cases(values[index], with_case)


def is_same(left: Any, right: Any) -> Any:
    """`left is right`, one of which is a Choice."""
    if left is right:
        return True
    if not isinstance(left, Choice):
        left, right = right, left
    if isinstance(right, Choice):
        return over_cases(left, lambda case: is_same(case, right))
    for case in left.cases:
        if isinstance(case, Undefined):
            return over_cases(left, lambda case: case is right)
    if any(_loses_identity(case) and _loses_identity(right) for case in left.cases):
        raise _without_identity()
    return is_case(left, [k for k, case in enumerate(left.cases) if case is right])


def is_one_tensor(left: Variable, right: Variable) -> bool:
    """`left is right`.

    Two inputs of the Program are taken for two tensors; every call looks whether they are.
    """
    if left is right:
        return True
    if left.number is not None or right.number is not None:
        return False
    if _may_be_another(left) or _may_be_another(right):
        raise _without_identity()
    tracer = current_tracer()
    if tracer is not None and isinstance(left.maker, Block) and isinstance(right.maker, Block):
        tracer.distinct.append((left, right, user_location()))
    return False


def _may_be_another(value: Variable) -> bool:
    """Whether a branch or loop gives a tensor, which may be one that has another name, too."""
    if isinstance(value.maker, Block):
        return value.maker.parent is not None
    return bool(value.maker.blocks)


def _without_identity() -> TensorAsPython:
    return TensorAsPython(
        "`is` between two tensors, lists or dicts, one of which a tensor decides on",
        at=user_location(),
        why="which object a variable holds is not part of a Program, only what it holds",
        hint="ask `is None`, or compare what they hold",
    )


def _loses_identity(value: Any) -> bool:
    return isinstance(value, (Tensor, list, dict))


_VIEWS: tuple[type[Iterable[Any]], ...] = (type({}.items()), type({}.keys()), type({}.values()))


def _without_view(value: Any) -> Any:
    """What a view of a dict shows now: it is read once, in a loop."""
    return [*value] if isinstance(value, _VIEWS) else value


class Method:
    """A method of a Choice: called, it is that of whichever case it is."""

    def __init__(self, choice: Choice, name: str):
        """The name of a method that every case, but for those that raise, has."""
        self.choice, self.name = choice, name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The method's result."""
        return self.call(lambda method: method(*arguments, **keywords))

    def call(self, use: Callable[[Any], Any]) -> Any:
        """`use(method)`; the Choice then holds what the method has made of its lists and dicts."""
        choice, name = self.choice, self.name

        taken = False

        def run(case: Any) -> Any:
            nonlocal taken
            own = Copies().copied(case)
            result = _without_view(use(getattr(own, name)))
            taken = taken or _takes_from(result, own)
            return result, own

        if not any(isinstance(case, (list, dict, set)) for case in choice.cases):
            return over_cases(choice, lambda case: use(getattr(case, name)))
        result, changed = over_cases(choice, run)
        set_choice(choice, changed)
        if taken:
            note_shared(result)
        return result


_METHODS = (MethodType, BuiltinMethodType, MethodWrapperType)


def attribute(choice: Choice, name: str) -> Any:
    """`choice.name`: a Method where the cases have one."""
    if any(isinstance(getattr(case, name, None), _METHODS) for case in choice.cases):
        return Method(choice, name)
    return spread(lambda case: getattr(case, name), choice)


def set_choice(choice: Choice, value: Any) -> None:
    """Let a Choice be another value from now on, for all who hold it."""
    if isinstance(value, Choice):
        choice.tag, choice.cases = value.tag, value.cases
    else:
        tracer = current_tracer()
        assert tracer is not None
        choice.tag, choice.cases = tracer.number(0), (value,)


def _read(value: Any) -> Any:
    tracer = current_tracer()
    if tracer is not None and is_guarded(value):
        tracer.check_bound(value)
    return value


def settled(value: Any, is_chosen: bool = False) -> Any:
    """A result of the function: what some paths leave unbound is checked when the Program runs.

    `is_chosen`: the value is inside one of several, which was checked where it was made.
    """
    if isinstance(value, Choice) and any(bound_flag(case) is not True for case in value.cases):
        if is_chosen:
            cases = [None if isinstance(case, Undefined) else case for case in value.cases]
            value = Choice(value.tag, tuple(cases))
        else:
            value = over_cases(value, _read)
    is_chosen = is_chosen or isinstance(value, Choice)
    return map_entries(value, lambda entry: settled(entry, is_chosen))


Choice.spread = staticmethod(spread)
Choice.method = staticmethod(attribute)

__all__ = [
    "Method",
    "is_case",
    "is_one_tensor",
    "is_same",
    "loop_over_cases",
    "over_cases",
    "set_choice",
    "settled",
    "spread",
]
