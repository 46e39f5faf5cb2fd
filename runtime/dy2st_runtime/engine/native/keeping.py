"""What is kept of parameters, in code: whether it is there for these arrays, and where."""

from __future__ import annotations

from dy2st_runtime import lent
from dy2st_runtime.engine.native.calls import Calls
from dy2st_runtime.engine.native.function import Function
from dy2st_runtime.engine.native.kept import Keeper, Recipe, constants, recipe_of, recipes
from dy2st_runtime.engine.native.module import Module
from dy2st_runtime.engine.native.places import Places
from dy2st_runtime.engine.native.planned import Planned
from dy2st_runtime.ir.program import Operator, Program

_ITEMS = 24
"""Where the items of a list are told, and where those of a tuple begin."""


class Keeping:
    """Writes where a function finds what is kept; the call holds all of it while it runs."""

    def __init__(
        self, program: Program, module: Module, function: Function, places: Places, calls: Calls
    ) -> None:
        """Nothing is looked at yet."""
        self._module, self._function, self._places = module, function, places
        self._calls, self._numbers = calls, constants(program)
        self._names: dict[Recipe, str] = {}

    def begin(self, planned: Planned) -> None:
        """Before the first step: take what is kept, and tell who keeps it what is not there."""
        found = recipes(planned, self._numbers, self._places.found.root)
        if not found:
            return
        function, keeper = self._function, Keeper(found)
        cell = self._module.object(keeper.cell, "kept")
        kept = function.let(f"load ptr, ptr {self._places.field(cell, _ITEMS)}")
        function.line(f"call void @Py_IncRef(ptr {kept})")
        self._places.replace(self._places.slot(), kept)
        given = [self._given(recipe) for recipe in found]
        is_whole = is_fresh = self._is_fresh(kept)
        for number, (recipe, array) in enumerate(zip(found, given, strict=True)):
            source, made = (self._item(kept, 2 * number + place) for place in (1, 2))
            is_it = function.let(f"icmp eq ptr {source}, {array}")
            is_it = function.let(f"and i1 {is_it}, {is_fresh}")
            is_whole = function.let(f"and i1 {is_whole}, {is_it}")
            data = self._places.data(made)
            self._names[recipe] = function.let(f"select i1 {is_it}, ptr {data}, ptr null")
        self._tell(self._module.object(keeper, "keeper"), given, is_whole)

    def panels(self, operator: Operator) -> str:
        """Where the panels of the right side of a product are; null if they are not there."""
        recipe = recipe_of(operator, self._numbers, self._places.found.root)
        return "null" if recipe is None else self._names[recipe]

    def _given(self, recipe: Recipe) -> str:
        place = self._function.let(f"getelementptr ptr, ptr %given, i64 {recipe.source}")
        return self._function.let(f"load ptr, ptr {place}")

    def _item(self, kept: str, number: int) -> str:
        return self._places.field(kept, _ITEMS + 8 * number)

    def _is_fresh(self, kept: str) -> str:
        """Whether no memory has been lent since."""
        count = self._places.data(self._item(kept, 0))
        now = self._function.let(f"load i64, ptr {self._module.array(lent.COUNT)}")
        return self._function.let(
            f"icmp eq i64 {self._function.let(f'load i64, ptr {count}')}, {now}"
        )

    def _tell(self, keeper: str, given: list[str], is_whole: str) -> None:
        """Call the keeper unless all is there."""
        function = self._function
        missing, after = function.label("missing"), function.label("kept")
        function.branch(is_whole, after, missing)
        function.begin(missing)
        result = self._calls.call(keeper, given)
        function.line(f"call void @Py_DecRef(ptr {result})")
        function.jump(after)
        function.begin(after)


__all__ = ["Keeping"]
