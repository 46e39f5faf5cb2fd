"""Writes code that finds what is kept of parameters, if it is there for these arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime import exported_buffers
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.program.calls import Calls
from dy2st_runtime.engine.native.program.places import Places
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.engine.native.program.prepacked import Keeper
from dy2st_runtime.engine.native.program.recipes import Recipe, Recipes
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.ir.program import Operator, Program, Variable

_ITEMS = 24
"""Where the items of a list are found, and where those of a tuple begin."""


class Keeping:
    """Writes where a function finds what is kept; the call holds all of it while it runs."""

    def __init__(
        self, program: Program, module: Module, function: Function, places: Places, calls: Calls
    ) -> None:
        """Nothing is looked at yet."""
        self._module, self._function, self._places = module, function, places
        self._calls, self._recipes = calls, Recipes(program, places.found.root)
        self._names: dict[Recipe, str] = {}
        self._is_whole = "true"
        self._spared: set[Step] = set()
        self._unmade: set[Variable] = set()

    def begin(self, planned: Planned) -> None:
        """Before the first step: take what is kept, and report to the keeper what is missing."""
        found = self._recipes.all(planned)
        if not found:
            return
        self._spared = self._recipes.spared(planned)
        self._unmade = {variable for step in self._spared for variable in step.results}
        for recipe in found:
            if not recipe.sources:
                self._names[recipe] = self._module.array(recipe.make([]))
        found = [recipe for recipe in found if recipe.sources]
        if found:
            # What is kept, as the keeper has it.
            function, keeper = self._function, Keeper(found)
            cell = self._module.object(keeper.cell, "kept")
            kept = function.let(f"load ptr, ptr {self._places.field(cell, _ITEMS)}")
            function.line(f"call void @Py_IncRef(ptr {kept})")
            self._places.replace(self._places.slot(), kept)
            arguments, number = [], 1
            # Whether no memory has been exported since.
            count = self._places.data(self._item(kept, 0))
            now = self._function.let(f"load i64, ptr {self._module.array(exported_buffers.COUNT)}")
            then = self._function.let(f"load i64, ptr {count}")
            self._is_whole = is_fresh = self._function.let(f"icmp eq i64 {then}, {now}")
            for one in found:
                data, is_it = self._places.data(self._item(kept, number)), is_fresh
                for argument in one.sources.values():
                    number += 1
                    place = self._function.let(f"getelementptr ptr, ptr %given, i64 {argument}")
                    arguments.append(self._function.let(f"load ptr, ptr {place}"))
                    own = self._item(kept, number)
                    is_same = function.let(f"icmp eq ptr {own}, {arguments[-1]}")
                    is_it = function.let(f"and i1 {is_it}, {is_same}")
                number += 1
                self._is_whole = function.let(f"and i1 {self._is_whole}, {is_it}")
                self._names[one] = function.let(f"select i1 {is_it}, ptr {data}, ptr null")
            # Call the keeper unless all is there, or it wants a pause.
            function, pause = self._function, self._module.array(keeper.pause)
            missing, asking, waiting, after = map(
                function.label, ("missing", "ask", "wait", "kept")
            )
            function.branch(self._is_whole, after, missing)
            function.begin(missing)
            left = function.let(f"load i64, ptr {pause}")
            function.branch(function.let(f"icmp sgt i64 {left}, 0"), waiting, asking)
            function.begin(waiting)
            function.line(f"store i64 {function.let(f'sub i64 {left}, 1')}, ptr {pause}")
            function.jump(after)
            function.begin(asking)
            result = self._calls.call(self._module.object(keeper, "keeper"), arguments)
            function.line(f"call void @Py_DecRef(ptr {result})")
            function.jump(after)
            function.begin(after)

    def panels(self, operator: Operator) -> str:
        """Where the panels of the right side of a product are; null if they are not there."""
        recipe = self._recipes.of(operator)
        return "null" if recipe is None else self._names[recipe]

    def operand(self, variable: Variable) -> str:
        """Where a side of a product is; null if it is not made, since its panels are kept."""
        address = self._places.address(variable)
        if variable not in self._unmade:
            return address
        return self._function.let(f"select i1 {self._is_whole}, ptr null, ptr {address}")

    @contextmanager
    def unless_kept(self, step: Step) -> Iterator[None]:
        """What is written inside does not run where all that it serves is kept."""
        if step not in self._spared:
            yield
            return
        function = self._function
        inside, after = function.label("anew"), function.label("kept")
        function.branch(self._is_whole, after, inside)
        function.begin(inside)
        yield
        function.jump(after)
        function.begin(after)

    def _item(self, kept: str, number: int) -> str:
        return self._places.field(kept, _ITEMS + 8 * number)


__all__ = ["Keeping"]
