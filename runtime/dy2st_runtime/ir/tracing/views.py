"""Tracks views and aliases in a trace: what each stands for, and what it holds after a change.

A Program computes with values, so a view is a value that was made of its base by operators that
move elements. To change a view in place gives its base a new value; a view that is read behind a
change of its base is made anew of it, by the same operators. Branches and loops carry the base.
The result of a branch that returns a tensor from outside is, on that path, that very tensor.

Gradients flow as PaddlePaddle has it: the tensor that changes gets those of what changes it; in all
others that share its memory the elements change, and gradients flow as if they had not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dy2st_runtime.dims import same_shape
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir.definition import DEFINITIONS, View, lookup
from dy2st_runtime.ir.grad_mode import is_grad_enabled, set_grad_enabled
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.changes import lost_view, out_of_date
from dy2st_runtime.ir.tracing.strides import is_copy
from dy2st_runtime.ir.types import ArrayType, TensorType

if TYPE_CHECKING:
    from dy2st_runtime.ir.tracing.tracer import Tracer


_ELEMENTS = ("item", "items*")  # what the operators on lists call what they put in


class Aliases:
    """The Variables of one trace that may be one tensor, across Blocks.

    What a branch, a loop or a list gives may be one of several tensors, its sources. Two Variables
    may be one tensor if both may be one of the same: `a` and `b` behind `a if p else b` are not.
    """

    def __init__(self) -> None:
        """Every Variable stands for itself only."""
        self.has_elements = False  # whether a list is changed with what it holds
        self.borrowed: dict[Variable, Variable] = {}  # elements that are alone in a list, with that
        self.chosen: set[Variable] = set()  # those that change with what a tensor has chosen
        self._sources: dict[Variable, dict[Variable, None]] = {}
        self._takers: dict[Variable, dict[Variable, None]] = {}  # those of which it is a source
        self._outer: dict[Variable, Variable] = {}
        self._apart: dict[Variable, int] = {}  # results of one operator, by its number
        # A bit for each first source that a Variable may be: two share one if they may be one.
        self._bits: dict[Variable, int] = {}
        self._count = itertools.count()

    def imported(self, inner: Variable, outer: Variable) -> None:
        """Note the parameter of a nested Block that stands for a Variable around it."""
        self._outer[inner] = outer

    def separated(self, parameters: Iterable[Variable]) -> None:
        """Note that the parameters of a Block stand for no Variables any more: it is a function."""
        for parameter in parameters:
            self._outer.pop(parameter, None)

    def outer(self, inner: Variable) -> Variable | None:
        """The Variable around a nested Block that a parameter of it stands for."""
        return self._outer.get(inner)

    def note(self, one: Variable, other: Variable) -> None:
        """Note that a Variable may be the tensor that another one is."""
        other = self.origin(other)
        if one is other:
            return
        bits, waiting = self._bits_of(other), [one]
        while waiting:  # no further than where they are known
            taker = waiting.pop()
            known = self._bits.get(taker, 0)
            now = known | bits if taker in self._sources else bits
            if now != known:
                self._bits[taker] = now
                waiting += self._takers.get(taker, ())
        self._sources.setdefault(one, {})[other] = None
        self._takers.setdefault(other, {})[one] = None

    def note_apart(self, results: Iterable[Variable]) -> None:
        """Note results of one operator none of which is ever the tensor that another one is."""
        family = len(self._apart)
        self._apart.update(dict.fromkeys(results, family))

    def alone(self, path: Sequence[Variable]) -> list[bool]:
        """For each of the Variables that a path leaves whether no other one may be its tensor."""
        origins = [*map(self.origin, path)]
        met = shared = 0
        for one in origins:
            shared |= met & self._bits_of(one)
            met |= self._bits_of(one)
        return [
            not self._bits_of(one) & shared
            or sum(self.may_be_one(one, other) for other in origins) == 1
            for one in origins
        ]

    def may_be_one(self, one: Variable, other: Variable) -> bool:
        """Whether two Variables may stand for one tensor."""
        if one is other:
            return True
        family = self._apart.get(one, -1)
        is_apart = family >= 0 and self._apart.get(other) == family
        return not is_apart and self._bits_of(one) & self._bits_of(other) != 0

    def _bits_of(self, variable: Variable) -> int:
        known = self._bits.get(variable)
        if known is None:
            known = self._bits[variable] = 1 << next(self._count)
        return known

    def is_chosen(self, variable: Variable) -> bool:
        """Whether it is a choice of tensors, or one of them, or what shares memory with one."""
        origin = self.origin(variable)
        return any(origin in found for found in (self.chosen, self._sources, self._takers))

    def note_elements(self, operator: Operator) -> None:
        """Note that a list holds the tensors that are put into it, and gives them back."""
        if not self.has_elements or not DEFINITIONS[operator.name].borrows:
            return
        names = DEFINITIONS[operator.name].inputs
        # A last name, as `items*`, is that of all operands that follow.
        names += names[-1:] * len(operator.operands)
        held = [
            operand
            for operand, name in zip(operator.operands, names, strict=False)
            if name in _ELEMENTS or isinstance(operand.type, ArrayType)
        ]
        for result in operator.results:
            for operand in held:
                self.note(result, operand)

    def origin(self, variable: Variable) -> Variable:
        """The Variable, of whatever Block around, that the user's name holds."""
        while (outer := self._outer.get(variable)) is not None:
            variable = outer
        return variable

    def of(self, variable: Variable) -> list[Variable]:
        """The Variable and all that may be the same tensor."""
        is_alone = variable not in self._sources and variable not in self._takers
        if is_alone or variable.number is not None:  # nobody can change a number
            return [variable]
        # Down to the first sources, then up to all that may be one of them. Loops make cycles, in
        # which there is no first: then all that is reached counts.
        firsts = [one for one in _reached(self._sources, [variable]) if one not in self._sources]
        found = _reached(self._takers, firsts or _reached(self._sources, [variable]))
        family = self._apart.get(variable, -1)
        others = (one for one in found if family < 0 or self._apart.get(one) != family)
        return [variable, *(one for one in others if one is not variable)]


def _reached(
    edges: Mapping[Variable, Iterable[Variable]], starts: Iterable[Variable]
) -> list[Variable]:
    """What edges lead to from some Variables, and these."""
    found = dict.fromkeys(starts)
    waiting = [*found]
    while waiting:
        for one in edges.get(waiting.pop(), ()):
            if one not in found:
                found[one] = None
                waiting.append(one)
    return [*found]


Step = tuple[Operator, int]
"""An operator that moves elements, and which of its results is meant."""


@dataclass(eq=False)
class Link:
    """How a view was made.

    base      the tensor of which it is a view, which may be a view itself.
    steps     the operators from there to the view.
    version   what the tensor at the end of all bases held then.
    is_sure   whether it is a view whatever the sizes are, and no copy.
    """

    base: Tensor
    steps: list[Step]
    version: Variable
    is_sure: bool = True


class Views:
    """The views of one trace."""

    def __init__(self, tracer: Tracer) -> None:
        """There are none."""
        self._tracer = tracer
        self.links: dict[Variable, Link] = {}
        self._under: dict[int, dict[Variable, None]] = {}  # the views of a tensor, by its id
        self._has_changed = False  # whether anything with views was changed in place
        self._is_own = False  # whether operators are recorded for what is said here
        self._made: dict[tuple[Block, Variable, Variable, Variable], Variable] = {}
        # What the base held when a view was changed, by the view and what it holds since.
        self._current: dict[tuple[Variable, Variable], Variable] = {}
        self._values: dict[Variable, Variable] = {}  # the same elements, other gradients

    # -- what is a view ------------------------------------------------------------------------

    def note(self, view: Variable, base: Tensor, steps: list[Step]) -> None:
        """Note a view of a tensor."""
        if self._is_own:
            return
        # A view of a view that is reshaped is a copy where its elements do not lie row by row.
        copies: bool | None = False
        if (
            isinstance(base, Variable)
            and base in self.links
            and lookup(steps[-1][0].name).view in (View.SAME, View.UNSURE)
        ):
            type = self._tracer.captured(self.root(base)).type
            if isinstance(type, TensorType):
                copies = is_copy(type, [*self._steps(base), *steps])
        if copies is not True:
            version = self._version(self.root(base))
            self._link(view, Link(base, steps, version, copies is False))

    def note_between(self, view: Variable, base: Tensor) -> None:
        """Note a view of a tensor, whichever operators are between them."""
        start, value = self._tracer.local(self._tracer.captured(base)), view
        steps: list[Step] = []
        while value is not start:
            maker = value.maker
            if not isinstance(maker, Operator) or not maker.operands:
                return
            place = next(i for i, result in enumerate(maker.results) if result is value)
            steps.insert(0, (maker, place))
            value = maker.operands[0]
        self.note(view, base, steps)

    def separate(self, tensor: Any) -> None:
        """Note that a tensor is no view."""
        if isinstance(tensor, Variable):
            self._unlink(tensor)

    def _link(self, view: Variable, link: Link) -> None:
        self._unlink(view)
        self.links[view] = link
        self._under.setdefault(id(link.base), {})[view] = None

    def _unlink(self, view: Variable) -> Link | None:
        link = self.links.pop(view, None)
        if link is not None:
            del self._under[id(link.base)][view]
        return link

    def _views_of(self, tensor: Tensor) -> list[Variable]:
        """All views of a tensor, and the views of these."""
        found = [*self._under.get(id(tensor), ())]
        for one in found:
            found += self._under.get(id(one), ())
        return found

    def root(self, tensor: Tensor) -> Tensor:
        """The tensor at the end of all bases; itself, if it is no view."""
        while isinstance(tensor, Variable) and tensor in self.links:
            tensor = self.links[tensor].base
        return tensor

    def root_of_view(self, variable: Variable) -> Tensor | None:
        """The tensor of which a Variable is a view, None if it is none."""
        return self.root(variable) if variable in self.links else None

    def base_of_view(self, variable: Variable) -> Variable | None:
        """What the tensor holds of which a Variable is a view, None if it is none."""
        root = self.root_of_view(variable)
        return None if root is None else self._tracer.held_by(root)

    def has_views(self, tensor: Tensor) -> bool:
        """Whether a tensor is a view, or there are any of it."""
        if isinstance(tensor, Variable) and tensor in self.links:
            return True
        return bool(self._under.get(id(tensor)))

    def same_elements(self, new: Variable, old: Variable) -> None:
        """Note that a tensor holds another value with the same elements: views stay as they are."""
        self._values[new] = self._values.get(old, old)

    def _version(self, root: Tensor) -> Variable:
        held = self._tracer.captured(root)
        return self._values.get(held, held)

    # -- reading -------------------------------------------------------------------------------

    def now(self, view: Tensor, held: Variable) -> Variable:
        """What a tensor holds, by what it was given last."""
        if not self._has_changed or not isinstance(view, Variable) or view not in self.links:
            return held
        link = self.links[view]
        root = self.root(view)
        whole = self._tracer.captured(root)
        if whole.overwritten is not None:
            raise out_of_date(whole, self._tracer.aliases.is_chosen(whole))
        version = self._version(root)
        before = link.version if held is view else self._current.get((view, held))
        if before is version:
            return held
        self._check_sure(view)
        # What was made anew in a Block around is known in here, too.
        for block in self._tracer.block.outwards():
            if (block, view, held, version) in self._made:
                return self._made[block, view, held, version]
        # The view is made anew, of what its base holds now.
        tracer, steps = self._tracer, self._steps(view)
        with self._recording():
            value = tracer.as_seen(whole)
            for step in steps:
                value = self._taken(step, value)
        made = self._with_gradients(value, held)
        self._link(made, Link(self.root(view), steps, version))
        self._made[tracer.block, view, held, version] = made
        return made

    def is_known_by_base(self, tensor: Tensor, held: Variable) -> bool:
        """Whether what a tensor holds is made anew of its base wherever it is read next."""
        return isinstance(tensor, Variable) and tensor in self.links and self._is_stopped(held)

    def _is_stopped(self, variable: Variable) -> bool:
        """Whether surely no gradient flows through a Variable."""
        is_float = isinstance(variable.type, TensorType) and variable.type.is_differentiable
        return not is_float or self._tracer.flags.is_surely_stopped(variable)

    def _with_gradients(self, value: Variable, source: Variable) -> Variable:
        """A value through which gradients flow to another one."""
        tracer = self._tracer
        if self._is_stopped(source):
            return value
        operands = [value, tracer.as_seen(source)]
        return tracer.append("straight_through", operands, {}, [value.type]).results[0]

    def _steps(self, view: Variable) -> list[Step]:
        steps: list[Step] = []
        tensor: Tensor = view
        while isinstance(tensor, Variable) and tensor in self.links:
            steps = [*self.links[tensor].steps, *steps]
            tensor = self.links[tensor].base
        return steps

    def _taken(self, step: Step, value: Variable) -> Variable:
        """What an operator that moves elements makes of a value."""
        operator, place = step
        others = map(self._tracer.as_seen, operator.operands[1:])
        found = self._tracer.run(lookup(operator.name), (value, *others), operator.attributes)
        made: Variable = found[place] if isinstance(found, tuple) else found
        return made

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Record operators on values, whose results are no tensors of the user's."""
        outer, self._is_own = self._is_own, True
        try:
            with set_grad_enabled(False):
                yield
        finally:
            self._is_own = outer

    # -- changing ------------------------------------------------------------------------------

    def change(self, tensor: Tensor, new: Variable) -> None:
        """A tensor is about to hold a new value: it gets it, and with it all that share memory."""
        tracer = self._tracer
        if not self.links:  # most traces have no views, and pay nothing for them
            tracer.hold(tensor, new)
            return
        if new in self.links or new.block is not tracer.block:
            new = tracer.append("assign", [tracer.local(new)], {}, [new.type]).results[0]
        root = self.root(tensor)
        self._has_changed = True
        self._lose_aliases(tensor, root)
        # A value of another dtype or shape cannot lie in the memory that is shared.
        if isinstance(tensor, Variable) and not _fits(new, tracer.captured(tensor)):
            self._leave_memory(tensor)
            tracer.hold(tensor, new)
        elif root is tensor or not isinstance(tensor, Variable):
            tracer.hold(tensor, new)
        else:
            # The base of a view gets a new value.
            tracer = self._tracer
            self._check_sure(tensor)
            is_leaf = not is_grad_enabled() and tracer.flags.begins(root)
            if not is_leaf:
                tracer.flags.check_change(root, refuses_leaves=False)
            old = tracer.captured(root)
            with self._recording():
                whole = self._put_back(tensor, tracer.as_seen(old), new)
            if whole is new:  # a view of all of it: the value of the base is no view
                whole = tracer.append("assign", [new], {}, [new.type]).results[0]
            if is_leaf:
                tracer.renew(root, whole)
            else:
                tracer.hold(root, self._with_gradients(whole, old))
            tracer.hold(tensor, new)
            self._current[tensor, new] = version = self._version(root)
            # who carries it carries a view
            self._link(new, Link(root, self._steps(tensor), version))
        # The sizes that elements of the views were known to hold are so no longer.
        for view in self._views_of(root):
            view.held = None

    def _check_sure(self, view: Variable) -> None:
        """Refuse a view that may be a copy, which is known only at run time."""
        tensor: Tensor = view
        while isinstance(tensor, Variable) and tensor in self.links:
            if not self.links[tensor].is_sure:
                raise unsure_view()
            tensor = self.links[tensor].base

    def _put_back(self, view: Variable, whole: Variable, new: Variable) -> Variable:
        """The base with the elements at which a view looks replaced."""
        # First all values between the base and the view, then each change put into the one before.
        values, steps = [whole], self._steps(view)
        for step in steps[:-1]:
            values.append(self._taken(step, values[-1]))
        for (operator, place), value in zip(reversed(steps), reversed(values), strict=True):
            rule = lookup(operator.name).put_back
            if rule is None:
                raise lost_view(operator.name)
            others = map(self._tracer.as_seen, operator.operands[1:])
            new = rule(value, new, place, *others, **operator.attributes)
        return self._tracer.variable(new)

    def look_otherwise(self, tensor: Tensor, new: Variable) -> bool:
        """A tensor looks at the same elements in another way from here on; False if it is no view.

        `new` is made of what it holds by one operator.
        """
        self._unlink(new)  # it is the tensor itself
        if not isinstance(tensor, Variable) or not self.has_views(tensor):
            return False
        version, maker = self._version(self.root(tensor)), new.maker
        assert isinstance(maker, Operator)
        aliases, is_view = self._tracer.aliases, tensor in self.links
        _, *others = aliases.of(aliases.origin(self._tracer.captured(tensor)))
        base, steps = self._leave_memory(tensor)
        self._has_changed = True
        self._link(tensor, Link(base, [*steps, (maker, 0)], version))
        self._tracer.hold(tensor, new)
        self._tracer.overwrite(tensor)  # it has another shape, also if it was made anew before
        # What the tensor may have been is from here on what its new base may be.
        if isinstance(base, Variable) and not is_view:
            for one in others:
                aliases.note(base, one)
        self._current[tensor, new] = version
        return True

    def _leave_memory(self, tensor: Variable) -> tuple[Tensor, list[Step]]:
        """A tensor is no part of its views any more; returns what they are views of, and the way
        from there to the tensor as it was."""
        views = [*self._under.get(id(tensor), ())]
        if tensor.block is not self._tracer.block and (views or tensor in self.links):
            raise reshaped_base()
        link = self._unlink(tensor)
        if link is not None:
            base, steps = link.base, link.steps
        elif views:
            held = self._tracer.captured(tensor)
            made = self._tracer.append("assign", [held], {}, [held.type]).results[0]
            self.same_elements(made, held)
            base, steps = made, []
        else:
            return tensor, []
        for view in views:
            other = self.links[view]
            self._link(view, replace(other, base=base, steps=[*steps, *other.steps]))
        return base, steps

    def lose_aliases(self, tensor: Tensor) -> None:
        """A tensor is changed in place, where it is unknown what may be the same tensor."""
        if self.links:
            self._has_changed = True
            self._lose_aliases(tensor, self.root(tensor))

    def _lose_aliases(self, tensor: Tensor, root: Tensor) -> None:
        """What may be one of the tensors that share the memory is out of date, and what it may be.

        The result of a branch may be a view of this tensor; or this is such a result.
        """
        tracer, aliases, roots = self._tracer, self._tracer.aliases, [root]
        held = {aliases.origin(tracer.captured(one)): None for one in (tensor, root)}
        for one in (other for each in held for other in aliases.of(each)):
            other = self.root(tracer.flags.state.get(one, one))
            is_shared = one in self.links or self._under.get(id(other))
            if one not in held and other is not root and is_shared:
                self._change_perhaps(tracer.captured(other))
                roots.append(other)
        views = dict.fromkeys(view for each in roots for view in self._views_of(each))
        for view in views:
            for one in aliases.of(view):
                if one not in views and one is not tensor:
                    self._change_perhaps(one)

    def _change_perhaps(self, variable: Variable) -> None:
        """A tensor is out of date, for it may be what has changed, or share its memory."""
        aliases = self._tracer.aliases
        aliases.chosen.update(aliases.of(aliases.origin(variable)))
        self._tracer.overwrite(variable)

    def forget_made(self) -> None:
        """Operators were taken back: views are made anew where they are read next."""
        self._made.clear()


def _fits(new: Variable, old: Variable) -> bool:
    """Whether a value has the dtype and shape of another one."""
    one, other = new.type, old.type
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return one == other
    return one.dtype == other.dtype and same_shape(one.shape, other.shape) is True


def reshaped_base() -> ConversionError:
    """Of a tensor that shares memory and is reshaped in place."""
    return ConversionError(
        "a tensor that shares memory with another one gets another shape or dtype in place",
        why="the other one would have to be made of it in another way from here on",
        hint="give the changed tensor a name of its own: y = x.reshape(...), not x.reshape_(...)",
    )


def unsure_view() -> ConversionError:
    """Of a tensor that shares memory or not, as the sizes are."""
    return ConversionError(
        "a reshaped tensor and what it was made of are used behind a change in place of one",
        why="whether they share memory is known only when the Program runs: a tensor that does "
        "not lie row by row is reshaped into a copy",
        hint="clone() the reshaped tensor",
    )
