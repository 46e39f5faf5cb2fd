"""Defines Pass, FunctionPass, ModulePass, Sequential, and the decorators that make passes.

A pass is called with a Program or a Module and gives a new one; what was given stays as it is. Its
own work is done in place, on a copy that is made once a call, also of a whole Sequential. Arrays
are replaced, never written to. Between any two passes the Program satisfies the verifier; passes
that one requires run once before it, unless nothing has changed since. Python's search for garbage
pauses meanwhile: it took up to two thirds of the time.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo, names_of
from dy2st.passes.core.instrument import PassInstrument
from dy2st.passes.core.module import Module, as_module
from dy2st.passes.core.registry import order_of_required, register
from dy2st_runtime.errors import PassError, WrongKind
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.progress import shown
from dy2st_runtime.thread_state import put_back_after_errors, without_collection


class Pass:
    """From a Module to a better one that computes the same.

    A direct call runs whatever the level of the pass, unless the context disables it or an
    instrument vetoes it. It takes a Program (with the arrays of its parameters, if need be) or a
    Module, and gives a new one; `function_pass` and `module_pass` make passes of one's own.

    >>> f = dy2st.to_static(lambda x: x * (dy2st.ones([3]) + 1.0), [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> [one.name for one in f.main_program.operators], [one.name for one in better.operators]
    (['full', 'constant', 'add', 'multiply'], ['constant', 'multiply'])
    """

    info: PassInfo

    @overload
    def __call__(self, target: Program, state: Mapping[str, Any] | None = None) -> Program: ...
    @overload
    def __call__(self, target: Module, state: None = None) -> Module: ...

    @put_back_after_errors
    def __call__(self, target: Any, state: Mapping[str, Any] | None = None) -> Any:
        """The new Program or Module; the given one stays as it is.

        `state` may give arrays for the parameters of a Program. A pass that puts parameters in
        or takes them out changes the state too: call it with a Module.
        """
        context = PassContext.current()
        with without_collection():
            module = as_module(target, state)
            if not context.is_disabled(self.info.name):
                self.run(module, context)
        module.drop_unused_state()
        if isinstance(target, Module):
            return module
        if target.name not in module.programs:
            wanted = f"the pass {self.info.name} has taken out the Program {target.name!r}"
            raise PassError(f"{wanted}: call it with a Module")
        return module.programs[target.name]

    def run(self, module: Module, context: PassContext) -> None:
        """Change a Module in place, watched by the instruments of the context.

        >>> from dy2st.passes import EliminateDeadCode, Module, PassContext
        >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
        >>> module = Module({"f": f.main_program}).copy()
        >>> EliminateDeadCode().run(module, PassContext.current())
        >>> module
        Module(f of 2 operators; arrays: none)
        """
        info = self.info
        watching: list[PassInstrument] = []
        try:
            if not all([each.should_run(module, info) for each in context.instruments]):
                return
            for instrument in context.instruments:
                instrument.run_before_pass(module, info)
                watching.append(instrument)
            if not info.takes_functions:
                for name, program in module.programs.items():
                    module.programs[name] = inlined(program)
            self.transform(module, context)
            for instrument in context.instruments:
                watching.remove(instrument)
                instrument.run_after_pass(module, info)
        except BaseException as error:
            for instrument in watching:
                instrument.pass_failed(info, error)
            if sys.version_info >= (3, 11):
                error.add_note(f"in the pass {info.name}")
            raise

    def transform(self, module: Module, context: PassContext) -> None:
        """The work itself, in place.

        >>> class Nothing(dy2st.passes.Pass):
        ...     info = dy2st.passes.PassInfo("Nothing")
        ...     def transform(self, module, context):
        ...         print("seen:", *module.programs)
        >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
        >>> _ = Nothing()(dy2st.passes.Module({"f": f.main_program}))
        seen: f
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        """Its name and level."""
        return f"<{type(self).__name__} {self.info.name}, level {self.info.opt_level}>"


class ModulePass(Pass):
    """A pass that sees all Programs of a Module at once."""

    def transform(self, module: Module, context: PassContext) -> None:
        """Call `transform_module`, and take what it gives."""
        result = self.transform_module(module, context)
        if not isinstance(result, Module):
            raise WrongKind(f"the pass {self.info.name} gave {result!r:.80} and not a Module")
        module.programs, module.state = result.programs, result.state
        # What was built in stays built in, though a pass makes a Module of its own.
        module.epilogues, module.frozen = result.epilogues, module.frozen | result.frozen

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """The changed Module, which may be the given one changed in place."""
        raise NotImplementedError


class FunctionPass(Pass):
    """A pass that sees one Program at a time."""

    def transform(self, module: Module, context: PassContext) -> None:
        """Call `transform_function` for every Program."""
        for name, program in list(module.programs.items()):
            result = self.transform_function(program, module, context)
            if not isinstance(result, Program):
                raise WrongKind(f"the pass {self.info.name} gave {result!r:.80} and not a Program")
            module.programs[name] = result

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The changed Program, which may be the given one changed in place."""
        raise NotImplementedError


class Sequential(Pass):
    """Passes one after the other.

    A member runs if the context wants it; what it requires runs before it, once, unless nothing
    has changed since that last ran. Raises ArgumentError for a cycle of required passes and for
    names that nothing is registered by.

    >>> Sequential([]).info.name
    'sequential'
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] = (),
    ):
        """Keep the passes; they may be Sequentials themselves."""
        for entry in passes:
            if not isinstance(entry, Pass):
                raise WrongKind(f"a Sequential is made of passes, not {entry!r:.80}")
        self.passes = list(passes)
        wanted = names_of(required, "required passes")
        self.info = PassInfo(name, opt_level, wanted, takes_functions=True)

    def transform(self, module: Module, context: PassContext) -> None:
        """Run the members."""
        standing: set[str] = set()
        for member in shown(self.passes, f"running {self.info.name}"):
            if not context.wants(member.info.name, member.info.opt_level):
                continue
            for required in order_of_required(member.info):
                name = required.info.name
                if name not in standing and not context.is_disabled(name):
                    _run_next(required, module, context, standing)
            _run_next(member, module, context, standing)


def _run_next(member: Any, module: Module, context: PassContext, standing: set[str]) -> None:
    if not isinstance(member, Sequential):
        limit = context.option("bisect")
        if 0 <= limit <= context.count:
            return
        context.count += 1
    member.run(module, context)
    if member.info.changes:
        standing.clear()
    standing.add(member.info.name)


# -- decorators -----------------------------------------------------------------------------------


def function_pass(
    *, opt_level: int, name: str | None = None, required: Sequence[str] = (), **facts: Any
) -> Callable[[Any], Any]:
    """Make a FunctionPass of a function (program, module, context) or of a class.

    A class has a method `transform_function`; its constructor's arguments stay its own. The pass
    is registered under its name. Raises TypeError if `required` is no list or tuple.

    >>> @function_pass(opt_level=1, name="DoNothing")
    ... def nothing(program, module, context):
    ...     return program
    >>> nothing.info  # doctest: +NORMALIZE_WHITESPACE
    PassInfo(name='DoNothing', opt_level=1, required=(), traceable=True, changes=True,
             takes_functions=False)
    """
    return _decorator(FunctionPass, "transform_function", opt_level, name, required, facts)


def module_pass(
    *, opt_level: int, name: str | None = None, required: Sequence[str] = (), **facts: Any
) -> Callable[[Any], Any]:
    """Make a ModulePass of a function (module, context) or of a class with `transform_module`.

    >>> @dy2st.passes.module_pass(opt_level=1, name="CountPrograms")
    ... def count(module, context):
    ...     print(len(module.programs))
    ...     return module
    >>> _ = count(dy2st.passes.Module({}))
    0
    """
    return _decorator(ModulePass, "transform_module", opt_level, name, required, facts)


def CreateFunctionPass(
    pass_func: Callable[[Program, Module, PassContext], Program],
    opt_level: int,
    name: str,
    required: Sequence[str] = (),
    traceable: bool = False,
) -> Pass:
    """`function_pass` under TVM's name: a pass of a function, registered under `name`.

    >>> made = dy2st.passes.CreateFunctionPass(lambda program, *_: program, 1, "Same")
    >>> made.info.name, made.info.opt_level
    ('Same', 1)
    """
    given = function_pass(opt_level=opt_level, name=name, required=required, traceable=traceable)
    made: Pass = given(pass_func)
    return made


def CreateModulePass(
    pass_func: Callable[[Module, PassContext], Module],
    opt_level: int,
    name: str,
    required: Sequence[str] = (),
    traceable: bool = False,
) -> Pass:
    """`module_pass` under TVM's name: a pass of a function, registered under `name`.

    >>> made = dy2st.passes.CreateModulePass(lambda module, context: module, 1, "SameModule")
    >>> made.info.name, made.info.opt_level
    ('SameModule', 1)
    """
    given = module_pass(opt_level=opt_level, name=name, required=required, traceable=traceable)
    made: Pass = given(pass_func)
    return made


def _decorator(
    base: type[Pass],
    method: str,
    opt_level: int,
    name: str | None,
    required: Sequence[str],
    facts: Mapping[str, Any],
) -> Callable[[Any], Any]:
    if not isinstance(required, (list, tuple)):
        raise WrongKind(f"`required` is a list or tuple of names, not {required!r}")

    def decorate(subject: Any) -> Any:
        info = PassInfo(name or subject.__name__, opt_level, tuple(required), **facts)
        if inspect.isclass(subject):
            if not hasattr(subject, method):
                raise WrongKind(f"the class {subject.__name__} has no method {method}")
            if issubclass(subject, base):
                subject.info = info
                register(info.name, subject)
                return subject
            members: dict[str, Any] = {
                "info": info,
                "__doc__": subject.__doc__,
                "__module__": subject.__module__,
            }
            made = type(subject.__name__, (subject, base), members)
            made.__qualname__ = subject.__qualname__
            register(info.name, made)
            return made
        members = {
            "info": info,
            method: staticmethod(subject),
            "__doc__": subject.__doc__,
            "__module__": subject.__module__,
        }
        made = type(subject.__name__, (base,), members)
        register(info.name, made)
        instance: Pass = made()
        return instance

    return decorate


__all__ = [
    "CreateFunctionPass",
    "CreateModulePass",
    "FunctionPass",
    "ModulePass",
    "Pass",
    "Sequential",
    "function_pass",
    "module_pass",
]
