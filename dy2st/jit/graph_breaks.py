"""What `full_graph=False` does: a function that is refused runs as Python, what it calls does not.

A call that has no Program yet is traced. If that is refused, Python makes the call by the user's
own code, which asks before each call that it makes what to call instead: a function of the user's,
a method, or a Layer is tried in the same way, by itself. So what is refused breaks the functions
that are on the stack there; those before it, beside it and below it are Programs.

A trace may be refused at any place, and Python begins anew then. So such a trace does nothing that
cannot be undone: what Python would have to do while it runs (open a file, call unknown code) is
refused there, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from dy2st.convert.call_context import AsksCaches
from dy2st.convert.effect_table import is_ignored_module, module_of_code
from dy2st.convert.protocol.calls import is_marked
from dy2st.convert.record import Break, Report
from dy2st.convert.types import info
from dy2st.transpiler.compile import asking
from dy2st_runtime.errors import (
    ConversionError,
    Dy2stError,
    EngineError,
    Location,
    ShapeError,
    SourceUnavailable,
    SpecError,
)
from dy2st_runtime.ir.location import (
    hide_own_frames,
    is_own_file,
    location_of,
    place_of,
    warn_user,
    without_own_frames,
)
from dy2st_runtime.nn.layer import Layer, note_layer
from dy2st_runtime.thread_state import ByIdentity, ThreadState

if TYPE_CHECKING:
    from dy2st.jit.programs import Invocation
    from dy2st.jit.static_function import StaticFunction


class _Running(ThreadState):
    """What Python runs in place of Programs in this thread.

    units   the functions that are on the stack, with the object of each method.
    inside  the seconds that the innermost has given to those that it calls.
    """

    units: tuple[tuple[Unit, Any], ...] = ()
    inside = 0.0


_running = _Running()

# A function whose calls are nearly all new is traced so often, and no more.
_MOST_TRIES = 8
# So many calls without an operator show that there is nothing to convert.
_MOST_PLAIN = 3
# What is deeper runs without us in between: a recursion goes as deep as by Python alone.
_MOST_DEEP = 16
_MOST_KEYS = 1024
# They give no result that a Program could give, or see who calls them.
_NO_CALLS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_LOOKING = frozenset(
    {"stacklevel", "_getframe", "_getframemodulename", "currentframe", "stack", "f_back"}
)
_NOT_MET: Any = object()
# Calls that Python makes though they are not refused: there is nothing to convert, or caches of the
# user's are to be asked by Python first.
_NOTHING, _ASKING_NEXT = (Break("", None, None, "") for _ in range(2))


def is_library(function: FunctionType) -> bool:
    """Whether a function is none of the user's."""
    module = module_of_code(function)
    return is_ignored_module(module) or module.startswith("dy2st")


class GraphBreaks:
    """All that is broken in one converted function, and what it calls: by code, a Unit or None."""

    def __init__(self, convert: Callable[..., StaticFunction]) -> None:
        """`convert` makes a converted function; its argument `breaks` is this."""
        self._convert = convert
        self.found: list[Break] = []
        self._units: dict[int, Unit | None] = {}
        self._codes: list[Any] = []  # those whose ids these are
        self._left: set[Any] = set()  # functions that are called as they are
        self._has_warned = False
        self.reports: dict[Location | None, Report] = {}  # of Programs, by function

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process begins anew."""
        return GraphBreaks, (self._convert,)

    def converted(self, function: Any) -> StaticFunction:
        """The function converted, so that its breaks are among these."""
        return self._convert(function, breaks=self)

    def __getitem__(self, called: Any) -> Any:
        """What to call in its place: the same, if it is nothing of the user's."""
        kind = type(called)
        if kind is type or info(kind).family in ("bound in C", "of a C class"):
            return called
        if kind is FunctionType:
            function, instance = called, None
        elif kind is MethodType and type(called.__func__) is FunctionType:
            function, instance = called.__func__, called.__self__
        else:
            return self.of_object(called)
        if function in self._left:  # the quickest way, for the calls that are most
            return called
        unit = self._unit_of(function, instance)
        return called if unit is None else unit.called(function, instance)

    def of_object(self, called: Any) -> Any:
        """What to call in the place of what is no function and no method."""
        kind = type(called)
        if kind is partial:
            inner = self[called.func]
            if inner is called.func:
                return called
            return partial(inner, *called.args, **called.keywords)
        if isinstance(called, type) or hasattr(kind, "dygraph_function"):
            return called
        if isinstance(called, Layer) and kind.__call__ is Layer.__call__:
            return partial(self.call_layer, called)
        own = inspect.getattr_static(kind, "__call__", None)
        if type(own) is not FunctionType or is_library(own):
            return called
        return self[MethodType(own, called)]

    def call_layer(self, layer: Layer, /, *inputs: Any, **kwargs: Any) -> Any:
        """What `Layer.__call__` does; its `forward` and hooks are asked for, too."""
        try:
            return layer._call(inputs, kwargs, self.__getitem__)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            note_layer(error, layer)
            raise

    def _unit_of(self, function: FunctionType, instance: Any) -> Unit | None:
        """What is known of a function; None if it is called as it is."""
        code = function.__code__
        unit: Unit | None = self._units.get(id(code), _NOT_MET)
        if unit is _NOT_MET:
            is_forward = isinstance(instance, Layer) and function.__name__ == "forward"
            is_left = is_marked(function) or (is_library(function) and not is_forward)
            self._codes.append(code)
            unit = self._units.setdefault(id(code), None if is_left else Unit(self, function))
        if unit is None and len(self._left) < _MOST_KEYS:
            self._left.add(function)
        return unit

    def leave(self, function: Any) -> None:
        """Call a function as it is from now on."""
        self._units[id(function.__code__)] = None

    def root(self, function: Any) -> Unit:
        """What is known of a function that is converted, whatever it is."""
        code = getattr(function, "__code__", function)
        unit = self._units.get(id(code))
        if unit is None:
            self._codes.append(code)
            unit = self._units[id(code)] = Unit(self, function)
        return unit

    @staticmethod
    def are_of(known: Any, tensors: Sequence[Any], error: BaseException) -> bool:
        """Whether a Program has refused a call, which it does before it begins."""
        if known is None:
            return False
        if isinstance(error, ShapeError):
            return not known.executable.takes_shapes([one.array.shape for one in tensors])
        return isinstance(error, ConversionError)

    def report(self, static: StaticFunction, whole: bool) -> Report:
        """The breaks, and what became of all that runs as a Program."""
        last = static.program_cache.last()
        known = {} if last is None else {place_of(static.__wrapped__): last.report}
        reports = (known | self.reports | known).values()  # its own first
        functions = {(one.file, one.line, one.name): one for r in reports for one in r.functions}
        others = sorted({name for one in reports for name in one.others})
        unrolled = tuple(loop for one in reports for loop in one.unrolled)
        compiling = () if last is None else tuple(last.compiling())
        made = Report(tuple(functions.values()), tuple(others), unrolled=unrolled, whole=whole)
        return replace(made, compiling=compiling, breaks=tuple(self.found))

    def refusal(self, static: StaticFunction, error: ConversionError | None) -> ConversionError:
        """Why there is no Program of all of it, with all breaks that are known."""
        found = list(self.found)
        if error is not None and not any(one.at == error.at for one in found):
            found.append(
                Break(static.__qualname__, None, error.at, error.what, error.why, error.hint)
            )
        if not found:
            return ConversionError("", at=None)
        listed = "".join(f"\n    {one.at}: {one.what}" for one in found)
        hints = dict.fromkeys(one.hint for one in found if one.hint)
        return ConversionError(
            f"{static.__qualname__}() runs partly as Python: no Program does all of it",
            at=found[0].at,
            why=f"what full_graph=False lets Python do is in no Program:{listed}",
            hint="\n    ".join(hints),
        )

    def warn(self, static: StaticFunction) -> None:
        """Say once how many breaks there are, after the first call that had one."""
        if self._has_warned or not self.found:
            return
        self._has_warned = True
        count, first = len(self.found), self.found[0]
        what = "a graph break" if count == 1 else f"{count} graph breaks"
        place = place_of(static.__wrapped__)
        warn_user(
            f"{static.__name__}() runs partly as Python: {what}, "
            f"{'' if count == 1 else 'the first '}at {first.at}: {first.what}. report() lists "
            "them, with reasons and cost",
            place,
        )


class Unit:
    """A function that is converted by itself, and run as Python where that is refused."""

    def __init__(self, owner: GraphBreaks, function: Any) -> None:
        """It is one of several functions if its code makes more than one."""
        self.owner, self.function = owner, function
        self._breaks: dict[Any, Break] = {}
        self._given_up: Break | None = None
        self._calls = self._tries = self._refusals = self._plain = 0
        self._has_programs = False
        # By function, where one code makes several: they differ in their cells or defaults.
        self._converted: ByIdentity[Any, StaticFunction] = ByIdentity()
        self._made: tuple[Any, Any] = (None, None)
        code = getattr(function, "__code__", None)
        self._is_direct = False
        if code is not None:
            named = [names for names in code.co_consts if type(names) is tuple]
            names = {*code.co_names, *(one for names in named for one in names)}
            self._is_direct = bool(code.co_flags & _NO_CALLS) or not _LOOKING.isdisjoint(names)

    # -- called by a function that Python runs ---------------------------------------------------

    def called(self, function: FunctionType, instance: Any = None) -> Any:
        """What to call in the place of the function, or of a method of an object."""
        units = _running.units
        is_again = any(unit is self and one is instance for unit, one in units)
        is_direct = self._is_direct or self._given_up is not None
        if not (is_direct or is_again or len(units) > _MOST_DEEP):
            static = self._static(function, instance)
            if static is not None:
                return partial(self._timed, static)
        asks = self._asking(function)
        return asks if instance is None else MethodType(asks, instance)

    def _timed(self, static: StaticFunction, /, *args: Any, **kwargs: Any) -> Any:
        self._calls += 1
        start = perf_counter()
        try:
            return static(*args, **kwargs)
        finally:
            _running.inside += perf_counter() - start

    def _static(self, function: FunctionType, instance: Any) -> StaticFunction | None:
        """The converted function; None where nobody would find it again."""
        if instance is not None and not type(instance).__weakrefoffset__:
            return None
        first, parts = self.function, ("__closure__", "__defaults__", "__kwdefaults__")
        is_bare = all(getattr(one, part) is None for one in (first, function) for part in parts)
        if is_bare and function.__globals__ is first.__globals__:
            function = first  # one is as good as the other
        static = self._converted.get(function)
        if static is None:
            static = self._converted.setdefault(function, self.owner.converted(function))
        return static if instance is None else static.__get__(instance)

    # -- a call that has no Program ---------------------------------------------------------------

    def first(self, asked: Invocation) -> Any:
        """Make a call of which no Program is known: one is traced, or Python makes it."""
        static, python = asked.static, partial(self._run, asked)
        broken, key = self._given_up, None
        if broken is None:
            key = (*static.programs.key_of(asked.args, asked.kwargs, [], []), asked.ties)
            broken = static.broken.get(key)
        if broken is not None and broken is not _ASKING_NEXT:
            return python(broken)
        self._tries += 1
        try:
            static.programs.find(asked, is_tentative=True, may_ask=bool(broken))
        except (SpecError, EngineError):  # the user has said something else of the arguments
            raise
        except AsksCaches:
            _keep(static, key, _ASKING_NEXT)
            return python(_NOTHING)
        except Exception as error:
            refusal = error
        else:
            # Trace no more what has been traced for most of its calls.
            if self._tries > _MOST_TRIES and 2 * self._tries > self._calls > 0:
                self._give_up()
            known = asked.concrete
            if known is None:
                return python(_NOTHING)  # which makes parameters for the calls that follow
            program = known.main_program
            values = [*program.block.parameters, *program.outputs] if program.operators else ()
            # One that computes numbers from numbers alone is worth nothing.
            if not self._calls or any(one.number is None for one in values):
                self._has_programs = True
                self.owner.reports[place_of(self.function)] = known.report
                return asked.made()
            static.program_cache.discard(known)  # Python needs no longer for it
            _keep(static, key, _NOTHING)
            self._plain += 1
            if self._plain == _MOST_PLAIN and not self._has_programs:
                self.owner.leave(self.function)
            return python(_NOTHING)
        broken = self._break_of(refusal)
        if not isinstance(refusal, ConversionError):
            made = python(broken)  # which may raise the same
            self._note(static, key, broken)
            return made
        self._note(static, key, broken)
        return python(broken)

    @without_own_frames
    def instead(self, asked: Invocation, error: BaseException) -> Any:
        """Let Python make a call that its Program has refused."""
        broken = self._break_of(error)
        self._add(broken)
        return self._run(asked, broken)

    def _break_of(self, error: BaseException) -> Break:
        """The break that an error is: the known one, if it is of the same place."""
        what, at = str(error).partition("\n")[0], place_of_error(error)
        if isinstance(error, ConversionError):
            what, at = error.what, error.at or at
        elif not isinstance(error, Dy2stError):
            what = f"{type(error).__name__}: {what}"
        known = self._breaks.get((at, what))
        if known is not None:
            return known
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        why, hint = getattr(error, "why", ""), getattr(error, "hint", "")
        return Break(name, place_of(self.function), at, what, why, hint)

    def _note(self, static: StaticFunction, key: Hashable, broken: Break) -> None:
        """Let Python make all calls of a key; at last all calls."""
        _keep(static, key, broken)
        self._add(broken)
        self._refusals += 1
        if self._refusals == _MOST_TRIES:
            self._given_up = broken

    def _add(self, broken: Break) -> None:
        key = broken.at, broken.what
        if self._breaks.setdefault(key, broken) is broken and broken not in self.owner.found:
            self.owner.found.append(broken)

    def _give_up(self) -> None:
        """Let Python make all calls, which are as good as new each time."""
        name, place = self.function.__qualname__, place_of(self.function)
        self._given_up = Break(
            *(name, place, place, f"{self._tries} of {self._calls} calls were traced"),
            "each comes with other values or objects, for which a Program would be made",
            "give it what changes from call to call as tensors",
        )
        self._add(self._given_up)

    # -- calls that Python makes ------------------------------------------------------------------

    def _run(self, asked: Invocation, broken: Break) -> Any:
        """Make a call by Python, and count what it costs."""
        static, units, inside = asked.static, _running.units, _running.inside
        instance = static.class_instance
        _running.units, _running.inside = (*units, (self, instance)), 0.0
        function: Any = static.__wrapped__
        is_plain = type(function) is FunctionType
        function = self._asking(function) if is_plain else self.owner[function]
        start = perf_counter()
        try:
            own = () if instance is None else (instance,)
            made = function(*own, *asked.args, **asked.kwargs)
        finally:
            broken.calls += 1
            broken.seconds += perf_counter() - start - _running.inside
            _running.units, _running.inside = units, inside
        if not any(unit.owner is self.owner for unit, _ in units):
            self.owner.warn(static)
        return made

    def _asking(self, function: FunctionType) -> FunctionType:
        """The function, which asks what to call; as it is, if that cannot be."""
        made, known = self._made
        if known is function and made.__defaults__ is function.__defaults__:
            return made  # type: ignore[no-any-return]
        try:
            made = asking(function, self.owner)
        except SourceUnavailable:
            made = function
        self._made = made, function
        return made


def _keep(static: StaticFunction, key: Hashable, broken: Break) -> None:
    if len(static.broken) >= _MOST_KEYS:
        static.broken.clear()
    static.broken[key] = broken


def place_of_error(error: BaseException) -> Location | None:
    """Where the user's code has raised an error, or called what has."""
    found, entry = None, error.__traceback__
    while entry is not None:
        is_own = is_own_file(entry.tb_frame.f_code.co_filename)
        found, entry = found if is_own else location_of(entry), entry.tb_next
    return found
