"""Every error that dy2st raises on purpose, and the one way in which refusals are worded.

    Dy2stError
    ├── ShapeError (ValueError)            sizes or ranks that do not fit
    │   └── UndecidedDim (TypeError)       a symbolic size is needed as a Python number or bool
    ├── DTypeError (TypeError)             element types that do not fit
    ├── ArgumentError (ValueError)         an argument outside what an operator or a call accepts
    │   ├── NoTensor (TypeError)           an argument that is no tensor and cannot be made one
    │   └── WrongKind (TypeError)          no flag, number or axis where one is needed
    ├── MissingAttribute (AttributeError)  a name that a tensor, Layer or module does not have
    ├── PlaceError (IndexError)            a position that a tensor does not have
    ├── MatrixError (LinAlgError)          no inverse or factors: it stands in `ir/kernel_errors.py`
    ├── SpecError (ValueError)             inputs that do not match their InputSpec
    ├── ConversionError (RuntimeError)     user code that has no exact static form
    │   ├── NotConvertible (TypeError)     to_static of what is no Python function, method or Layer
    │   ├── UnsupportedSyntax              a construct that is not converted
    │   ├── BranchMismatch (TypeError)     branches of an `if` that disagree
    │   ├── LoopMismatch (TypeError)       a loop variable that changes its kind
    │   ├── TensorAsPython (TypeError)     a tensor where a Python value is needed
    │   ├── EscapedVariable                a value used outside the branch or loop that made it
    │   ├── StateMade                      a parameter or buffer that a call makes
    │   └── SourceUnavailable (OSError)    a function without readable source
    ├── VerifyError (ValueError)           a Program that breaks an invariant
    ├── PassError (RuntimeError)           a pass or rule that would break a Program, or never ends
    ├── ParseError (ValueError)            text that is no Program
    ├── FormatError (ValueError)           a saved file that is damaged, foreign or too new
    │   └── ParameterMismatch (KeyError)   parameters missing from, or unknown to, a Program
    ├── EngineError (RuntimeError)         an engine that cannot compile a Program
    ├── OperandChanged (RuntimeError)      a tensor that another thread changes during a call
    ├── LimitExceeded (RuntimeError)        a loaded model that takes more than its limits
    ├── WorkerError (RuntimeError)         a process of a DataLoader that failed, died or hangs
    ├── PeerError (RuntimeError)           processes that work together, and one is gone or differs
    │   └── PeerTimeout (TimeoutError)     one that does not come, or hangs
    └── FileAccessError (OSError)          a file that the disk does not let us read or write
        └── MissingFile (FileNotFoundError)    a file or folder that is not there

Broken invariants of dy2st itself are plain `AssertionError`s.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from types import EllipsisType

from dy2st_runtime.thread_state import ThreadState

__all__ = [
    "ArgumentError",
    "BranchMismatch",
    "ConversionError",
    "DTypeError",
    "Dy2stError",
    "EngineError",
    "EscapedVariable",
    "FileAccessError",
    "FormatError",
    "LimitExceeded",
    "Location",
    "LoopMismatch",
    "MissingAttribute",
    "MissingFile",
    "NoGradientRule",
    "NoTensor",
    "NotConvertible",
    "OperandChanged",
    "ParameterMismatch",
    "ParseError",
    "PassError",
    "PeerError",
    "PeerTimeout",
    "PlaceError",
    "ShapeError",
    "SourceUnavailable",
    "SpecError",
    "StateMade",
    "TensorAsPython",
    "UndecidedDim",
    "UnknownOperators",
    "UnsupportedSyntax",
    "VerifyError",
    "WorkerError",
    "WrongKind",
    "counted",
    "did_you_mean",
    "nearest",
]


def __dir__() -> list[str]:
    return __all__


def _cell(file: str) -> str:
    """`cell 3`, "" for what no cell was compiled as."""
    if "ipykernel" in file:  # a file of its own for each cell, whose number the compiler knows
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    else:
        number = file[len(_CELL) :].partition("-")[0] if file.startswith(_CELL) else None
    return "" if number is None else f"cell {number}"


_CELL = "<ipython-input-"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source: file, line from 1, column from 1 (0 when it is not known).

    `is_text`: it was read from a text, so the file is a name alone and is never opened.
    `layer`: the path of the Layer whose code ran there, `layers.0.conv1`; empty outside of all.

    >>> place = dy2st.errors.Location("model.py", 31, 9)
    >>> print(place, place.traced_file)
    model.py:31:9 model.py
    """

    file: str
    line: int
    column: int = 0
    is_text: bool = field(default=False, compare=False, repr=False)
    layer: str = field(default="", compare=False, repr=False)

    @property
    def file_name(self) -> str:
        """The file without its folder, of this or another system.

        >>> Location("models/net.py", 3).file_name
        'net.py'
        """
        return _cell(self.file) or self.file.replace("\\", "/").rpartition("/")[2]

    @property
    def shown_file(self) -> str:
        """The file as messages name it: `cell 3` is what IPython and notebooks ran as `In [3]`.

        >>> Location("net.py", 3).shown_file, Location("<ipython-input-7-c0de>", 2).shown_file
        ('net.py', 'cell 7')
        """
        return _cell(self.file) or self.file

    @property
    def traced_file(self) -> str:
        """The file for tracebacks; Python never opens what stands in angle brackets."""
        if not self.is_text:
            return self.file
        return f"<{self.file.encode('utf-8', 'backslashreplace').decode('utf-8')}>"

    def __str__(self) -> str:
        """`model.py:31:9`, or `model.py:31` without a column."""
        place = f"{self.shown_file}:{self.line}"
        return f"{place}:{self.column}" if self.column else place


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is written nearly like this one, in small or capital letters.

    >>> nearest("Nmupy", ["numpy", "native"])
    'numpy'
    """
    names = {entry.lower(): entry for entry in known}
    # Loading it takes long, and most processes make no such error.
    near = import_module("difflib").get_close_matches(name.lower(), names, n=1, cutoff=cutoff)
    return names[near[0]] if near else None


def counted(count: object, noun: str) -> str:
    """How many there are, in words.

    >>> counted(1, "buffer"), counted(0, "buffer"), counted(2, "buffer")
    ('1 buffer', '0 buffers', '2 buffers')
    """
    # A size that only the run knows decides nothing here.
    is_one = isinstance(count, int) and count == 1
    return f"{count} {noun}{'' if is_one else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for a name that is nearly known, else what is known.

    >>> did_you_mean("nmupy", ["numpy", "native"]), did_you_mean("x", ["numpy", "native"])
    ("; did you mean 'numpy'?", '; there are native, numpy')
    """
    names = list(known)
    near = nearest(name, names)
    return (
        f"; did you mean {near!r}?" if near else f"; there are {', '.join(sorted(names)) or 'none'}"
    )


class Dy2stError(Exception):
    """The root: catch this to catch whatever dy2st refuses.

    >>> try:
    ...     dy2st.ones([2]) + dy2st.ones([3])
    ... except dy2st.errors.Dy2stError as error:
    ...     print(type(error).__name__)
    ShapeError
    """


class ShapeError(Dy2stError, ValueError):
    """Sizes or ranks do not fit an operator.

    >>> try:
    ...     dy2st.ones([2]) + dy2st.ones([3])
    ... except dy2st.errors.ShapeError:
    ...     print("2 and 3 do not broadcast")
    2 and 3 do not broadcast
    """


class UndecidedDim(ShapeError, TypeError):
    """A symbolic size is asked for a Python number or a bool that it does not have.

    >>> try:
    ...     int(dy2st.dims.symbol("n"))
    ... except dy2st.errors.UndecidedDim:
    ...     print("n is known when the Program runs")
    n is known when the Program runs
    """

    def __init__(self, *args: object):
        """A refusal, though nobody words its parts."""
        super().__init__(*args)
        _notify(self)


class DTypeError(Dy2stError, TypeError):
    """Element types do not fit an operator.

    >>> try:
    ...     dy2st.gcd(dy2st.ones([1]), dy2st.ones([1]))
    ... except dy2st.errors.DTypeError:
    ...     print("floats have no gcd")
    floats have no gcd
    """


class ArgumentError(Dy2stError, ValueError):
    """An argument lies outside what an operator or a call accepts.

    >>> try:
    ...     dy2st.nn.functional.mse_loss(dy2st.ones([1]), dy2st.ones([1]), reduction="median")
    ... except dy2st.errors.ArgumentError:
    ...     print("there is no such reduction")
    there is no such reduction
    """


class NoTensor(ArgumentError, TypeError):
    """What stands where a tensor is needed is none, and no number, list or array to make it of.

    >>> try:
    ...     dy2st.abs("1.0")
    ... except dy2st.errors.NoTensor:
    ...     print("a text is no tensor")
    a text is no tensor
    """


class WrongKind(ArgumentError, TypeError):
    """What stands where a flag, a number, an axis or a size is needed is something else.

    >>> try:
    ...     dy2st.sum(dy2st.ones([2]), keepdim="yes")
    ... except dy2st.errors.WrongKind:
    ...     print("keepdim is True or False")
    keepdim is True or False
    """


class MissingAttribute(Dy2stError, AttributeError):
    """A tensor, a Layer or a module has nothing of that name; its text says which one is near.

    >>> try:
    ...     dy2st.nn.Linear(2, 3).wieght
    ... except dy2st.errors.MissingAttribute as error:
    ...     print(error)
    'Linear' object has no attribute 'wieght'; did you mean 'weight'?
    """

    def __init__(self, reason: str, *, name: str = "", known: Callable[[], Iterable[str]] = tuple):
        """Take the reason, and what gives the names that there are."""
        super().__init__(reason)
        self.name, self._known = name, known

    def __str__(self) -> str:
        """The reason; a name is looked for when somebody reads it: `hasattr` is to be fast."""
        public = (one for one in self._known() if not one.startswith("_"))
        name = self.name or "_"
        near = None if name.startswith("_") else nearest(name, public, cutoff=0.7)
        return f"{self.args[0]}; did you mean {near!r}?" if near else str(self.args[0])

    def __reduce__(self) -> tuple[type[MissingAttribute], tuple[str]]:
        """Its text alone: what lacks the attribute may be large."""
        return type(self), (str(self),)


class PlaceError(Dy2stError, IndexError):
    """An operator is asked for a position that a tensor does not have.

    >>> try:
    ...     dy2st.ones([2])[5]
    ... except dy2st.errors.PlaceError:
    ...     print("there are 2 elements")
    there are 2 elements
    """


class DivisionByZero(Dy2stError, ZeroDivisionError):
    """An integer is divided by 0."""


class SpecError(Dy2stError, ValueError):
    """Inputs of a call do not match the InputSpec of the Program.

    >>> spec = dy2st.static.InputSpec([None, 2])
    >>> f = dy2st.to_static(lambda x: x * 2, input_spec=[spec])
    >>> try:
    ...     f(dy2st.ones([3, 5]))
    ... except dy2st.errors.SpecError:
    ...     print("the second size is 2")
    the second size is 2
    """


class _Listener(ThreadState):
    hear: Callable[[Dy2stError], None] | None = None


# Hears of every refusal while a function is traced: user code may catch one, and would go on.
listener = _Listener()


def _notify(refusal: Dy2stError) -> None:
    if listener.hear is not None:
        listener.hear(refusal)


class ConversionError(Dy2stError, RuntimeError):
    """User code has no exact static form.

    The message has four parts: where, what, why, and what to write instead.

    >>> error = dy2st.errors.ConversionError("a tensor as a key", at=None, hint="use an int")
    >>> print(error)
    a tensor as a key
      instead: use an int
    """

    # Finds the line of the user's that runs; `ir/location.py` does it.
    _here: Callable[[], Location | None] = staticmethod(lambda: None)

    def __init__(
        self,
        what: str,
        *,
        at: Location | EllipsisType | None = ...,
        why: str = "",
        hint: str = "",
    ):
        """Word the refusal from its parts and keep them; without `at` it is the user's line."""
        at = self._here() if at is ... else at
        self.what, self.at, self.why, self.hint = what, at, why, hint
        lines = [f"{at}: {what}" if at else what]
        if why:
            lines.append(f"  because: {why}")
        if hint:
            lines.append(f"  instead: {hint}")
        super().__init__("\n".join(lines))
        _notify(self)


class NotConvertible(ConversionError, TypeError):
    """What is given to to_static is no Python function, method or Layer.

    >>> try:
    ...     dy2st.to_static(7)
    ... except dy2st.errors.NotConvertible:
    ...     print("7 is no function")
    7 is no function
    """


class UnsupportedSyntax(ConversionError):
    """A construct of Python that dy2st does not convert.

    >>> issubclass(dy2st.errors.UnsupportedSyntax, dy2st.errors.ConversionError)
    True
    """


class BranchMismatch(ConversionError, TypeError):
    """The branches of a tensor-dependent `if` give values of different kinds.

    >>> def f(x):
    ...     return dy2st.ops.cond(x.sum() > 0, lambda: [x], lambda: [x.astype("int64")])
    >>> try:
    ...     dy2st.to_static(f)(dy2st.ones([2]))
    ... except dy2st.errors.BranchMismatch:
    ...     print("a float and an integer")
    a float and an integer
    """


class LoopMismatch(ConversionError, TypeError):
    """A variable of a tensor-dependent loop changes its kind between iterations.

    >>> def f(x):
    ...     while x.sum() < 10:
    ...         x = (x,)
    ...     return x
    >>> try:
    ...     dy2st.to_static(f)(dy2st.ones([2]))
    ... except dy2st.errors.LoopMismatch:
    ...     print("a tensor becomes a tuple")
    a tensor becomes a tuple
    """


class TensorAsPython(ConversionError, TypeError):
    """A traced tensor stands where a Python value is needed.

    >>> try:
    ...     dy2st.to_static(lambda x: x.numpy())(dy2st.ones([2]))
    ... except dy2st.errors.TensorAsPython:
    ...     print("its numbers are known when the Program runs")
    its numbers are known when the Program runs
    """


class EscapedVariable(ConversionError):
    """A traced value is used outside the branch, loop or trace that made it.

    >>> issubclass(dy2st.errors.EscapedVariable, dy2st.errors.ConversionError)
    True
    """


class StateMade(ConversionError):
    """A parameter or buffer is made while a function is traced.

    `is_chosen`: a tensor has decided whether it is made.

    >>> dy2st.errors.StateMade("a parameter is made").is_chosen
    False
    """

    def __init__(self, what: str, *, at: Location | EllipsisType | None = ..., hint: str = ""):
        """Say where, and what to write instead."""
        why = "a Program reads parameters and buffers that are there when it is traced"
        super().__init__(what, at=at, why=why, hint=hint)
        self.is_chosen = False


class NoGradientRule(ConversionError):
    """A gradient goes through an operator whose gradient is no part of a Program.

    >>> issubclass(dy2st.errors.NoGradientRule, dy2st.errors.ConversionError)
    True
    """


class SourceUnavailable(ConversionError, OSError):
    """A function has no source that can be read.

    >>> scope = {}
    >>> exec("def f(x): return x * 2", scope)
    >>> try:
    ...     dy2st.to_static(scope["f"])(dy2st.ones([2]))
    ... except dy2st.errors.SourceUnavailable:
    ...     print("write it into a file")
    write it into a file
    """


class VerifyError(Dy2stError, ValueError):
    """A Program breaks an invariant; `findings` lists all that was found.

    >>> dy2st.errors.VerifyError(["%1 is used before it is made"]).findings
    ['%1 is used before it is made']
    """

    def __init__(self, findings: list[str], text: str = ""):
        """Keep the findings; `text` shows them where they are, else they stand one a line."""
        self.findings = findings
        super().__init__(text or "\n".join(findings))


class PassError(Dy2stError, RuntimeError):
    """A pass or rule would break a Program, or does not come to an end.

    >>> issubclass(dy2st.errors.PassError, RuntimeError)
    True
    """


class ParseError(Dy2stError, ValueError):
    """A text is no Program; the message names line and column, from 1, where they are known.

    They are attributes too, 0 where they are not known.

    >>> try:
    ...     dy2st.dims.parse("2*n + + 1", {"n": dy2st.dims.symbol("n")})
    ... except dy2st.errors.ParseError:
    ...     print("no size is written so")
    no size is written so
    """

    line = column = 0


class UnknownOperators(Dy2stError, NotImplementedError):
    """A model of another tool has operators that are not read; the message names all of them.

    >>> issubclass(dy2st.errors.UnknownOperators, NotImplementedError)
    True
    """


class FormatError(Dy2stError, ValueError):
    """A saved file is damaged, truncated, foreign or written by a newer version.

    >>> issubclass(dy2st.errors.FormatError, ValueError)
    True
    """


class ParameterMismatch(FormatError, KeyError):
    """Parameters are missing from, or unknown to, the Program that is given them.

    >>> from dy2st_runtime.io import check_state
    >>> net = dy2st.to_static(dy2st.nn.Linear(2, 1))
    >>> y = net(dy2st.ones([1, 2]))
    >>> try:
    ...     check_state([net.forward.main_program], {}, "net")
    ... except dy2st.errors.ParameterMismatch:
    ...     print("weight and bias are missing")
    weight and bias are missing
    """

    def __str__(self) -> str:
        """Return the message itself: KeyError would quote it."""
        return str(self.args[0]) if self.args else ""


class EngineError(Dy2stError, RuntimeError):
    """An engine cannot compile or run a Program: its own fault, which others may not have.

    >>> issubclass(dy2st.errors.EngineError, RuntimeError)
    True
    """


class OperandChanged(Dy2stError, RuntimeError):
    """Another thread has changed a tensor while an operator read it.

    >>> issubclass(dy2st.errors.OperandChanged, RuntimeError)
    True
    """


class LimitExceeded(Dy2stError, RuntimeError):
    """A loaded model takes more operators, bytes or seconds than its limits allow.

    >>> issubclass(dy2st.errors.LimitExceeded, RuntimeError)
    True
    """


class WorkerError(Dy2stError, RuntimeError):
    """A process that makes batches for a DataLoader failed, died or gave nothing in time.

    >>> issubclass(dy2st.errors.WorkerError, RuntimeError)
    True
    """


class PeerError(Dy2stError, RuntimeError):
    """Of processes that work together one is gone, or does something else than the others.

    >>> issubclass(dy2st.errors.PeerError, RuntimeError)
    True
    """


class PeerTimeout(PeerError, TimeoutError):
    """A process has not come, or not answered, in time.

    >>> issubclass(dy2st.errors.PeerTimeout, TimeoutError)
    True
    """


class FileAccessError(Dy2stError, OSError):
    """The disk refuses: no space, no permission; `filename` says where, `errno` why.

    >>> issubclass(dy2st.errors.FileAccessError, OSError)
    True
    """


class MissingFile(FileAccessError, FileNotFoundError):
    """A file or folder is not there.

    >>> try:
    ...     dy2st.load("no/such/file.pdparams")
    ... except dy2st.errors.MissingFile:
    ...     print("there is none")
    there is none
    """
