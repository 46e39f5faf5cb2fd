"""One trace of a function, and the Program that it gives; what is said of traces."""

from __future__ import annotations

import itertools
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

import dy2st_runtime.engine.numpy.executable  # noqa: F401  with it Programs run
from dy2st.convert.aliases import Locations, MoreIsKnown
from dy2st.convert.call_context import CallContext, free_name
from dy2st.convert.record import Record, report_of
from dy2st.convert.replay.effects import written_by
from dy2st.convert.replay.guards import Guards
from dy2st.convert.replay.keeping import Keeping
from dy2st.convert.replay.places import ReadKey, Varied, found_by
from dy2st.convert.session import Traced, note_containers
from dy2st.convert.session import trace as run_trace
from dy2st.convert.trace import EACH_CALL
from dy2st.convert.types import info
from dy2st.convert.values.special import CONTENT
from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.input_spec import InputSpec, Requirement, resolve
from dy2st.jit.objects_of_calls import (
    NO_TIES,
    Apart,
    LiveState,
    OutputAliasing,
    Ties,
    flags_hold,
    hold_one,
)
from dy2st.jit.signature import NumberSpec, constant_key
from dy2st.transpiler.compile import is_part
from dy2st.transpiler.lower import code_of, left_as_python
from dy2st_runtime.errors import ConversionError, Location, StateMade, WrongKind
from dy2st_runtime.ir import Output, Program
from dy2st_runtime.ir.location import join_parts, place_of, warn_user
from dy2st_runtime.ir.structure import flatten, is_container
from dy2st_runtime.ir.structure import rebuild as rebuild_structure
from dy2st_runtime.ir.tracing.gradient_flow import settings_of
from dy2st_runtime.ir.tracing.growth import STAYS_A_LOOP, Unrolled
from dy2st_runtime.ir.tracing.traced_numbers import numbers_are_no_keys, reason_of
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.thread_state import put_back_after_errors, room_for_frames, without_collection

join_parts(is_part)

if TYPE_CHECKING:
    from dy2st.jit.static_function import StaticFunction

# -- what is said of it: nothing unless asked for -----------------------------------------------

ALL, FULL = 100, "full"


class _Settings:
    code_level: int | str | None = None
    code_stream: TextIO | None = None
    verbosity = 0
    verbosity_stream: TextIO | None = None


settings = _Settings()


def set_code_level(level: int | str = ALL, also_to_stdout: bool = False) -> None:
    """Print the rewritten code of every function when it is converted, from now on.

    Level n (from 1) prints the code after the n-th rewrite, 100 the code that runs, 0 nothing;
    "full" prints its operators, attributes and items as the calls that they are. It goes to the
    standard error stream, or with `also_to_stdout` to the standard output.

    >>> set_code_level(0)
    """
    is_level = isinstance(level, int) and not isinstance(level, bool) and level >= 0
    if not is_level and level != FULL:
        raise WrongKind(f'the code level is "{FULL}" or an int from 0 to {ALL}, not {level!r}')
    settings.code_level = level or None
    settings.code_stream = sys.stdout if also_to_stdout else None


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Say what is converted: 0 nothing, 1 every function, 2 also what is left as Python and why.

    >>> set_verbosity(0)
    """
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise WrongKind(f"the verbosity is an int from 0, not {level!r}")
    settings.verbosity = level
    settings.verbosity_stream = sys.stdout if also_to_stdout else None


def note(text: str) -> None:
    """Say something about a conversion, if that was asked for."""
    if settings.verbosity:
        print(f"dy2st: {text}", file=settings.verbosity_stream or sys.stderr)


# DY2ST_DEBUG: 1 and 2 are the verbosity, 3 shows the rewritten code as well.
_debug = os.environ.get("DY2ST_DEBUG", "0")
_level = int(_debug) if _debug.isdigit() else 0
settings.verbosity = min(_level, 2)
settings.code_level = ALL if _level >= 3 else None


def show(function: FunctionType) -> None:
    """Print the code, and the notes, that were asked for."""
    level = settings.code_level
    if level is not None:
        steps = level if isinstance(level, int) else None
        text = code_of(function, steps, is_full=level == FULL)
        print(text, file=settings.code_stream or sys.stderr)
    note(f"converted {function.__qualname__} ({place_of(function)})")
    for line, reason in left_as_python(function) if settings.verbosity > 1 else ():
        note(f"  line {line} is left as Python: {reason}")


def _structure(value: Any) -> str:
    """`[tensor * 3, {'a': tensor}]`: what lists, tuples and dicts there are around what."""
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {_structure(one)}' for key, one in value.items())}}}"
    if type(value) not in (list, tuple):
        return "tensor" if isinstance(value, InputSpec) else type(value).__name__
    runs = [(text, len([*same])) for text, same in itertools.groupby(map(_structure, value))]
    inside = ", ".join(f"{text} * {count}" if count > 1 else text for text, count in runs)
    return f"[{inside}]" if type(value) is list else f"({inside})"


_TRACES, _VALUES = 5, 10
"""The trace of one kind of call, and the value of one number, that are worth a warning."""

_MOST_KEYS = 1024


class Watch:
    """Counts the traces of one function, and warns where they are many."""

    def __init__(self) -> None:
        """Nothing was traced yet."""
        self._traces: Counter[Hashable] = Counter()
        self._last: dict[str, Any] = {}  # the constants of each argument
        self._seen: dict[tuple[str, str], list[Any]] = {}  # values, and structures, of each
        self._has_unrolled = False

    def given(self, static: StaticFunction, arguments: Mapping[str, Any]) -> str:
        """Note what a trace is given; in words what else it is than before, beside tensors."""
        why = ""
        for argument, value in arguments.items():
            found, _ = flatten(
                value, lambda one: not (isinstance(one, InputSpec) or is_container(one))
            )
            constants = tuple(map(constant_key, found))
            are_plain = all(
                info(type(one)).is_plain or isinstance(one, np.generic) for one in found
            )
            if constants != self._last.setdefault(argument, constants):
                self._last[argument] = constants
                what = "value" if are_plain else "object"
                why = why or f"the argument `{argument}` is another {what}"
            most = _VALUES if are_plain else _TRACES
            if found and self._fill("values", argument, constants, most):
                self._warn_of_values(static, argument, found, most)
            shown = _structure(value) if type(value) in (list, tuple, dict) else ""
            if shown and (known := self._fill("structures", argument, shown, _VALUES)):
                _warn_of(
                    *(static, argument, f"{_VALUES} structures of"),
                    f"at last for {shown:.60} after {known[-2]:.60}, ",
                    "Stack the tensors of a list to one tensor, whose InputSpec says None for "
                    "their number, or fill all up to one structure; of a tree convert the "
                    "function of one node, and let Python walk from node to node",
                )
        return why

    def traced(self, static: StaticFunction, key: Hashable, again: str) -> None:
        """Note a trace of calls of a key, since something has changed."""
        if not again:
            return
        if len(self._traces) > _MOST_KEYS:
            self._traces.clear()
        self._traces[key] += 1
        if self._traces[key] == _TRACES - 1:  # the first one had no reason
            _warn(
                static,
                f"is traced the {_TRACES}th time for calls of one kind, which takes long, since "
                f"{again}. Keep what changes from call to call in a tensor, or give it to the "
                "function as one",
            )

    def unrolled(
        self, static: StaticFunction, arguments: Mapping[str, Any], loops: Sequence[Unrolled]
    ) -> None:
        """Warn once of a loop that a size or a number among the arguments has made long.

        Those over Layers, say, are as long for all calls.
        """
        leaves, _ = flatten(arguments, lambda value: isinstance(value, InputSpec))
        shapes = [one.shape for one in leaves if isinstance(one, InputSpec)]
        numbers = {size for shape in shapes for size in shape or () if isinstance(size, int)}
        numbers |= {value for value in arguments.values() if type(value) is int}
        for loop in loops:
            # A loop over pairs of neighbours has one iteration less.
            if not self._has_unrolled and {loop.iterations, loop.iterations + 1} & numbers:
                self._has_unrolled = True
                text = f"unrolls {loop}, which take long to trace and to compile; {STAYS_A_LOOP}"
                _warn(static, text, loop.at)

    def _fill(self, what: str, argument: str, one: Any, most: int) -> list[Any] | None:
        """Note one of an argument; all of them, once they are as many as are worth a warning."""
        seen = self._seen.setdefault((what, argument), [])
        if one in seen or len(seen) >= most:
            return None
        seen.append(one)
        return seen if len(seen) == most else None

    def _warn_of_values(
        self, static: StaticFunction, argument: str, values: Sequence[Any], most: int
    ) -> None:
        what, way_out = "values of", "Give what changes from call to call as tensors"
        if most == _TRACES:
            what = "objects that were"
            way_out = (
                "Give it one object, whose attributes may change, or give its tensors and numbers"
            )
        elif all(type(one) in (int, float) or isinstance(one, np.number) for one in values):
            way_out = (
                f"Give it the number as a tensor, to_tensor({argument}); or take a size from the "
                "tensor that has it, whose InputSpec says None there"
            )
        way_out += ": there is one Program for all of them then"
        _warn_of(static, argument, f"{most} {what}", "", way_out)


def _warn_of(static: StaticFunction, argument: str, what: str, last: str, way_out: str) -> None:
    text = f"has a Program for each of {what} its argument `{argument}`, {last}"
    _warn(static, f"{text}and each takes long to make. {way_out}")


def _warn(static: StaticFunction, text: str, at: Location | None = None) -> None:
    warn_user(f"{static.__qualname__}() {text}", at or place_of(static.__wrapped__))


# -- one trace --------------------------------------------------------------------------------


@dataclass(eq=False)
class Subject:
    """What is traced: a function, and a call of it in which InputSpecs stand for tensors.

    specs    InputSpecs and values of Python, by parameter.
    ties     which of the arguments are one object.
    is_asked_for  whether the user gave the InputSpecs, and may see the text of sizes; others are
             found from the sizes of calls.
    keeping  the places outside that the Program of a file keeps.
    """

    static: StaticFunction
    specs: dict[str, Any]
    call: CallContext = field(default_factory=CallContext)
    ties: Ties = NO_TIES
    is_asked_for: bool = True
    keeping: Keeping | None = None


@room_for_frames
def trace(subject: Subject, varied: Varied) -> ConcreteProgram:
    """The Program of a function; numbers outside that have `varied` are inputs.

    They become constants where a trace with them is refused.
    """
    refused: list[ReadKey] = []
    locations, by_value, rounds = Locations(), None, 0
    if subject.keeping is None:
        varied.begin_trials()
    while True:
        tried = list(varied.places)
        try:
            made = _traced(subject, varied, locations)
        except Exception as error:
            if isinstance(error, MoreIsKnown) and rounds < _MOST_TRACES:
                rounds += 1
                continue
            by_value_now = isinstance(error, ConversionError) and not isinstance(error, StateMade)
            if (by_value is not None or by_value_now) and locations.rise():
                # Objects by value are refused: once more with locations for them.
                by_value, rounds = by_value or error, 0
                continue
            is_made = by_value is None and isinstance(error, StateMade)
            if is_made or not tried or subject.keeping is not None:
                varied.trials.take_back(refused)
                if by_value is None:
                    raise
                break
            # The trace with constants shows whether it is an error.
            refused += varied.refuse(tried, reason_of(by_value or error))
            locations, by_value, rounds = Locations(), None, 0
        else:
            varied.trials.accept(tried)
            return made
    raise by_value


_MOST_TRACES = 16  # each of which finds what those before have not known


@put_back_after_errors
def _traced(subject: Subject, varied: Varied, locations: Locations) -> ConcreteProgram:
    """Run a function once on placeholders, which stand where InputSpecs do."""
    static, ties, call = subject.static, subject.ties, subject.call
    program, instance = Program(static.__name__), static.class_instance
    given = static.signature.call_of(subject.specs)
    specs, structure = flatten(given, lambda entry: isinstance(entry, InputSpec))
    declared = add_inputs(program, specs)
    args, kwargs = rebuild_structure(structure, ties.leaves(program.inputs))
    args, named = ties.tied((args, tuple(kwargs.values())))
    layer = instance if isinstance(instance, Layer) else None
    call.is_lost = False  # by a trace before, with other sizes
    with without_collection(), numbers_are_no_keys(nor_text=not subject.is_asked_for):
        traced = run_trace(
            static.called,
            args if instance is None else (instance, *args),
            dict(zip(kwargs, named, strict=True)),
            program,
            names_of(layer),
            specs,
            declared,
            varied,
            Record(on_form=None if locations.is_on or locations.carried else show),
            call,
            subject.keeping,
            layer,
            locations,
        )
        aliasing = OutputAliasing.of(program.outputs, traced.machine.tracer, traced.state)
    made = _program_of(subject, traced, aliasing, varied)
    traced.machine.end()
    return made


def _program_of(
    subject: Subject, traced: Traced, aliasing: OutputAliasing | None, varied: Varied
) -> ConcreteProgram:
    program, machine = traced.program, traced.machine
    tracer = machine.tracer
    if traced.finished.not_plain:
        program.structure = [Output(index) for index in range(traced.finished.outputs)]
    # In the order of the Program's parameters, in which calls give their arrays.
    ordered = {key: traced.state[key] for key in program.state}
    keys = {id(tensor): key for key, tensor in ordered.items()}
    buffers, shared = _buffers(traced, keys)
    found = varied.live(machine)
    varied.note_declared(machine.reads.values())
    varied.note_drawn(machine.record)
    others = {
        keys[id(tensor)]: (source, key[2])
        for key, held in found.items()
        for tensor, source in held
        if id(tensor) in keys
    }
    places: Any = {**buffers, **traced.sources, **others}
    live = LiveState(ordered, places)
    written = written_by(machine)
    changed = {id(place.owner) for place in machine.over.values() if place.name is CONTENT}
    reads = machine.reads.values()
    asked: list[Callable[[], bool]] = [*shared.values()]
    # A place may get a tensor that has a name already: a change of one would have to reach both.
    if machine.record.apart or (program.updates and places and len(ordered) > 1):
        # The tensors are as many: a change of one in place is none of another.
        asked.append(lambda: len({*map(id, live.now().values())}) == len(live.now()))
    if tracer.flags.read:
        hold = flags_hold(keys, tracer.flags.read.values())
        asked.append(lambda: hold(live.now()))
    # Arguments that are objects from outside hold what the trace has found there.
    outside: dict[int, Any] = {}
    for one in subject.ties.containers:
        if not isinstance(one, int):
            note_containers(one.value(), outside)
    arguments = traced.arguments.keys() - outside
    guards = Guards(reads, arguments, varied, written, changed, found, asked)
    return ConcreteProgram(
        program,
        live,
        subject.static.__wrapped__,
        traced.finished,
        guards,
        subject.static.passes,
        report_of(machine.record, tracer.unrolled),
        apart=Apart.of(machine, subject.ties, traced.finished.outside),
        asked=tracer.flags.asked,
        settings=settings_of(program, traced.finished.has_gone_back),
        aliasing=aliasing,
        shared=frozenset(shared),
        buffers=keys,
        cut=frozenset(
            name
            for name, one in [*ordered.items(), *((one.name, one) for one in program.inputs)]
            if id(one) in tracer.flags.cut
        ),
        effects=tuple(what for _, kind, _, what in reads if kind == EACH_CALL),
        answers=[*machine.record.answers],
    )


def _buffers(traced: Traced, keys: Mapping[int, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where the buffers are found that the trace has read; what those in several places ask."""
    reads = traced.machine.reads.values()
    found: dict[int, list[tuple[Any, str]]] = {}
    for layer in {id(read[0]): read[0] for read in reads}.values():
        for name, tensor in layer._buffers.items() if isinstance(layer, Layer) else ():
            if id(tensor) in keys:
                found.setdefault(id(tensor), []).append((layer._buffers, name))
    # A Layer finds what it registers in its tables, and all else in its `__dict__`.
    others = [
        read
        for read in reads
        if not isinstance(read[0], Layer) or vars(read[0]).get(read[2]) is read[3]
    ]
    elsewhere = {id(one): one for read in others for one in found_by(read)}
    # What something else holds, too, is not looked up at each call: that it does, is guarded.
    live = {keys[key]: places[0] for key, places in found.items() if key not in elsewhere}
    shared = {
        keys[key]: partial(hold_one, places, elsewhere.get(key))
        for key, places in found.items()
        if len(places) > 1 or key in elsewhere
    }
    return live, shared


def add_inputs(program: Program, specs: Sequence[InputSpec]) -> list[Requirement]:
    """Give the Program its inputs; returns what the InputSpecs say of sizes, with the reasons."""
    names = [spec.name or f"input_{index}" for index, spec in enumerate(specs)]
    # What a Program takes is told by its name.
    names = [free_name(name, names[:place]) for place, name in enumerate(names)]
    types, declared = resolve(specs, names)
    for name, type in zip(names, types, strict=True):
        program.inputs.append(program.block.add_parameter(type, name))
    for spec, variable in zip(specs, program.inputs, strict=True):
        variable.number = spec.number if isinstance(spec, NumberSpec) else None
    return declared


def names_of(layer: object) -> dict[int, str]:
    """Structured names of a Layer's tensors, by identity; the first name of a shared one."""
    names: dict[int, str] = {}
    if isinstance(layer, Layer):
        for name, tensor in (*layer.named_parameters(), *layer.named_buffers()):
            names.setdefault(id(tensor), name)
    return names
