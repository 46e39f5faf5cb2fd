"""FreezeParameters and LiftConstants: parameters become constants, and large constants parameters.

FreezeParameters:   ^bb0(%x, %w):               =>  ^bb0(%x):
                    %0 = matmul(%x, %w)             %w = constant() {value = ...}
                                                    %0 = matmul(%x, %w)

Passes fold constants only. The first lets them fold what is made of parameters, too; the second
gives the arrays back their place beside the Program, so that its text stays short and saved arrays
are not written as text. Buffers that the Program updates stay what they are.
"""

from __future__ import annotations

from dy2st.passes.core.base import ModulePass, module_pass
from dy2st.passes.core.capture import captured, paths_of
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_operator, replace_values
from dy2st.passes.core.module import Array, Module
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Block, Operator, Program, TensorType, Variable


@module_pass(opt_level=0)
class FreezeParameters(ModulePass):
    """Parameters and buffers whose arrays are known become constants, of the same names.

    Raises ArgumentError for an array of another shape or dtype than the Program has.

    >>> net = dy2st.to_static(dy2st.nn.Linear(3, 2), [dy2st.static.InputSpec(["n", 3])])
    >>> arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    >>> module = dy2st.passes.Module({"forward": net.forward.main_program}, arrays)
    >>> list(dy2st.passes.FreezeParameters()(module).programs["forward"].parameters)
    []
    """

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """The Module with constants in place of parameters."""
        for program in module.programs.values():
            constants: list[Operator] = []
            replaced: dict[Variable, Variable] = {}
            for table in (program.parameters, program.buffers):
                for name, variable in list(table.items()):
                    if name not in module.state or name in program.updates:
                        continue
                    if not _has_type_of(variable, module.state[name], name):
                        continue
                    operator = constant_operator(program.block, module.state[name], variable)
                    module.frozen.add(name)
                    constants.append(operator)
                    replaced[variable] = operator.results[0]
                    program.drop_state(name)
            replace_values(program.block, replaced)
            program.block.operators[:0] = constants
            program.block.parameters = [*program.inputs, *program.state.values()]
            for block in blocks_of(program):
                localise_constants(block)
        return module


def _has_type_of(variable: Variable, array: Array, name: str) -> bool:
    """Whether a constant may stand for a parameter: not, if a size of that is a symbol."""
    type = variable.tensor_type
    if any(isinstance(size, Dim) for size in type.shape):
        return False
    if type != TensorType(array.dtype, array.shape):
        found = f"{array.dtype}{list(array.shape)}"
        raise ArgumentError(
            f"the array of {name!r} is {found}, the Program has {type.dtype}{list(type.shape)}"
        )
    return True


def localise_constants(block: Block) -> None:
    """Make constants again in the Blocks of operators that take them, where patterns see them."""
    for operator in block.operators:
        if operator.blocks:
            before = 1 if operator.name == "cond" else 0
            carried = 0 if operator.name == "cond" else len(operator.results)
            found: dict[Block, list[Operator]] = {inner: [] for inner in operator.blocks}
            for index, operand in enumerate(operator.operands[before:]):
                maker = operand.maker
                if index < carried or not isinstance(maker, Operator) or maker.name != "constant":
                    continue
                for inner in operator.blocks:
                    made = constant_operator(inner, maker.attributes["value"], operand)
                    replace_values(inner, {inner.parameters[index]: made.results[0]})
                    found[inner].append(made)
            for inner, constants in found.items():
                inner.operators[:0] = constants


@module_pass(opt_level=0)
class LiftConstants(ModulePass):
    """Constants of more than `largest_inline` elements become parameters.

    >>> f = dy2st.to_static(lambda x: x + dy2st.arange(20.0), [dy2st.static.InputSpec([20])])
    >>> folded = dy2st.passes.FoldConstant()(f.main_program)
    >>> module = dy2st.passes.LiftConstants()(dy2st.passes.Module({"f": folded}))
    >>> [array.shape for array in module.state.values()]
    [(20,)]
    """

    def __init__(self, largest_inline: int = 16):
        """Choose what stays in the text."""
        self.largest_inline = largest_inline

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """The Module with parameters in place of large constants."""
        module.drop_unused_state()
        named = {id(array): name for name, array in module.state.items()}
        for program in module.programs.values():
            lifted: dict[int, Variable] = {}
            for block, path in paths_of(program):
                replaced: dict[Variable, Variable] = {}
                for operator in block.operators:
                    array = (
                        operator.attributes.get("value") if operator.name == "constant" else None
                    )
                    if array is None or array.size <= self.largest_inline:
                        continue
                    if id(array) not in lifted:
                        lifted[id(array)] = _parameter(program, operator, module, named)
                    replaced[operator.results[0]] = captured(lifted[id(array)], path)
                replace_values(block, replaced)
                block.operators[:] = [
                    o for o in block.operators if replaced.keys().isdisjoint(o.results)
                ]
            program.block.parameters = [*program.inputs, *program.state.values()]
        return module


def _parameter(
    program: Program, operator: Operator, module: Module, named: dict[int, str]
) -> Variable:
    array = operator.attributes["value"]
    name = named.get(id(array))
    if not name:
        name = wish = operator.results[0].name or "constant"
        count = 0
        while name in module.state or name in program.state:
            count += 1
            name = f"{wish}_{count}"
    named[id(array)], module.state[name] = name, array
    if name in program.state:
        return program.state[name]
    made = program.block.add_parameter(TensorType(array.dtype, array.shape), name)
    program.parameters[name] = made
    program.trainable[name] = False
    return made


__all__ = ["FreezeParameters", "LiftConstants", "localise_constants"]
