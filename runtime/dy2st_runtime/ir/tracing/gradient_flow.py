"""Reads and sets `stop_gradient` of the tensors of a trace, as the tape would have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dy2st_runtime.errors import Location, TensorAsPython
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.functions import CALL, function_of
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.changes import beginning
from dy2st_runtime.ir.types import ArrayType, TensorType

if TYPE_CHECKING:
    from dy2st_runtime.ir.tracing.tracer import Tracer

Answer = bool | None

_EMPTY = ArrayType(None)
SETTER = "set_stop_gradient"
"""The operator that sets it of a tensor of the caller, or lets gradients flow where none did."""


class GradientFlow:
    """Answers for the Variables of one trace; None is what is known only at run time.

    `given` answers for the parameters of the Program, `outer` gives the Variable around a nested
    Block that a parameter of it stands for, None for what a loop carries.
    """

    def __init__(
        self, given: Callable[[Variable], Answer], outer: Callable[[Variable], Variable | None]
    ) -> None:
        """Nothing is known yet."""
        self._given, self._outer = given, outer
        self._known: dict[Variable, Answer] = {}
        # A loop assumes where gradients stop before its body is traced. What somebody got of that
        # is counted, so that only a body which has asked is traced again where it does not hold.
        self._assumed: set[Variable] = set()  # and all whose answers follow from that
        self._calling: set[Block] = set()  # functions whose answers are asked for
        self._of_functions: dict[Any, list[Answer]] = {}  # by what they are given
        self.uses = 0  # how often somebody got such an answer

    def stop(self, variable: Variable) -> None:
        """Assume that no gradient flows through a Variable, whatever it is made of."""
        self._known[variable] = True
        self._assumed.add(variable)

    def is_stopped(self, variable: Variable) -> Answer:
        """Whether no gradient flows through a Variable."""
        answer = self.look_up(variable)
        self.uses += variable in self._assumed
        return answer

    def look_up(self, variable: Variable) -> Answer:
        """The same, not counted as a use: for assumptions on other Variables."""
        waiting: list[tuple[Variable, list[Variable] | None]] = [(variable, None)]
        while waiting:
            last, sources = waiting.pop()
            if last in self._known:
                continue
            if sources is None:  # those come first
                sources = self._sources(last)
                waiting += [(last, sources), *((v, None) for v in sources if v not in self._known)]
            else:
                self._known[last] = self._answer(last, sources)
        return self._known[variable]

    def _sources(self, variable: Variable) -> list[Variable]:
        """The Variables whose answers decide on this one's."""
        maker = variable.maker
        if not isinstance(maker, Operator):
            outer = self._outer(variable)
            return [] if outer is None else [outer]
        if (
            not _is_differentiable(variable)
            or maker.name in ("while", SETTER)
            or not is_passed(maker)
        ):
            return []
        found = maker.operands
        if maker.name == "cond":
            place = next(i for i, result in enumerate(maker.results) if result is variable)
            found = [block.yields[place] for block in maker.blocks]
        elif maker.name == CALL:
            return maker.operands
        # An empty list is as any other, and an index says nothing of the list.
        found = [v for v in found if v.type != _EMPTY]
        return [v for v in found if _is_differentiable(v)] if _is_on_lists(maker) else found

    def _answer(self, variable: Variable, sources: Sequence[Variable]) -> Answer:
        maker = variable.maker
        if not self._assumed.isdisjoint(sources):
            self._assumed.add(variable)
        answers = {self._known[source] for source in sources}
        if not isinstance(maker, Operator):
            if variable.block.parent is None:
                return self._given(variable)
            # What a loop carries may be anything, but for integers and bools.
            return answers.pop() if answers else None if _is_differentiable(variable) else True
        if maker.name == SETTER:
            return bool(maker.attributes["value"])
        if not _is_differentiable(variable):
            return True
        if maker.name == "array_create" and not maker.operands:
            return True  # there is nothing in it
        if maker.name == CALL:
            return self._answer_of_call(variable, maker)
        if maker.name in ("cond", "while") or _is_on_lists(maker):
            # The tensors of a list have answers of their own.
            return answers.pop() if len(answers) == 1 else None
        return False if False in answers else None if None in answers else True

    def _answer_of_call(self, variable: Variable, call: Operator) -> Answer:
        """The answer for what a function yields, called with values of these answers."""
        function = function_of(call)
        if function is None or function in self._calling:
            return None
        given = [self._known[operand] for operand in call.operands]
        key = (function, *given)
        if key not in self._of_functions:
            known = dict(zip(function.parameters, given, strict=True))
            inner = GradientFlow(known.__getitem__, self._outer)
            inner._calling = {*self._calling, function}
            inner._of_functions = self._of_functions
            self._of_functions[key] = list(map(inner.look_up, function.yields))
        place = next(i for i, result in enumerate(call.results) if result is variable)
        return self._of_functions[key][place]


def _is_differentiable(variable: Variable) -> bool:
    """Whether gradients can flow through at all; lists are as the tensors in them."""
    return not isinstance(variable.type, TensorType) or variable.type.is_differentiable


def _is_on_lists(operator: Operator) -> bool:
    for variable in (*operator.operands, *operator.results):
        if isinstance(variable.type, ArrayType):
            return True
    return False


def is_passed(operator: Operator) -> bool:
    """Whether the tape records an operator."""
    if operator.name in ("cond", "while", CALL) or _is_on_lists(operator):
        return True
    definition = lookup(operator.name)
    return definition.gradient is not None or definition.decompose is not None


Settings: TypeAlias = list[tuple[int, bool]] | None


def settings_of(program: Program, has_gone_back: bool = False) -> Settings:
    """The parameters of a Program whose `stop_gradient` a call sets, by place, and to what.

    None if only a run, operator by operator, can do it: where branches decide, and where gradients
    begin to flow, unless the Program itself `has_gone_back` through them.
    """
    places = {id(variable): i for i, variable in enumerate(program.block.parameters)}
    found: list[tuple[int, bool]] = []
    for operator in program.walk():
        if operator.name == SETTER:
            place, value = places.get(id(operator.operands[0])), operator.attributes["value"]
            if not has_gone_back and (place is None or not value):
                return None
            if place is not None:
                found.append((place, value))
    return found


def has_same_elements(new: Variable, old: Variable) -> bool:
    """Whether a value is another one of which `stop_gradient` was set at most, in branches too."""
    maker = new.maker
    if new is old or not isinstance(maker, Operator):
        return new is old
    if maker.name == SETTER:
        return has_same_elements(maker.operands[0], old)
    if maker.name != "cond":
        return False
    place = next(i for i, result in enumerate(maker.results) if result is new)
    taken = [i for i, one in enumerate(maker.operands[1:]) if has_same_elements(one, old)]
    return all(
        any(has_same_elements(block.yields[place], block.parameters[i]) for i in taken)
        for block in maker.blocks
    )


def begins_gradients(operator: Operator) -> bool:
    """Whether it lets gradients flow through a value that the Program computes on every path."""
    made = operator.operands[0].maker
    program = operator.block.program
    is_outermost = program is not None and operator.block is program.block
    return is_outermost and isinstance(made, Operator) and not operator.attributes["value"]


def flags_of(tensor: Any) -> tuple[bool, bool]:
    """Whether gradients stop at an eager tensor, and whether no operator has made it."""
    return bool(tensor.stopped), tensor.stopped or tensor.node is None


def refuse_leaf() -> NoReturn:
    """Raise what Python says of a change in place."""
    raise RuntimeError(
        "a leaf that needs gradients cannot be changed in place while gradients are "
        "recorded: use no_grad() or clone() it first"
    )


def _set_to(variable: Variable) -> Answer:
    """What the function has set it to; None if it has not."""
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != SETTER:
        return None
    return bool(maker.attributes["value"])


class GradientFlags:
    """What a trace knows and asks of `stop_gradient`.

    given         that of the inputs, by Variable.
    state         the captured tensors, by Variable.
    is_recording  whether the call is one in which gradients are recorded.
    asked         where the trace has asked for what depends on these.
    read          the tensors from outside of which the trace has asked.
    cut           those that `set_value` makes leaves, by identity.
    apart         tensors of the call by which a gradient is taken, each with one behind it that
                  must not be made of it, and where.
    """

    def __init__(self, tracer: Tracer) -> None:
        """Nothing is asked yet."""
        self._tracer = tracer
        self.given: dict[Variable, bool] = {}
        self.state: dict[Variable, Any] = {}
        self.is_recording = True
        self.asked: list[Location | None] = []
        self.cut: dict[int, Tensor] = {}
        # The leaves that hold, or held, a Variable with other numbers than before the call.
        self.renewed: dict[Variable, Tensor] = {}
        self.apart: list[tuple[Variable, Variable, Location | None]] = []
        self._is_call = False
        self.read: dict[int, tuple[Any, tuple[bool, bool]]] = {}
        outer = tracer.aliases.outer
        self._flow = GradientFlow(self._of_parameter, outer)
        self._least = GradientFlow(lambda _: False, outer)
        self._stopped: dict[Variable, Variable] = {}
        self._is_dependent = False

    def begin(
        self,
        inputs: Sequence[Variable],
        specs: Sequence[Any],
        gradients: tuple[bool, ...] | None,
    ) -> None:
        """Take what the call says of its tensors, or else what their InputSpecs say."""
        self._is_call = gradients is not None
        is_recording, *given = gradients or (True, *(spec.stop_gradient for spec in specs))
        self.is_recording = is_recording
        self.given = dict(zip(inputs, given, strict=True))

    def is_surely_stopped(self, variable: Variable) -> bool:
        """Whether no gradient flows through a Variable, whatever the inputs are."""
        return self._least.is_stopped(variable) is True

    def _of_parameter(self, variable: Variable) -> Answer:
        if variable in self.given:
            self._is_dependent = True
            return self.given[variable]
        return self._of_state(self.state[variable]) if variable in self.state else None

    def _of_state(self, tensor: Any) -> bool:
        return self.read.setdefault(id(tensor), (tensor, flags_of(tensor)))[1][0]

    def check_change(self, tensor: Tensor, refuses_leaves: bool) -> None:
        """Refuse to change a tensor in place in which gradients begin, or may begin.

        Of some changes Python says so itself, while gradients are recorded.
        """
        begins = self.begins(tensor)
        if begins is False:
            return
        self.asked.append(user_location())
        if begins and self.is_recording and refuses_leaves and is_grad_enabled():
            refuse_leaf()
        if self.is_recording or begins is None:
            raise beginning()

    def begins(self, tensor: Tensor) -> Answer:
        """Whether gradients begin in a tensor: it is a leaf that needs them."""
        variable = self._tracer.captured_already(tensor)
        return self._begin_outside(tensor) if variable is None else self._begin_in(variable)

    @property
    def uses(self) -> int:
        """How often an answer came from what `join` has assumed of a loop that still runs."""
        return self._flow.uses + self._least.uses

    def stop(self, tensor: Tensor, variable: Variable) -> Answer:
        """The `stop_gradient` of a tensor that holds a Variable; False if it is a leaf, too."""
        variable = self._tracer.aliases.origin(variable)
        if self.state.get(variable) is tensor:
            stopped, is_leaf = flags_of(tensor)
            return self._of_state(tensor) if stopped or is_leaf else None
        if self.renewed.get(variable) is tensor:
            return False
        return True if self._least.look_up(variable) else None

    def begun(self, leaf: Tensor, variable: Variable) -> Variable:
        """The numbers of a Variable as those of a leaf: gradients begin in it.

        They flow to the leaf as it was given, until backward() has gone through that.
        """
        tracer, types = self._tracer, [variable.type]
        (new,) = tracer.append("detach", [variable], {}, types).results
        if tracer.has_gone_back:
            (new,) = tracer.append(SETTER, [new], {"value": False}, types).results
        else:
            of_leaf = (first for first, tensor in self.state.items() if tensor is leaf)
            source = next(of_leaf, variable)
            operands = [new, tracer.as_seen(source)]
            (new,) = tracer.append("straight_through", operands, {}, types).results
        self.renewed[new] = leaf
        return new

    def join(self, tensor: Tensor, variable: Variable, *stops: Answer) -> None:
        """Note that branches or iterations leave a Variable in a tensor: they `stop` it so."""
        if all(answer is False for answer in stops):
            self._tracer.assign(tensor, self.begun(tensor, variable))
        elif all(stops):
            self._flow.stop(variable)
            self._least.stop(variable)

    def _begin_outside(self, tensor: Any) -> bool:
        return self.read.setdefault(id(tensor), (tensor, flags_of(tensor)))[1] == (False, True)

    def _begin_in(self, variable: Variable) -> Answer:
        """Whether a Variable is a leaf that needs gradients."""
        aliases = self._tracer.aliases
        variable = aliases.origin(variable)
        if variable in self.renewed:
            return True
        if variable in self.state:
            return self._begin_outside(self.state[variable])
        if _set_to(variable) is not None:
            return False if _set_to(variable) else None
        known = [v for v in aliases.of(variable) if v in self.state or _set_to(v) is False]
        return None if any(self._begin_in(v) is not False for v in known) else False

    def get(self, tensor: Tensor) -> bool:
        """The `stop_gradient` of a tensor, as it would be in the call."""
        variable = self._tracer.captured_already(tensor)
        return self._of_state(tensor) if variable is None else self._asked_of(variable)

    def stops(self, variable: Variable) -> bool:
        """Whether no gradient flows through a Variable, for one that is asked for.

        A Program for all calls is the one in which they flow as its InputSpecs say.
        """
        count = len(self.asked)
        answer = self._asked_of(variable)
        del self.asked[count:]
        if self._is_call:
            self.asked.append(user_location())
        return answer or not self.is_recording

    def flows_through(self, variable: Variable) -> bool:
        """Whether gradients may flow through a Variable in the call for which the trace is made."""
        return self.is_recording and self._flow.is_stopped(variable) is not True

    def _asked_of(self, variable: Variable) -> bool:
        self._is_dependent = False
        answer = self._now(variable)
        if self._is_dependent:
            self.asked.append(user_location())
        if answer is None:
            raise TensorAsPython(
                "stop_gradient of a tensor that a branch or loop has given",
                why="which of its values it is, and so whether gradients flow through, is known "
                "only when the Program runs",
                hint="set it in each branch, or ask before the branch",
            )
        return answer

    def _now(self, variable: Variable) -> Answer:
        is_begun = variable in self.renewed or _set_to(variable) is not None
        if isinstance(variable.maker, Operator) and not is_begun:
            if self.is_surely_stopped(variable):
                return True
            self._is_dependent = True
            if not self.is_recording:
                return True
        return self._flow.is_stopped(variable)

    def set(self, tensor: Tensor, value: bool) -> None:
        """Let gradients flow through a tensor from here on, or stop them; under all its names."""
        tracer = self._tracer
        variable = tracer.captured(tensor)
        root = tracer.aliases.origin(self.value_of(tracer.aliases.origin(variable)))
        is_outside = root in self.given or root in self.state
        if value and self.is_surely_stopped(variable):
            return
        if value and not is_outside:
            stopped = self._record("detach", tensor, {})
            self._stopped[stopped] = variable
            tracer.hold(tensor, stopped)
            tracer.views.same_elements(stopped, variable)
            return
        if variable in self._stopped:
            tracer.state.overwritten.pop(self._stopped[variable])
            tracer.assign(tensor, self._stopped[variable])
        if value or (is_outside and not self._is_call) or self.get(tensor):
            tracer.assign(tensor, set_to := self._record(SETTER, tensor, {"value": value}))
            tracer.views.same_elements(set_to, variable)

    def _record(self, name: str, tensor: Tensor, attributes: dict[str, Any]) -> Variable:
        variable = self._tracer.local(self._tracer.captured(tensor))
        return self._tracer.append(name, [variable], attributes, [variable.type]).results[0]

    def value_of(self, variable: Variable) -> Variable:
        """The Variable of which one is made that differs in nothing but where gradients flow."""
        while isinstance(maker := variable.maker, Operator):
            if maker.name != SETTER and variable not in self.renewed:
                break
            variable = maker.operands[0]
        return variable
