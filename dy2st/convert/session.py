"""One trace from its beginning to its end: a function and placeholders in, a Program out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dy2st.convert.aliases import Locations
from dy2st.convert.call_context import CallContext
from dy2st.convert.dy2static import run_in
from dy2st.convert.kinds.tensors import PLACE
from dy2st.convert.protocol.calls import require_source
from dy2st.convert.protocol.machine import Machine
from dy2st.convert.record import Record
from dy2st.convert.replay.effects import effects_of
from dy2st.convert.replay.keeping import Keeping, Reads, overwritten
from dy2st.convert.replay.places import Source, Varied, finder_of
from dy2st.convert.replay.result import Finished, Taker, structure_of
from dy2st.convert.stage.counterparts import replace_first_calls
from dy2st.convert.stage.outcome import (
    AlwaysRaises,
    Refused,
    is_endless,
    is_refusal,
    is_thrown,
    note_raise,
)
from dy2st.convert.trace import EACH_CALL
from dy2st.convert.types import info
from dy2st.convert.values.special import CONTENT
from dy2st_runtime.dims import Condition, require
from dy2st_runtime.errors import Location, StateMade
from dy2st_runtime.ir import Operator, Program, Tensor, Tracer, Variable
from dy2st_runtime.ir.exceptions import holds_values
from dy2st_runtime.ir.failures import is_dispensable
from dy2st_runtime.ir.functions import drop_unused
from dy2st_runtime.ir.grad_mode import enable_grad
from dy2st_runtime.ir.location import place_of
from dy2st_runtime.ir.structure import containers_of, is_container
from dy2st_runtime.ir.tracing.gradient_flow import has_same_elements
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.progress import Progress
from dy2st_runtime.tensor import EagerTensor, Parameter

_SEEN = ("log_message", "print", "warn", "write")  # the operators that show something


@dataclass(eq=False)
class Traced:
    """A Program, the tensors behind its state, and what the trace knows of the outside."""

    program: Program
    state: dict[str, EagerTensor]
    machine: Machine
    arguments: dict[int, Any]  # the containers among the arguments, by id: each call has its own
    places: dict[int, int]  # which of the lists, dicts and sets that a call is given they are
    finished: Finished = field(default_factory=Finished)
    # Where the numbers are found that are inputs, by the name that they have in the state
    sources: dict[str, tuple[Source, Any]] = field(default_factory=dict)


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    program: Program,
    names: Mapping[int, str],
    specs: Sequence[Any],
    declared: Sequence[tuple[Condition, str]] = (),
    varied: Varied | None = None,
    record: Record | None = None,
    call_context: CallContext | None = None,
    keeping: Keeping | None = None,
    layer: Layer | None = None,
    locations: Locations | None = None,
) -> Traced:
    """Run a function once on arguments that hold placeholders of `program`.

    names     of the tensors of the user's that have one, by id.
    varied    the places outside whose numbers are inputs.
    declared  what is known of the sizes of the arguments, with the reason.
    record    gets what the trace meets.
    call_context  is lost where the function raises and has written what nothing writes then.
    keeping   the places outside that the Program of a file keeps.
    layer     whose method the function is, if it is one's.
    locations  what earlier traces of it have learned of the objects that it makes.
    """
    call_context = call_context or CallContext()
    call_context.place, call_context.process = 0, (id(warnings.filters), sys.gettrace())
    state: dict[str, EagerTensor] = {}
    if keeping is not None:
        names = {**names, **keeping.labels()}
    tracer = Tracer(program, _capturing(program, state, names))
    tracer.aliases.has_elements = True
    tracer.flags.begin(program.inputs, specs, call_context.gradients)
    arguments: dict[int, Any] = {}
    note_containers((args, dict(kwargs)), arguments)
    arguments_that_change = containers_of((*args, *kwargs.values()))
    with tracer.tracing(), enable_grad():
        for condition, reason in declared:
            require(condition, reason)
        tracer.locate_constraints(None)  # the reason names the place
        machine = Machine(tracer, record, call_context, locations)
        if layer is not None:
            machine.record.layer_paths.enter(layer, "")
        require_source(machine, function)
        for value in (function, *args, *kwargs.values(), *arguments.values()):
            machine.mark_outside(value)
        if keeping is not None:
            keeping.begin(machine)
        sources = {} if varied is None else varied.begin(machine)
        try:
            counted = partial(len, program.operators)
            progress = Progress(f"tracing {program.name}", 0, counted, "operators")
            with run_in(machine), progress:
                result = _run(machine, function, args, kwargs)
        except BaseException as error:
            if isinstance(error, StateMade) and not call_context.is_lost:
                is_first = not error.is_chosen and not _has_been_seen(machine)
                call_context.is_lost = is_first and call_context.may_leave(error.at)
            # Python makes such a call by itself: it raises the same, and writes what comes before
            # that.
            is_users = is_thrown(machine, error) and not is_refusal(error)
            if is_users and _has_written(machine) and may_run_again(machine):
                call_context.is_lost = True
            raise
        places = {id(one): place for place, one in enumerate(arguments_that_change)}
        for name, (owner, index) in machine.record.states.items():
            sources[name] = Source(finder_of(owner), "state", index), name
        found = Traced(program, state, machine, arguments, places, sources=sources)
        _finish(found, result, place_of(function), keeping)
        if machine.repeats.made:
            replace_first_calls(machine)
    if keeping is not None:
        keeping.drop_unused(program, state, found.finished)
    program.block.parameters = [*program.inputs, *program.state.values()]
    if program.functions:
        drop_unused(program)
    return found


def _has_written(machine: Machine) -> bool:
    """Whether something outside would be other than before, or a tensor has changed in place."""
    tracer = machine.tracer
    inputs = (tracer.held_by(variable) for variable in tracer.program.inputs)
    changed = [*(variable for _, variable in tracer.assigned()), *inputs]
    makers = (one.maker for one in changed if one is not None)
    return machine.record.has_written or any(isinstance(maker, Operator) for maker in makers)


def may_run_again(machine: Machine) -> bool:
    """Whether Python may make a call that was traced or run: nothing of it has been seen so far."""
    operators = machine.tracer.program.walk()
    return not _has_been_seen(machine) and not any(one.name in _SEEN for one in operators)


def _has_been_seen(machine: Machine) -> bool:
    """Whether the trace has done what nothing takes back."""
    return any(kind == EACH_CALL and name for _, kind, name, _ in machine.reads.values())


def note_containers(value: Any, found: dict[int, Any]) -> None:
    """Note the containers in a value, and itself if it is one, by id."""
    if is_container(value) or type(value) is set:
        found[id(value)] = value
        for entry in value.values() if isinstance(value, dict) else value:
            note_containers(entry, found)


def _run(
    machine: Machine, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What the function returns; what it raises after checks of the Program, that raises too.

    Ctrl-C may come at any time, and leaves the user's objects alone.
    """
    try:
        try:
            try:
                return machine.call(function, *args, **kwargs)
            except AlwaysRaises:
                return None
            except Refused as refused:
                raise refused.args[0] from None
            except BaseException as error:
                if not is_thrown(machine, error):
                    raise
                if is_endless(error):
                    if sys.version_info >= (3, 11):  # which has notes
                        error.add_note(
                            "a call that is traced takes several of Python's: where a number of "
                            "Python ends the recursion, raise the limit with "
                            "sys.setrecursionlimit(...)"
                        )
                    raise
                # Nothing before it can raise or be seen: a Program would raise it at each call.
                is_alone = all(map(is_dispensable, machine.tracer.program.block.operators))
                if is_alone and not holds_values(error, machine.fields):
                    raise
                note_raise(machine, error)
                return None
        except BaseException:
            machine.give_back()
            raise
    except BaseException:  # once more: Ctrl-C may have come in the midst of the first
        machine.give_back()
        raise


def _finish(
    traced: Traced, result: Any, at: Location | None, keeping: Keeping | None = None
) -> None:
    """Let the Program yield what the result and the effects need, and the tensors it changes."""
    machine, program = traced.machine, traced.program
    tracer = machine.tracer
    machine.alias_tracker.return_all()  # effects look at no list again
    taker = Taker(machine, traced.places, f"{program.name}() returns", at)
    taker.is_for_file = keeping is not None
    # The result first: its leaves are the outputs, behind which those of effects follow.
    tree = taker.take(result)
    taker.is_of_result = False
    has_written, again = _has_written(machine), may_run_again(machine)
    finished = Finished(tree, len(taker.leaves), writes=has_written, may_run_again=again)
    traced.finished = finished
    _note_changed_tensors(machine, taker, {} if keeping is None else keeping.inputs)
    finished.outputs_of_files = len(taker.leaves)
    machine.alias_tracker.check_outside()
    taker.what = f"{program.name}() lets an object from outside hold"
    # Those of the code alone: effects read other places.
    reads = None if keeping is None else Reads(machine, keeping)
    finished.effects = effects_of(machine, taker)
    # What a call does to the gradients of its arguments.
    finished.has_gone_back = tracer.has_gone_back
    inputs = {id(variable): i for i, variable in enumerate(program.inputs)}
    for place in list(machine.over.values()):
        if place.name is PLACE and id(place.owner) in inputs:
            finished.leaves.append((inputs[id(place.owner)], taker.take(place.value)))
    if finished.has_gone_back:
        flows = tracer.flags.flows_through
        finished.freed = [i for i, leaf in enumerate(taker.leaves) if flows(leaf)]
    if keeping is not None and reads is not None:
        keeping.end(machine, reads, taker, finished)
    finished.given = [*taker.given.values()]
    # Which containers are one counts where one changes, or where the code asks.
    counts = any(place.name is CONTENT for place in machine.over.values())
    counts = counts or any(info(type(one)).is_container for one in machine.record.apart)
    if traced.places and counts:
        finished.outside = taker.containers_outside()
    program.structure, finished.not_plain = structure_of(tree)
    program.block.yields = list(taker.leaves)
    by_id = {id(tensor): key for key, tensor in traced.state.items()}
    for tensor, variable in tracer.assigned():
        key = by_id[id(tensor)]
        is_replaced = any(effect.buffer is tensor for effect in finished.effects)
        if variable.overwritten is not None and is_replaced:
            finished.unknown.append((key, variable.overwritten))
            continue
        tracer.local(variable)  # refused where it was changed under another name
        new = tracer.flags.value_of(variable)
        if new is not program.state[key]:
            program.updates.append(key)
            program.block.yields.append(tracer.local(new))


def _note_changed_tensors(machine: Machine, taker: Taker, kept: Mapping[str, Variable]) -> None:
    """Let the Program give the new values of the tensors among its arguments that it changes.

    Of what a file has `kept` the places say what becomes of them.
    """
    tracer, program = machine.tracer, machine.tracer.program
    for variable in program.inputs:
        new = tracer.flags.value_of(tracer.captured(variable))
        if new.overwritten is not None:
            if variable.name in kept:
                continue
            raise overwritten(program, variable.name, new.overwritten)
        if not has_same_elements(new, variable):
            program.changes[variable.name] = taker.out(new).index


def _capturing(
    program: Program, state: dict[str, EagerTensor], names: Mapping[int, str]
) -> Callable[[Tracer, Tensor], Variable]:
    """What makes a tensor from outside a parameter or buffer; `state` gets it by its key."""

    def capture(tracer: Tracer, tensor: Tensor) -> Variable:
        assert isinstance(tensor, EagerTensor)
        known = program.parameters if isinstance(tensor, Parameter) else program.buffers
        key = names.get(id(tensor))
        if not key:
            # A tensor that belongs to no Layer of ours keeps its own name, if that is free.
            key, taken = tensor.name, program.state
            if not key or key in taken or not getattr(tensor, "is_named", True):
                prefix = "parameter" if isinstance(tensor, Parameter) else "tensor"
                key = f"{prefix}_{sum(name.startswith(prefix) for name in taken)}"
        known[key] = program.block.add_parameter(TensorType(tensor.dtype, tensor.array.shape), key)
        program.trainable[key] = not tensor.stopped  # to ask would make it a guard
        if tensor.is_dist():
            program.placements[key] = tensor.dist_attr.spec
        state[key] = tensor
        return known[key]

    return capture
