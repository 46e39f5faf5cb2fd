"""Values taken apart into leaves of the Program by a layout, and put together again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dy2st.convert.types import bare, info
from dy2st.convert.types.values import emptied
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Lub,
    Number,
    Parts,
    Reference,
    Same,
    SequenceLayout,
    View,
    count,
    has_code_points,
    is_missing,
    layout_of_case,
    leaves_of,
    number_kind,
    same_form,
    width,
)
from dy2st.convert.values.special import GROWN, MISSING, SymbolicSequence, Union, is_changed
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import F, Tracer, Variable
from dy2st_runtime.ir.choice import Hole, Text, is_written
from dy2st_runtime.ops.control_flow import cond, while_loop

if TYPE_CHECKING:
    from dy2st.convert.trace import Trace

# -- taking apart -----------------------------------------------------------------------------


def flatten(trace: Trace, value: Any, node: Layout, view: View) -> list[Variable]:
    """The leaves of a value that has a layout, as Variables of the current Block."""
    if isinstance(node, Same):
        return []
    if type(value) is Union and not (isinstance(node, Cases) and any(map(is_missing, node.cases))):
        # An entry, or an attribute that is missing with its object, where it is there
        value = _without_missing(trace, value, view)
    of_a_length = isinstance(node, SequenceLayout) and node.kind is tuple
    if type(value) is Union and (of_a_length or has_code_points(node)):
        # Each of the tuples that it may be, as one of a length; of texts, as their code points.
        of_case = lambda one: build(trace, node, iter(flatten(trace, one, node, view)))  # noqa: E731
        value = trace.map_cases(of_case, value)
    if isinstance(node, Parts) and type(value) is Text and not is_written(value, node.like):
        empty = SymbolicSequence(tuple, Number(int), [F.array_of([])])
        value = trace.add(Text((Hole(empty, "chr"),)), value)
    if isinstance(node, Number):
        return [as_number(trace.tracer, value, node.kind)]
    if isinstance(node, Reference):
        return [as_number(trace.tracer, place_in_table(trace, value, view), int)]
    if isinstance(node, Leaf):
        if number_kind(value) is None:
            return [trace.tracer.variable(value)]
        if isinstance(value, Variable):
            return [trace.tracer.cast_number(value, node.dtype)]
        return [trace.tracer.variable(value, node.dtype)]
    if isinstance(node, SequenceLayout):
        # One array for each leaf of the elements; at least one, for its length
        is_content = type(value) in (SymbolicSequence, tuple)
        held: Any = value if is_content else _content(trace, value, view)
        if type(held) is SymbolicSequence:
            return promote_elements(trace, held, node.element, view)
        if isinstance(held, dict):
            leaves, held = _of_pairs(trace, held, node.element, view), held.items()
        else:
            rows = [row_of(trace, item, node.element, view) for item in held]
            columns = zip(*rows, strict=True) if rows else [()] * width(node.element)
            leaves = [F.array_of(list(column)) for column in columns]
        # The arrays have the elements by value: a later change of one of these would be lost.
        parts = [part for item in held for part in copied(trace, item, node.element, view)]
        if len({*map(id, parts)}) < len(parts):
            trace.alias_tracker.fix(node.element)
        trace.alias_tracker.keep_copied(parts, node.element)
        return leaves
    if isinstance(node, Cases):
        # The tag, then for every case the arrays of its leaves
        held = value if type(value) is Union else _held_union(value, node, view)
        if held is not None:
            # The same cases in other places, among others
            union = _flat(trace, held)
            layouts = (layout_of_case(union, i, view) for i in range(len(union.layouts)))
            places = [case_of(node, layout) for layout in layouts]
            leaves = [_moved(trace.tracer, union.tag, places)]
            for index, case in enumerate(node.cases):
                those = [i for i, place in enumerate(places) if place == index]
                leaves += _case_arrays(trace, union, those, case, view)
            return leaves
        place = case_of(node, Same(value, view))
        leaves = [trace.tracer.number(place)]
        for index, case in enumerate(node.cases):
            own = flatten(trace, value, case, view) if index == place else ()
            arrays = [F.array_of([_exact(trace, leaf)]) for leaf in own]
            leaves += arrays if index == place else _empty(case)
        return leaves
    parts = _parts(trace, value, node, view)
    if len(parts) != len(node.items):  # an element of a list, which has changed in this region
        refuse_change(value)
    pairs = zip(parts, node.items, strict=True)
    differing = [(part, item) for part, item in pairs if not isinstance(item, Same)]
    return [leaf for part, item in differing for leaf in flatten(trace, part, item, view)]


def _parts(trace: Trace, value: Any, node: Parts, view: View) -> list[Any]:
    held = value
    if not info(node.kind).is_unchanging:
        held = _content(trace, value, view) if info(node.kind).is_container else view.taken(value)
    if type(held) is SymbolicSequence:
        refuse_change(value)
    return info(node.kind).parts(held, node.like if node.kind is Text else node.names)


def _content(trace: Trace, value: Any, view: View) -> Any:
    held = view.taken(value)
    return case_content(trace, held, type(value)) if type(held) is Union else held


def refuse_change(owner: Any) -> NoReturn:
    """Refuse to change what is looked up in a list of a length, or in one of several values."""
    raise ConversionError(
        f"a {type(owner).__name__} is changed in place that is an element of a list whose "
        "length depends on a tensor, or inside of a value that may be another one",
        why="the Program keeps the elements by value",
        hint="put a changed copy into the list: items[i] = items[i] + [new]",
    )


def place_in_table(trace: Trace, value: Any, view: View) -> Any:
    """The number of the place of an object, which gets one if it has none."""
    if trace.locations.of(value, view) is None:
        paths, tracer = trace.state.paths, trace.tracer
        own = paths[-1].block if paths else tracer.program.block
        assert tracer.block is own, "a location is given in a Block that is no path"
        trace.locations.enter([value])
    return trace.locations.of(value, view)


def as_number(tracer: Tracer, value: Any, kind: type) -> Variable:
    """A number of Python as a Variable of the current Block."""
    made = tracer.local(value) if isinstance(value, Variable) else tracer.number(value)
    if made.tensor_type.dtype != info(kind).dtype:
        made = tracer.cast_number(made, info(kind).dtype)
    return made


def _of_pairs(
    trace: Trace, held: dict[Any, Any], element: Layout | None, view: View
) -> list[Variable]:
    """The arrays of the pairs of a dict, of those that are there."""
    arrays = [F.array_of([]) for _ in range(width(element))]

    def added(pair: tuple[Any, Any]) -> list[Variable]:
        row = row_of(trace, pair, element, view)
        return [F.array_append(trace.tracer.local(a), b) for a, b in zip(arrays, row, strict=True)]

    for key, value in held.items():
        missing = value.places_that_are(MISSING) if type(value) is Union else []
        # The entry is surely there; of any other the pair is appended in a branch.
        if not missing:
            arrays = added((key, value))
            continue
        same = lambda: [trace.tracer.local(array) for array in arrays]  # noqa: B023, E731
        tag = trace.tracer.local(value.tag)
        is_there = reduce(F.logical_and, [F.not_equal(tag, place) for place in missing])
        arrays = cond(is_there, partial(added, (key, value)), same)
    return arrays


def row_of(trace: Trace, item: Any, element: Layout | None, view: View) -> list[Variable]:
    """What the arrays of a SymbolicSequence get for one element."""
    assert element is not None
    leaves = flatten(trace, item, element, view) or [trace.tracer.number(0)]
    return [_exact(trace, leaf) for leaf in leaves]


def _exact(trace: Trace, leaf: Variable) -> Variable:
    """What an array gets: a float of Python as it is, and not in the dtype of tensors."""
    if leaf.number is not float:
        return leaf
    return trace.tracer.cast_number(leaf, info(float).dtype)


def copied(trace: Trace, value: Any, node: Layout | None, view: View) -> list[Any]:
    """The lists, dicts and objects in a value that arrays keep by value."""
    found = copied_parts(trace, value, node, view)
    return [part for one, part in found if not isinstance(one, Reference)]


def copied_parts(
    trace: Trace, value: Any, node: Layout | None, view: View
) -> list[tuple[Layout, Any]]:
    """The lists, dicts and objects in a value that are carried by value, each with its layout."""
    if node is None or isinstance(node, (Same, Number, Leaf)):
        return []
    if type(value) is Union:
        found: list[tuple[Layout, Any]] = []
        for place, before in enumerate(value.layouts):
            now = layout_of_case(value, place, view)
            if is_missing(now):  # the entry of a dict
                continue
            case = node.cases[case_of(node, now)] if isinstance(node, Cases) else node
            if place in value.objects:
                found.append((case, value.objects[place]))
            else:
                found += _of_layout(trace, before, case, view)
        return found
    if isinstance(node, Reference):
        return [(node, value)]
    if isinstance(node, Cases):
        return copied_parts(trace, value, node.cases[case_of(node, Same(value, view))], view)
    own: list[tuple[Layout, Any]] = []
    if not info(node.kind).is_unchanging:
        own.append((node, value))
    if own and type(view.raw(value)) is Union:
        return own
    if isinstance(node, SequenceLayout):
        held = value if type(value) in (SymbolicSequence, tuple) else view.raw(value)
        if isinstance(held, dict):
            held = held.items()
        items = () if type(held) is SymbolicSequence else held
        pairs: Any = ((item, node.element) for item in items)
    else:
        both = zip(_parts(trace, value, node, view), node.items, strict=True)
        pairs = [(part, item) for part, item in both if not isinstance(item, Same)]
    return [*own, *(part for one, item in pairs for part in copied_parts(trace, one, item, view))]


def _of_layout(trace: Trace, before: Layout, node: Layout, view: View) -> list[tuple[Layout, Any]]:
    """The objects that a case has kept by reference, and that are carried by value now."""
    if isinstance(before, Cases):
        return [part for one in before.cases for part in _of_layout(trace, one, node, view)]
    if isinstance(node, Cases):
        place = Lub().place(list(node.cases), before)
        return [] if place is None else _of_layout(trace, before, node.cases[place], view)
    if isinstance(before, Same):
        return copied_parts(trace, before.value, node, view)
    pairs = zip(leaves_of(before), leaves_of(node), strict=False)
    return [part for one, item in pairs for part in _of_layout(trace, one, item, view)]


def promote_elements(
    trace: Trace, held: SymbolicSequence, element: Layout | None, view: View
) -> list[Variable]:
    """The arrays of a SymbolicSequence whose elements take a layout above their own."""
    own = [trace.tracer.local(array) for array in held.arrays]
    if held.element is element or element is None:
        return own
    before = held.element
    if before is None:
        return [F.array_of([]) for _ in range(width(element))]
    if same_form(before, element):
        return own

    def iteration(index: Variable, *made: Variable) -> list[Variable]:
        leaves = [F.array_read(array, index) for array in own]
        row = row_of(trace, build(trace, before, iter(leaves)), element, view)
        return [index + 1, *(F.array_append(a, b) for a, b in zip(made, row, strict=True))]

    length, start = F.array_length(own[0]), [F.array_of([]) for _ in range(width(element))]
    first = [trace.tracer.number(0), *start]
    made = while_loop(lambda index, *_: index < length, iteration, first)[1:]
    for array, source in product(made, own):  # they hold the same tensors
        trace.tracer.aliases.note(array, source)
    return made


# -- one of several values --------------------------------------------------------------------


def _held_union(value: Any, node: Cases, view: View) -> Union | None:
    """The cases of what a container holds, unless it is a case itself: by its place, or whole."""
    if type(value) not in (list, deque, dict, set) or view.node(value) is not None:
        return None
    if any(isinstance(case, Same) and case.value is value for case in node.cases):
        return None
    held = view.raw(value)
    is_whole = type(held) is Union and all(
        Lub().place(list(node.cases), case) is not None for case in held.layouts
    )
    return held if is_whole else None


def _without_missing(trace: Trace, value: Union, view: View) -> Any:
    """A value that is there, as one of its other cases."""
    every, places = range(len(value.layouts)), sorted(value.places_without(MISSING))
    if len(places) == len(every):
        return value
    if len(places) == 1:
        return case_value(trace, value, places[0], view)
    new = {place: number for number, place in enumerate(places)}
    tag = _moved(trace.tracer, value.tag, [new.get(place, 0) for place in every])
    objects, held = ({new[p]: one for p, one in d.items()} for d in (value.objects, value.held))
    return Union(
        tag, [value.layouts[p] for p in places], [value.arrays[p] for p in places], objects, held
    )


def _empty(case: Layout) -> list[Variable]:
    return [F.array_of([]) for _ in range(count(case))]


def case_of(node: Cases, item: Layout) -> int:
    """Which case a value is; a refusal of what has changed since the cases were found."""
    place = Lub().place(list(node.cases), item)
    if place is None:
        raise ConversionError(
            "a value is one of several, and has changed its form while a branch or loop was traced",
            why="the forms of what a tensor chooses between are found once",
            hint="give each of the objects all of its attributes before the branch or loop",
        )
    return place


def _moved(tracer: Tracer, tag: Variable, places: Sequence[int]) -> Variable:
    """The tag of the same cases in other places."""
    tag = tracer.local(tag)
    if [*places] == list(range(len(places))):
        return tag
    with tracer.unguarded():
        tag = F.gather(tracer.constant(np.asarray(places, "int64")), tag)
    tag = F.reshape(tag, []) if tag.ndim else tag
    tag.number = int
    return tag


def _flat(trace: Trace, value: Union) -> Union:
    """The same value without cases that are one of several themselves."""
    if not any(isinstance(case, Cases) for case in value.layouts):
        return value
    own = [case.cases if isinstance(case, Cases) else [case] for case in value.layouts]
    # The cases inside of a case take its place, so those behind it move.
    starts = [sum(map(len, own[:place])) for place in range(len(own))]
    tag, arrays = _moved(trace.tracer, value.tag, starts), list[Sequence[Variable]]()
    for place, case in enumerate(value.layouts):
        if isinstance(case, Cases):
            tag, found = _cases_inside(trace, value, place, tag, starts[place])
            counts = [count(one) for one in case.cases]
            arrays += [[next(found) for _ in range(number)] for number in counts]
        else:
            arrays.append(value.arrays[place])
    objects = {starts[place]: one for place, one in value.objects.items()}
    held = {starts[place]: one for place, one in value.held.items()}
    return Union(tag, [case for cases in own for case in cases], arrays, objects, held)


def _cases_inside(
    trace: Trace, value: Union, place: int, tag: Variable, start: int
) -> tuple[Variable, Iterator[Variable]]:
    """The tag where a value is that case, which has cases itself; and the arrays of these."""
    inner = value.arrays[place]

    def inside() -> list[Variable]:
        chosen, *arrays = [F.array_read(trace.tracer.local(array), 0) for array in inner]
        return [F.add(chosen, start), *arrays]

    is_there = F.equal(trace.tracer.local(value.tag), place)
    elsewhere = lambda: [trace.tracer.local(tag), *(F.array_of([]) for _ in inner[1:])]  # noqa: E731
    found, *arrays = cond(is_there, inside, elsewhere)
    found.number = int
    return found, iter(arrays)


def _case_arrays(
    trace: Trace, value: Union, own: list[int], case: Layout, view: View
) -> list[Variable]:
    if not own:
        return _empty(case)
    changed = [place for place in own if is_changed(value, place, view)]
    columns: list[Variable] = []
    for place in own:
        before = value.layouts[place]
        arrays = [trace.tracer.local(array) for array in value.arrays[place]]
        if place in changed or not same_form(before, case):
            arrays = _risen_case(trace, value, place, case, view)
        # Of the arrays of several cases that have become one, all but one are empty.
        pairs = zip(columns, arrays, strict=True) if columns else ()
        columns = [F.array_extend(a, b) for a, b in pairs] or arrays
    return columns


def _risen_case(trace: Trace, value: Union, place: int, case: Layout, view: View) -> list[Variable]:
    """The arrays of a case whose layout has risen."""
    # An array of no type: no path that has come here gives that case.
    if not count(case) or not all(one.type.element for one in value.arrays[place]):  # type: ignore[union-attr]
        return _empty(case)

    def present() -> list[Variable]:
        item = case_value(trace, value, place, view)
        return [F.array_of([_exact(trace, leaf)]) for leaf in flatten(trace, item, case, view)]

    is_case = F.equal(trace.tracer.local(value.tag), place)
    return cond(is_case, present, lambda: _empty(case))


def case_value(trace: Trace, value: Union, place: int, view: View | None = None) -> Any:
    """The value that a union is, where it is known to be that case.

    To a view it is what it was at first, unless its object has changed.
    """
    if place in value.objects if view is None else is_changed(value, place, view):
        return value.objects[place]
    return build(trace, value.layouts[place], _read(trace, value, place), fragile=True)


def _read(trace: Trace, value: Union, place: int) -> Iterator[Variable]:
    """The leaves of a case; to change one in place is to change what the union holds."""
    found = []
    for array in value.arrays[place]:
        found.append(F.array_read(trace.tracer.local(array), 0))
        trace.tracer.aliases.borrowed[found[-1]] = array
    return iter(found)


def case_content(trace: Trace, value: Union, kind: type) -> Any:
    """What a container holds whose content is one of several: it is that case if it is at all."""
    place = value.place_of(kind)
    node, leaves = value.layouts[place], _read(trace, value, place)
    if isinstance(node, SequenceLayout):
        return SymbolicSequence(node.kind, node.element, list(leaves), node.like)
    assert isinstance(node, Parts)
    items = [build(trace, item, leaves, fragile=True) for item in node.items]
    return info(kind).make(node.kind, items, node.names, node.like)


# -- putting together -------------------------------------------------------------------------


def build(
    trace: Trace,
    node: Layout,
    leaves: Iterator[Variable],
    known: dict[Any, Any] | None = None,
    fragile: bool = False,
) -> Any:
    """The value of a layout, of leaves in the order of `flatten`.

    known    the objects that were put together already, by the nodes they are of; what stands for
             a case by "case" and its node.
    fragile  whether they are put together anew at each look: nobody may change them.
    """
    if isinstance(node, Same):
        return node.value
    if isinstance(node, Number):
        leaf = next(leaves)
        leaf.number, leaf.mixed = node.kind, False
        return leaf
    if isinstance(node, Reference):
        return trace.locations.object_at(node, next(leaves))
    if isinstance(node, Leaf):
        leaf = next(leaves)
        leaf.number, leaf.mixed, leaf.is_numpy = None, node.mixed, node.is_numpy
        return leaf
    known = {} if known is None else known
    if isinstance(node, Cases):
        tag = next(leaves)
        tag.number = int
        arrays = [[next(leaves) for _ in range(count(case))] for case in node.cases]
        value = Union(tag, node.cases, arrays)
        for place, case in enumerate(node.cases):
            made = _object_of(trace, value, place, case)
            if made is not None:
                value.objects[place] = made
        for place, one in value.objects.items():
            key = id(node.cases[place])
            # Two values of one layout may be one object, on some paths.
            others = [known[other] for other in (key, ("case", key)) if other in known]
            trace.alias_tracker.join([one, *others])
            known["case", key] = one
        for one in value.objects.values() if fragile else ():
            trace.alias_tracker.keep_made(one)
        return value
    # Its leaves are read wherever the node stands, though its object is made once.
    made = _put_together(trace, node, leaves, known, fragile)
    if id(node) not in known:
        known[id(node)] = made
        if ("case", id(node)) in known:
            trace.alias_tracker.join([made, known["case", id(node)]])
        if fragile:
            trace.alias_tracker.keep_made(made)
    return known[id(node)]


def _object_of(trace: Trace, value: Union, place: int, case: Layout) -> Any:
    """What stands for a container or object that a value may be; None if the case is none."""
    if not isinstance(case, (Parts, SequenceLayout)) or info(case.kind).is_unchanging:
        return None
    if isinstance(case, Parts) and not info(case.kind).is_container:
        # The arguments of an exception are read in C, from the object itself.
        if issubclass(case.kind, BaseException):
            return None
        made: Any = trace.made(bare(case.kind))
        arrays = iter(value.arrays[place])
        cases = range(len(value.layouts))
        for name, item in zip(case.names, case.items, strict=True):
            own = [next(arrays) for _ in range(count(item))]
            # By the same tag: where it is known that the object is there, so is its attribute.
            layouts = [item if one == place else Same(MISSING, trace) for one in cases]
            held = Union(value.tag, layouts, [own if one == place else [] for one in cases])
            trace.write(made, name, held)
            value.held.setdefault(place, {})[name] = held
        return made
    made = trace.made(emptied(case.kind, case.like))
    trace.hold(made, value)
    trace.locations.wanted.add(True)
    return made


def _put_together(
    trace: Trace, node: Any, leaves: Iterator[Variable], known: dict[Any, Any], fragile: bool
) -> Any:
    if isinstance(node, SequenceLayout):
        arrays = [next(leaves) for _ in range(width(node.element))]
        held = SymbolicSequence(node.kind, node.element, arrays, node.like)
        if node.kind is tuple:
            trace.alias_tracker.note_elements(held, held.element)
            return held
        made = trace.made(emptied(node.kind, node.like))
        trace.hold(made, held)
        return made
    items = [build(trace, item, leaves, known, fragile) for item in node.items]
    made = info(node.kind).make(node.kind, items, node.names, node.like)
    if info(node.kind).is_unchanging:
        return made
    trace.made(made)
    if node.kind is set and node.like is not GROWN:  # it may have held others
        trace.origins.pop(id(made), None)
    return made


def element_at(trace: Trace, held: SymbolicSequence, index: Any) -> Any:
    """The element at a place that is known to be in the list."""
    if held.element is None:
        raise IndexError("list index out of range")
    trace.alias_tracker.check(held)  # a tuple; of lists, who looks at them asks
    leaves = [F.array_read(trace.tracer.local(array), index) for array in held.arrays]
    return build(trace, held.element, iter(leaves), fragile=True)
