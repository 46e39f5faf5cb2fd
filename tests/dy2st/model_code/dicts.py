"""Dicts that are built, filled and read under what a tensor decides."""

from __future__ import annotations

import collections
from dataclasses import dataclass

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = (
    [1.0, -2.0, 3.0],
    [-1.0, -2.0, -3.0],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.0],
    [-1.0, 5.0],
)
EACH = [[None]]


@on(*VALUES, unknown=EACH)
def built_in_branches(x):
    if x.sum() > 0:
        out = {"kind": "up", "value": x.max()}
    else:
        out = {"kind": "down", "value": x.min()}
    return out


@on(*VALUES, unknown=EACH)
def key_of_one_branch(x):
    out = {"sum": x.sum()}
    if x.sum() > 0:
        out["max"] = x.max()
    return out


@on(*VALUES, unknown=EACH)
def key_of_one_branch_asked_for(x):
    out = {}
    if x.sum() > 0:
        out["max"] = x.max()
    if "max" in out:
        return out["max"] * 2
    return out.get("min", x.min())


@on(*VALUES, unknown=EACH)
def items_of_perhaps_missing_keys(x):
    out = {"a": x.sum()}
    if x[0] > 0:
        out["b"] = x.max()
    total = 0.0
    for name, v in out.items():
        total = total + v * len(name)
    return total, len(out)


@on(*VALUES, unknown=EACH)
def keys_deleted(x):
    out = {"a": x.sum(), "b": x.max()}
    if x.sum() > 0:
        del out["b"]
    return out


@on(*VALUES, unknown=EACH)
def popped_with_a_default(x):
    options = {"scale": 2.0}
    if x[0] > 0:
        scale = options.pop("scale")
    else:
        scale = options.pop("shift", 1.0)
    return x * scale, options


@on(*VALUES, unknown=EACH)
def updated_by_another(x):
    base = {"a": x.sum(), "b": 1.0}
    base.update({"b": x.max()} if x.sum() > 0 else {"b": x.min()})
    return base


@on(*VALUES, unknown=EACH)
def merged_with_two_stars(x):
    defaults = {"low": -1.0, "high": 1.0}
    own = {"high": x.max()} if x.sum() > 0 else {"low": x.min()}
    return {**defaults, **own}


@on(*VALUES, unknown=EACH)
def united_by_an_operator(x):
    out = {"a": 1} | ({"b": x.max()} if x.max() > 2 else {"a": 2})
    return out


@on(*VALUES, unknown=EACH)
def comprehension_over_names(x):
    statistics = {"sum": x.sum(), "max": x.max(), "min": x.min()}
    return {name: v * 2 if v > 0 else v for name, v in statistics.items()}


@on(*VALUES, unknown=EACH)
def comprehension_with_a_test(x):
    statistics = {"sum": x.sum(), "max": x.max(), "min": x.min()}
    return {name: v for name, v in statistics.items() if v > 0}


@on(*VALUES, unknown=EACH)
def passed_as_keywords(x):
    def affine(v, scale=1.0, shift=0.0):
        return v * scale + shift

    options = {"scale": 2.0}
    if x.sum() > 0:
        options["shift"] = x.max()
    return affine(x, **options)


@on(*VALUES, unknown=EACH)
def default_dict_of_lists(x):
    groups = collections.defaultdict(list)
    for v in x:
        if v > 0:
            groups["up"].append(v)
        else:
            groups["down"].append(v)
    return len(groups["up"]), len(groups["down"])


@on(*VALUES, unknown=EACH)
def counter_of_signs(x):
    counts = collections.Counter()
    for v in x:
        counts["up" if v > 0 else "down"] += 1
    return counts["up"], counts["down"]


@on(*VALUES, unknown=EACH)
def counter_in_plain_branches(x):
    counts = {"up": 0, "down": 0, "zero": 0}
    for v in x:
        if v > 0:
            counts["up"] += 1
        elif v < 0:
            counts["down"] += 1
        else:
            counts["zero"] += 1
    return counts


@on(*VALUES, unknown=EACH)
def nested_dicts(x):
    state = {"layer": {"h": x * 0, "n": 0}}
    for v in x:
        if v > 0:
            state["layer"]["h"] = state["layer"]["h"] + v
            state["layer"]["n"] += 1
    return state


@on(*VALUES, unknown=EACH)
def alias_of_an_inner_dict(x):
    state = {"inner": {"v": x.sum()}}
    inner = state["inner"]
    if x.sum() > 0:
        inner["v"] = x.max()
    return state["inner"]["v"] * 1, inner is state["inner"]


@on(*VALUES, unknown=EACH)
def setdefault_in_branches(x):
    out = {}
    if x[0] > 0:
        out.setdefault("v", x.max())
    out.setdefault("v", x.min())
    return out["v"]


@on(*VALUES, unknown=EACH)
def key_of_the_greatest(x):
    scores = {"first": x[0], "sum": x.sum(), "last": x[-1]}
    return max(scores, key=scores.get)


@on(*VALUES, unknown=EACH)
def sorted_by_value(x):
    scores = {"first": x[0], "sum": x.sum(), "least": x.min() - 1}
    ranked = sorted(scores.items(), key=lambda item: item[1])
    return [name for name, _ in ranked]


@on(*VALUES, unknown=EACH)
def memo_of_a_recursion(x):
    memo = {0: x.sum(), 1: x.max()}

    def term(n):
        if n not in memo:
            memo[n] = term(n - 1) - term(n - 2)
            if memo[n] > 5:
                memo[n] = memo[n] / 2
        return memo[n]

    return term(4), len(memo)


@on(*VALUES, unknown=EACH)
def tuple_keys_by_position(x):
    grid = {}
    for i in range(2):
        for j in range(2):
            grid[i, j] = x.sum() * i + j
            if grid[i, j] > 3:
                grid[i, j] = grid[i, j] - 3
    return grid[1, 1], list(grid)


@on(*VALUES, unknown=EACH)
def set_of_found_kinds(x):
    kinds = set()
    for v in x:
        kinds.add("up" if v > 0 else "down")
    return len(kinds), "up" in kinds


@on(*VALUES, unknown=EACH)
def set_of_names_grown_in_branches(x):
    names = {"always"}
    if x.sum() > 0:
        names.add("up")
    if x.max() > 2:
        names |= {"large", "up"}
    return sorted(names)


@on(*VALUES, unknown=EACH)
def ordered_by_last_use(x):
    cache = collections.OrderedDict(a=x.sum(), b=x.max())
    if x[0] > 0:
        cache.move_to_end("a")
    return list(cache), cache["a"]


@on(*VALUES, unknown=EACH)
def registry_of_functions(x):
    registry = {}

    def register(name):
        def add(function):
            registry[name] = function
            return function

        return add

    @register("double")
    def double(v):
        return v * 2 if v.sum() > 0 else v

    @register("half")
    def half(v):
        return v / 2

    for name in ("double", "half", "double"):
        x = registry[name](x)
    return x


@on(*VALUES, unknown=EACH)
def config_of_settings(x):
    config = {"model": {"depth": 2, "act": "relu"}, "clip": 4.0}
    for _ in range(config["model"]["depth"]):
        x = dy2st.nn.functional.relu(x) if config["model"]["act"] == "relu" else x
        if x.max() > config["clip"]:
            x = x / config["clip"]
    return x


@dataclass(frozen=True)
class Spot:
    row: int
    side: str


@on([3.0, -1.0, 4.0, -1.5, 5.0], [2.0], [-6.0, 2.0], unknown=[[None]])
def key_errors_that_hold_their_keys(x):
    counts, pairs, spots, found = {"up": 0}, {}, {}, []
    for v in x.tolist():
        name = "up" if v > 0 else "down" if v > -1.2 else "deep"
        for key in (name, f"k{int(v)}"):
            try:
                counts[key] += 1
            except KeyError as error:
                found.append(error.args[0])
                if v > 3 or key == "down":
                    counts[key] = 1
        try:
            pairs[name, int(v)] += 1
        except KeyError as error:
            pairs[error.args[0]] = 1
        try:
            spots[Spot(int(v), name)] += 1
        except KeyError as error:
            spots[error.args[0]] = error.args[0].row
    return found, len(counts), len(pairs), len(spots)
