"""The ways to run an entry other than as it is, and what came of it."""

from __future__ import annotations

import importlib.util
import inspect
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import dy2st
from dy2st import jit
from dy2st.errors import Dy2stError, ParseError, PassError, VerifyError
from dy2st.jit import StaticFunction, to_static
from dy2st.transpiler.lower import traced_form
from tests.dy2st.catalogue.comparing import CLOSE, Seen, called, difference, kinds_of, seen
from tests.dy2st.catalogue.entry import Call, Case, Entry
from tests.dy2st.catalogue.not_yet import NOT_YET
from tests.dy2st.transpiler.plain_protocol import PLAIN
from tests.effort import IS_FEW, effort

Function = Callable[..., Any]
Spec = list[Any] | None


def in_traced_form(function: Any, _: Spec) -> Function:
    """The traced form, with a protocol that does what Python does: no Program is made."""
    return traced_form(function).bind(PLAIN, function)


def program(function: Any, spec: Spec) -> Function:
    """One Program, on the engine of NumPy."""
    return to_static(function, input_spec=spec)


def in_native_code(function: Any, spec: Spec) -> Function:
    """One Program as machine code."""
    return to_static(function, input_spec=spec, engine="native")


def on_xla(function: Any, spec: Spec) -> Function:
    """One Program that XLA runs."""
    return to_static(function, input_spec=spec, engine="xla")


def on_onnx(function: Any, spec: Spec) -> Function:
    """One Program that onnxruntime runs, as the model of ONNX that it is exported as."""
    return to_static(function, input_spec=spec, engine="onnxruntime")


def in_another_function(function: Any, spec: Spec) -> Function:
    """One Program of another function, which calls the converted one after work of its own."""
    inner = to_static(function)

    def outer(*arguments: Any) -> Any:
        before = dy2st.to_tensor([1.0]) + len(arguments)
        return before, inner(*arguments)

    static = to_static(outer, input_spec=spec)
    return lambda *arguments: static(*arguments)[1]


def after_inference_passes(function: Any, spec: Spec) -> Function:
    """One Program that the passes of inference have changed."""
    return to_static(function, input_spec=spec, build_strategy="inference")


def from_a_file(function: Any, spec: Spec) -> Function:
    """One Program, written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        jit.save(to_static(function, input_spec=spec), path)
        loaded = jit.load(path, mmap=False)
    return lambda *arguments: loaded(*(a for a in arguments if isinstance(a, dy2st.Tensor)))


def with_breaks(function: Any, spec: Spec) -> Function:
    """Programs of what can be converted; what is refused runs as Python."""
    static = to_static(function, input_spec=spec, full_graph=False)
    return lambda *arguments: static(*arguments)


def below_a_break(function: Any, _: Spec) -> Function:
    """As above, called by a function that runs as Python, since it opens a file."""

    def outer(*arguments: Any) -> Any:
        with open(os.devnull):
            return function(*arguments)

    static = to_static(outer, full_graph=False)
    return lambda *arguments: static(*arguments)


WAYS: dict[str, Callable[[Any, Spec], Function]] = {
    way.__name__: way
    for way in (
        *(in_traced_form, program, in_native_code, on_xla, on_onnx),
        *(in_another_function, after_inference_passes, from_a_file),
        *(with_breaks, below_a_break),
    )
}
WITH_BREAKS = ("with_breaks", "below_a_break")  # what is refused else is not refused here
_ONE_IN = effort(64, 6)
HAS_NATIVE = importlib.util.find_spec("llvmlite") is not None


def cases_of(entry: Entry) -> list[Case]:
    """The cases of an entry: all that say something of it."""
    ways = [way for way in WAYS if _says_something(entry, way)]
    sizes = [False] if entry.unknown is None else [False, True]
    return [
        Case(entry, way, is_unknown)
        for way in ways
        for is_unknown in (sizes if way != "in_traced_form" else [False])
    ]


def _says_something(entry: Entry, way: str) -> bool:
    if way == "in_traced_form":
        return isinstance(entry.function, FunctionType) and (
            entry.is_of_values or bool(entry.construct)
        )
    if entry.is_of_values:  # a Program of nothing but constants
        is_generator = inspect.isgeneratorfunction(entry.function)  # it gives back a generator
        return way in ("program", "in_another_function") and not is_generator
    return way not in ("from_a_file", "below_a_break") or not entry.makes


def is_drawn(case: Case) -> bool:
    """Whether an ordinary run has the case: all plain ones, and always the same share of others.

    Of a Program for known sizes a quarter runs where there is one for unknown sizes.
    """
    draw = zlib.crc32(case.name.encode())
    if IS_FEW and case.entry.theme.startswith("model_code.") and draw % 4:
        return False
    is_plain = case.way == ("in_traced_form" if case.entry.is_of_values else "program")
    is_plain |= case.way == "in_traced_form"
    # What is refused as a whole is the reason for this way.
    is_broken = case.entry.refused is not None or case.of_program in NOT_YET
    is_plain |= case.way == "with_breaks" and is_broken and not case.is_unknown
    if case.way == "program" and case.entry.unknown is not None and not case.is_unknown:
        is_plain = draw % effort(8, 1) == 0
    if case.way in ("on_xla", "on_onnx") or (case.way == "in_native_code" and not HAS_NATIVE):
        return False  # slow: tests/dy2st/jit/test_on_xla.py and .../targets/onnx draw their own
    return is_plain or draw % _ONE_IN == 0


class Verdict(NamedTuple):
    """`equal`, `refused`, `different` or `error`, and what is to be said of it."""

    kind: str
    says: str = ""
    error: BaseException | None = None

    def is_meant(self, case: Case) -> bool:
        """Whether it is refused in this way alone: no file holds it, or it changes its arguments."""
        if case.way == "from_a_file":
            return any(words in self.says for words in NO_FILE)
        return self.kind == "refused" and case.entry.is_of_values


NO_FILE = (
    "a Program alone cannot give back",
    "its Program alone does not",
    "a variable outside of it",
    "RuntimeError: ",  # what the class of an exception of the user's becomes
)


class Ended(Exception):
    """The way raises what Python does not: `refused` where dy2st means it, else an `error`."""

    def __init__(self, error: BaseException) -> None:
        internal = (VerifyError, PassError, ParseError)
        is_meant = isinstance(error, Dy2stError) and not isinstance(error, internal)
        says = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        self.verdict = Verdict("refused" if is_meant else "error", says, error)


def verdict(case: Case) -> Verdict:
    """Run both ways and compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [_by_python(case, calls) for calls in case.groups()]
        kinds = kinds_of([one for ones in wanted for one in ones])
        for calls, ones in zip(case.groups(), wanted):
            said = _of_group(case, calls, ones, kinds)
            if said.kind != "equal":
                return said
    return Verdict("equal")


def _by_python(case: Case, calls: list[Call]) -> list[Seen]:
    function, state = case.entry.made()
    return [_outcome(case, function, state, call) for call in calls]


def _of_group(
    case: Case, calls: list[Call], wanted: list[Seen], kinds: dict[str, set[str]]
) -> Verdict:
    """What comes of calls in a row."""
    function, state = case.entry.made()
    close = 0.0 if case.entry.is_of_values or case.way == "in_traced_form" else CLOSE
    try:
        run = WAYS[case.way](function, case.spec(calls[0]))
    except Exception as error:
        return Ended(error).verdict
    for number, (call, one) in enumerate(zip(calls, wanted)):
        try:
            found = _outcome(case, run, state, call, one)
        except Ended as end:
            return end.verdict
        said = difference(one, found, kinds, close=close)
        if said:
            return Verdict("different", f"call {number}: {said}")
    has_result = not all(one.parts["raised"].data for one in wanted)
    return _of_programs(case, run, has_result)


def _of_programs(case: Case, run: Any, has_result: bool) -> Verdict:
    """Whether there is one Program (or none, if its trace always raises), and its sizes show."""
    if not isinstance(run, StaticFunction):
        return Verdict("equal")
    is_any = case.entry.is_of_values or case.entry.has_state()
    if not (is_any or has_result <= len(run.program_cache) <= 1):
        return Verdict("different", f"{len(run.program_cache)} Programs for one InputSpec")
    last = run.program_cache.last()
    for size in [size for v in last.inputs for size in v.shape] if last is not None else []:
        try:
            str(size)
        except TypeError as error:  # it would be so for all later Programs of the process
            return Verdict("error", f"a size of an argument has no text any more: {error}")
    return Verdict("equal")


def _outcome(
    case: Case, function: Function, state: Any, call: Call, wanted: Seen | None = None
) -> Seen:
    """What a call gives or raises and prints, its arguments after it, and the state."""
    dy2st.seed(3)
    result, printed = called(function, call)
    is_raised = isinstance(result, BaseException)
    if wanted is not None and is_raised and type(result).__name__ != wanted.parts[""].kind:
        raise Ended(result) from result
    parts = {
        "": seen(result, is_chain=case.way == "in_traced_form"),
        "raised": seen(is_raised),
        "printed": seen(printed),
        "arguments": seen(call),
        "state": seen(None if case.way == "from_a_file" else state),
    }
    return Seen("call", parts)
