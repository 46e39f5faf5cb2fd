"""What random models are written of: idioms of real code, each a text with places to fill in.

`<vec>`        an expression: `vec` is of the size of x, `part` of any size but 0, `row` of 3 numbers,
               `rows` a matrix of such, `scalar` a tensor of no axes, `number` an int or a scalar,
               `place` and `given` a number and a scalar that nobody assigns, `list` of scalars, `items` of Items, `maybe` a scalar or None, `test` a condition,
               `c` a small int, `word` a key
`@list`        a variable of that kind, the same one in the whole text
`$total`       a new variable; `gives` says of what kind it is for the lines that follow
`<do v:scalar -list>`  statements that may use `$v` as a scalar, and leave `@list` alone
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
from dataclasses import dataclass

import dy2st
from dy2st import nn
import dy2st.nn.functional as F


@dataclass
class Item:
    index: object
    value: object


class Stats:
    def __init__(self):
        self.count = 0
        self.total = 0
        self.largest = None

    def add(self, value):
        self.count += 1
        self.total = self.total + value
        if self.largest is None or value > self.largest:
            self.largest = value


class Scale(nn.Layer):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by % 7


class Gate(nn.Layer):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.weight = self.create_parameter(
            [1], default_initializer=nn.initializer.Constant(2.0)
        )

    def forward(self, x):
        if x.sum() > self.limit:
            return x * self.weight % 7
        return x - 1
"""


@dataclass(frozen=True)
class Idiom:
    """Lines of code, and which of their new variables stay, as `name:kind`."""

    text: str
    gives: str = ""
    often: int = 1


@dataclass(frozen=True)
class Helper:
    """A function of the module, and a call of it by the kind of what it gives."""

    text: str
    call: str
    kind: str


@dataclass(frozen=True)
class State:
    """Attributes of the model, what changes them, and expressions that read them."""

    start: str
    statements: tuple[str, ...]
    reads: tuple[tuple[str, str], ...] = ()
    methods: str = ""


EXPRESSIONS = {
    "vec": (
        "(<vec> + <scalar>) % 7",
        "<vec> * 2 % 5",
        "F.relu(<vec>)",
        "<vec>[::-1]",
        "abs(<vec>)",
        "(<vec> - <vec>) % 7",
        "dy2st.where(<vec> > <c>, <vec>, <vec>)",
        "(<vec> if <test> else <vec>)",
    ),
    "part": ("<vec>", "<vec>", "<vec>[1:]", "<vec>[:-1]", "<vec>[::2]", "x[x >= x.min()]"),
    "row": ("rows[0]", "rows[-1]", "rows.sum(0) % 5", "<row> + 1"),
    "rows": ("rows", "rows * 2 % 5", "rows[::-1]"),
    "scalar": (
        "<part>.sum()",
        "<part>.max()",
        "<row>.sum()",
        "<vec>[0]",
        "<vec>[-1]",
        "abs(<scalar>)",
        "<given>",
        "(<scalar> + <scalar>) % 9",
        "<scalar> * 2 % 5",
    ),
    "place": (),
    "given": (),
    "number": (
        "<c>",
        "<place>",
        "len(<list>)",
        "x.shape[0]",
        "len(rows)",
        "<scalar>",
        "sum(<list>)",
    ),
    "list": (),
    "items": (),
    "maybe": (),
    "stats": (),
    "groups": (),
    "test": (
        "<scalar> > <c>",
        "<scalar> > <c>",
        "<scalar> < <scalar>",
        "<scalar> % 2 == 0",
        "<number> > <c>",
        "len(<list>) > <c>",
        "<maybe> is None",
        "<maybe> is not None",
        "@maybe is not None and @maybe > <c>",
        "<list>",
        "not <list>",
        "(<vec> > <c>).any()",
        "<c> < <scalar> <= 8",
        "any(v > <c> for v in <part>)",
        "all(v > -<c> for v in <list>)",
        "<scalar> > <c> and <number> < 9",
        "<scalar> > 3 or not <test>",
        "<groups>['low']",
    ),
}

STATEMENTS = (
    Idiom("@number = @number + <scalar>", often=4),
    Idiom("@number += 1", often=2),
    Idiom("@number = max(@number, <number>)"),
    Idiom("@vec = <vec>", often=2),
    Idiom("@vec = (@vec + <scalar>) % 7", often=2),
    Idiom("@vec += <c>"),
    Idiom("@scalar = (@scalar + <scalar>) % 9", often=2),
    Idiom("@row = (@row + <row>) % 5"),
    Idiom("@list.append(<scalar>)", often=5),
    Idiom("@list.extend([<scalar>, <scalar>])"),
    Idiom("@list.insert(0, <scalar>)"),
    Idiom("@list = @list + [<scalar>]"),
    Idiom("if @list:\n    @list.pop()"),
    Idiom("if len(@list) > 2:\n    @list = @list[1:]"),
    Idiom("@list = @list[-2:]"),
    Idiom("@maybe = <scalar>", often=2),
    Idiom("if @maybe is None:\n    @maybe = <scalar>", often=2),
    Idiom("if @maybe is not None:\n    @number = @number + @maybe"),
    Idiom("@items.append(Item(len(@items), <scalar>))", often=2),
    Idiom("for $item in @items:\n    $item.value = ($item.value + 1) % 5"),
    Idiom("@stats.add(<scalar>)", often=3),
    Idiom("@groups['high' if <test> else 'low'].append(<scalar>)"),
    Idiom("@groups['low'].append(<scalar>)"),
    Idiom("@groups['low'], @groups['high'] = @groups['high'], @groups['low']"),
)

JUMPS = (
    Idiom("if <test>:\n    break"),
    Idiom("if <test>:\n    continue"),
    Idiom("if <test>:\n    <do>\n    break"),
)

RAISES = (
    Idiom("checked(<scalar>)"),
    Idiom("if <test>:\n    raise ValueError('not allowed')"),
    Idiom("if <number> > 9:\n    raise IndexError(f'more than {<c>}')"),
    Idiom("assert <scalar> < 15, 'much'"),
)

NEW = (
    Idiom("$total = 0", "total:number", 3),
    Idiom("$kept = []", "kept:list", 4),
    Idiom("$best = None", "best:maybe", 3),
    Idiom("$stats = Stats()", "stats:stats", 2),
    Idiom("$items = []", "items:items", 2),
    Idiom("$groups = {'low': [], 'high': []}", "groups:groups"),
    Idiom("$score = <scalar>", "score:scalar", 2),
    Idiom("$mean = <row>", "mean:row"),
    Idiom("$hidden = <vec>", "hidden:vec", 2),
    Idiom("$low, $high = <scalar>, <scalar>", "low:scalar high:scalar"),
    Idiom("$count = x.shape[0]", "count:number"),
)

BLOCKS = (
    Idiom("if <test>:\n    <do>", often=5),
    Idiom("if <test>:\n    <do>\nelse:\n    <do>", often=5),
    Idiom("if <test>:\n    <do>\nelif <test>:\n    <do>\nelse:\n    <do>", often=2),
    Idiom("for $v in <part>:\n    <do v:scalar>", often=5),
    Idiom("for $i, $v in enumerate(<part>):\n    <do v:scalar i:place>", often=3),
    Idiom("for $a, $b in zip(<vec>, <vec>):\n    <do a:scalar b:scalar>", often=2),
    Idiom("for $i in range(len(x)):\n    $v = x[$i]\n    <do v:scalar>", often=2),
    Idiom("for $i in range(x.shape[0] - 1):\n    $step = x[$i + 1] - x[$i]\n    <do step:scalar>"),
    Idiom("for $i in range(<c>):\n    <do>"),
    Idiom("for $row in <rows>:\n    <do row:row>", often=3),
    Idiom("for $row in rows:\n    for $v in $row:\n        <do v:scalar row:row>", often=2),
    Idiom(
        "for $a in <part>:\n    for $b in <vec>:\n        if $a < $b:\n            <do a:scalar b:scalar>"
    ),
    Idiom("for $v in @list:\n    <do v:scalar -list>", often=3),
    Idiom("for $v in reversed(@list):\n    <do v:scalar -list>"),
    Idiom("for $v in sorted(@list):\n    <do v:scalar -list>"),
    Idiom("for $v in reversed(<vec>):\n    <do v:scalar>"),
    Idiom("for $v in sorted(<part>, reverse=True):\n    <do v:scalar>"),
    Idiom("for $i, ($a, $b) in enumerate(zip(x, x[1:])):\n    <do a:scalar b:scalar>"),
    Idiom("for $item in @items:\n    $v = $item.value\n    <do v:scalar -items>"),
    Idiom(
        "for $name, $held in @groups.items():\n    for $v in $held:\n        <do v:scalar -groups>"
    ),
    Idiom("$turns = 0\nwhile $turns < <c>:\n    $turns += 1\n    <do turns:place>", often=2),
    Idiom(
        "$rest = <scalar> % 9\nwhile $rest > 1:\n    $rest = $rest - 2\n    <do rest:given>",
        often=2,
    ),
    Idiom("while len(@list) > 1:\n    $v = @list.pop()\n    <do v:scalar -list>"),
    Idiom(
        "$turns = 0\nwhile <test>:\n    $turns += 1\n    if $turns > 3:\n        break\n    <do>",
    ),
    Idiom("try:\n    $v = checked(<scalar>)\n    <do v:scalar>\nexcept ValueError:\n    <do>"),
)

WHOLE = (
    Idiom(
        "$total = 0\nfor $v in <part>:\n    if $v > <c>:\n        $total = $total + $v",
        "total:number",
        3,
    ),
    Idiom("$total = 0.0\nfor $row in rows:\n    $total += $row.max()", "total:number"),
    Idiom("$kept = [$v for $v in <part> if $v > <c>]", "kept:list", 3),
    Idiom("$sums = [$row.sum() for $row in rows]", "sums:list", 2),
    Idiom("$steps = [$b - $a for $a, $b in zip(x, x[1:])]", "steps:list"),
    Idiom("$places = [$v * $i for $i, $v in enumerate(x) if $v > <c>]", "places:list"),
    Idiom("$peaks = [$v for $row in rows for $v in $row if $v > <c>]", "peaks:list"),
    Idiom(
        "$best = None\nfor $v in <part>:\n    if $best is None or $v > $best:\n        $best = $v",
        "best:maybe",
        3,
    ),
    Idiom("$found = next(($v for $v in <part> if $v > <c>), None)", "found:maybe"),
    Idiom(
        "$found = None\nfor $v in <part>:\n    if $v > <c>:\n        $found = $v\n        break",
        "found:maybe",
        2,
    ),
    Idiom(
        "$place, $top = 0, x[0]\nfor $i, $v in enumerate(x):\n    if $v > $top:\n"
        "        $place, $top = $i, $v",
        "place:number top:scalar",
        2,
    ),
    Idiom(
        "$h, $c = x[0], x[-1]\nfor $v in x:\n    $h, $c = ($h + $v) % 5, ($c + $h) % 7",
        "h:scalar c:scalar",
        2,
    ),
    Idiom(
        "$state = (x.sum(), 0)\nfor $v in <part>:\n    $seen, $n = $state\n"
        "    if $v > <c>:\n        $state = ($seen + $v, $n + 1)\n$seen, $n = $state",
        "seen:scalar n:number",
        2,
    ),
    Idiom(
        "$out = []\nfor $v in <vec>:\n    if $v > <c>:\n        $out.append($v * 2)\n"
        "    else:\n        $out.append($v)\n$stacked = dy2st.stack($out)",
        "out:list stacked:vec",
        3,
    ),
    Idiom(
        "$out = []\nfor $row in rows:\n    if $row.sum() > <c>:\n        $out.append($row)\n"
        "$mean = dy2st.stack($out).sum(0) if $out else rows[0]",
        "mean:row",
        2,
    ),
    Idiom(
        "$out = []\nfor $v in <part>:\n    if $v < -<c>:\n        continue\n    $out.append($v)\n"
        "    if len($out) == 3:\n        break",
        "out:list",
        2,
    ),
    Idiom(
        "$groups = {'low': [], 'high': []}\nfor $v in <part>:\n    if $v > <c>:\n"
        "        $groups['high'].append($v)\n    else:\n        $groups['low'].append($v)",
        "groups:groups",
        2,
    ),
    Idiom(
        "$seen = {}\nfor $i, $v in enumerate(<part>):\n    $seen[$i] = $v * 2\n"
        "$total = sum($seen.values())",
        "total:number",
    ),
    Idiom(
        "$marks = {'first': x[0]}\nif <test>:\n    $marks['second'] = <scalar>\n"
        "$second = $marks.get('second')",
        "second:maybe",
    ),
    Idiom("$stats = Stats()\nfor $v in <part>:\n    $stats.add($v)", "stats:stats", 3),
    Idiom(
        "$stats = Stats()\nfor $v in <part>:\n    if $v > <c>:\n        $stats.add($v)",
        "stats:stats",
        2,
    ),
    Idiom(
        "$items = []\nfor $i, $v in enumerate(<part>):\n    if $v > <c>:\n"
        "        $items.append(Item($i, $v))",
        "items:items",
        3,
    ),
    Idiom(
        "$items = [Item($i, $row.sum()) for $i, $row in enumerate(rows)]\n"
        "$items = sorted($items, key=lambda item: item.value)",
        "items:items",
        2,
    ),
    Idiom(
        "$first = max(@items, key=lambda item: item.value) if @items else None\n"
        "$best = None if $first is None else $first.value",
        "best:maybe",
    ),
    Idiom("$ranked = sorted(@list, key=lambda v: -v)[:2]", "ranked:list", 2),
    Idiom("$turned = list(reversed(@list))", "turned:list"),
    Idiom("$doubled = [$v * 2 for $v in @list]", "doubled:list"),
    Idiom("$most = max(@list) if @list else x[0]", "most:scalar", 2),
    Idiom("$mean = sum(@list) / len(@list) if @list else 0", "mean:number", 2),
    Idiom("$last = @list[-1] if @list else None", "last:maybe"),
    Idiom("$both = @list + [$v for $v in @list if $v > <c>]", "both:list"),
    Idiom("$joined = dy2st.stack(@list).sum() if len(@list) > 0 else x.sum()", "joined:scalar", 2),
    Idiom(
        "$beams = [(x[0] * 0, 0)]\nfor $v in <part>:\n"
        "    $beams = [($s + $v, $n + 1) for $s, $n in $beams] + $beams\n"
        "    $beams = sorted($beams, key=lambda b: -b[0])[:2]\n$score = $beams[0][0]",
        "score:scalar",
    ),
    Idiom(
        "$stack = [<scalar>]\n$turns = 0\nwhile $stack and $turns < 4:\n    $turns += 1\n"
        "    $v = $stack.pop()\n    if $v > <c>:\n        $stack.append($v - 2)",
        "turns:number",
    ),
    Idiom(
        "$keep = []\nfor $v in sorted(<part>, reverse=True):\n"
        "    if all(abs($v - $k) > 1 for $k in $keep):\n        $keep.append($v)",
        "keep:list",
    ),
    Idiom(
        "$previous = None\n$changes = 0\nfor $v in <part>:\n"
        "    if $previous is not None and $v != $previous:\n        $changes += 1\n"
        "    $previous = $v",
        "changes:number previous:maybe",
        2,
    ),
    Idiom(
        "$run, $longest = 0, 0\nfor $v in <part>:\n    $run = $run + 1 if $v > <c> else 0\n"
        "    $longest = max($run, $longest)",
        "longest:number",
        2,
    ),
    Idiom(
        "$total = x.sum() * 0\nfor $i in range(rows.shape[0]):\n    for $j in range(3):\n"
        "        if $j > $i:\n            continue\n        $total = $total + rows[$i, $j]",
        "total:scalar",
    ),
    Idiom(
        "$done = dy2st.zeros([1], 'bool')\n$n = 0\nwhile not $done and $n < 4:\n"
        "    $n += 1\n    $done = x.sum() < $n",
        "n:number",
    ),
    Idiom(
        "try:\n    $score = checked(<scalar>)\nexcept ValueError:\n    $score = x[0]",
        "score:scalar",
    ),
    Idiom("def $shifted(v, by=<c>):\n    return v + by\n\n$moved = $shifted(<vec>)", "moved:vec"),
    Idiom("$pick = lambda v: v if v > <c> else -v\n$chosen = $pick(<scalar>)", "chosen:scalar"),
    Idiom("$first, *$others = @items or [Item(0, x[0])]\n$v = $first.value", "v:scalar"),
)

CHECKED = """
def checked(v):
    if v > 12:
        raise ValueError("too much")
    return v
"""

HELPERS = (
    Helper(
        "def clip_to(v, low, high):\n    if v < low:\n        return v * 0 + low\n"
        "    if v > high:\n        return v * 0 + high\n    return v",
        "clip_to(<scalar>, -<c>, <c>)",
        "scalar",
    ),
    Helper(
        "def first_above(values, limit):\n    for v in values:\n        if v > limit:\n"
        "            return v\n    return None",
        "first_above(<part>, <c>)",
        "maybe",
    ),
    Helper(
        "def count_above(values, limit):\n    count = 0\n    for v in values:\n"
        "        if v > limit:\n            count += 1\n    return count",
        "count_above(<part>, <c>)",
        "number",
    ),
    Helper(
        "def keep(values, limit):\n    kept = []\n    for v in values:\n        if v < limit:\n"
        "            continue\n        kept.append(v)\n    return kept",
        "keep(<part>, <c>)",
        "list",
    ),
    Helper(
        "def largest(values):\n    best = values[0]\n    for v in values[1:]:\n"
        "        best = v if v > best else best\n    return best",
        "largest(<part>)",
        "scalar",
    ),
    Helper(
        "def smooth(v, turns=2):\n    for _ in range(turns):\n        if v.sum() < 2:\n"
        "            break\n        v = (v + 1) % 5\n    return v",
        "smooth(<vec>)",
        "vec",
    ),
    Helper(
        "def depth_of(v, n=0):\n    if n == 3:\n        return n\n    if v < 1:\n"
        "        return n\n    return depth_of(v - 2, n + 1)",
        "depth_of(<scalar>)",
        "number",
    ),
    Helper(
        "def with_default(v, default):\n    return default if v is None else v",
        "with_default(<maybe>, <scalar>)",
        "scalar",
    ),
    Helper(
        "def extremes(values):\n    low = high = values[0]\n    for v in values:\n"
        "        if v < low:\n            low = v\n        elif v > high:\n            high = v\n"
        "    return low, high",
        "extremes(<part>)[1]",
        "scalar",
    ),
    Helper(
        "def stats_of(values):\n    stats = Stats()\n    for v in values:\n        stats.add(v)\n"
        "    return stats",
        "stats_of(<part>)",
        "stats",
    ),
    Helper(
        "def top(values, n):\n    items = [Item(i, v) for i, v in enumerate(values)]\n"
        "    items.sort(key=lambda item: item.value, reverse=True)\n    return items[:n]",
        "top(<part>, <c>)",
        "items",
    ),
)

STATES = (
    State(
        "self.count = 0",
        ("self.count += 1", "self.count = self.count + 1"),
        (("number", "self.count"), ("test", "self.count > <c>"), ("test", "self.count % 2 == 0")),
    ),
    State(
        "self.log = []",
        ("self.log.append(<scalar>)", "self.log.append(<number>)", "self.log = self.log[-2:]"),
        (("number", "len(self.log)"), ("test", "self.log")),
    ),
    State(
        "self.register_buffer('mean', dy2st.zeros([]))",
        (
            "self.mean = (self.mean + <scalar>) / 2",
            "self.mean = <scalar> % 9",
            "self.mean += <scalar>\nself.mean = self.mean % 9",
        ),
        (("scalar", "self.mean"), ("scalar", "self.mean")),
    ),
    State(
        "self.register_buffer('memory', dy2st.zeros([3]))",
        ("self.memory = (self.memory + <row>) % 5", "self.memory = <row>"),
        (("row", "self.memory"), ("scalar", "self.memory.sum()")),
    ),
    State(
        "self.register_buffer('steps', dy2st.zeros([], 'int64'))",
        ("self.steps += 1", "self.steps = self.steps + 1"),
        (("test", "self.steps > <c>"), ("number", "self.steps")),
    ),
    State(
        "self.hidden = None",
        (
            "self.hidden = <scalar>",
            "if self.hidden is None:\n    self.hidden = <scalar>\nelse:\n"
            "    self.hidden = (self.hidden + <scalar>) % 9",
            "self.hidden = None",
        ),
        (("maybe", "self.hidden"), ("test", "self.hidden is not None and self.hidden > <c>")),
    ),
    State(
        "self.cache = {}",
        (
            "if x.shape[0] not in self.cache:\n"
            "    self.cache[x.shape[0]] = dy2st.arange(x.shape[0]).astype('float32')\n"
            "@vec = @vec + self.cache[x.shape[0]]",
            "self.cache['last'] = <scalar>",
            "self.cache['turns'] = self.cache.get('turns', 0) + 1",
        ),
        (("number", "len(self.cache)"), ("test", "'last' in self.cache")),
    ),
    State(
        "self.layers = nn.LayerList([Scale(2), Gate(3), nn.ReLU()])",
        (
            "for layer in self.layers:\n    @vec = layer(@vec)",
            "for layer in self.layers:\n    @vec = layer(@vec)\n    if <test>:\n        break",
            "for i, layer in enumerate(self.layers):\n    if i == 0 or @vec.sum() > i:\n"
            "        @vec = layer(@vec)",
        ),
        (("vec", "self.layers[0](<vec>)"), ("vec", "self.layers[1](<vec>)")),
    ),
    State(
        "self.blocks = {'a': Gate(2), 'b': Scale(3)}",
        (
            "@vec = self.blocks['a'](@vec)",
            "for name in self.blocks:\n    @vec = self.blocks[name](@vec)",
        ),
        (("vec", "self.blocks['b'](<vec>)"), ("vec", "self.blocks['a' if <test> else 'b'](<vec>)")),
    ),
    State(
        "self.state = (dy2st.zeros([]), dy2st.ones([]))",
        (
            "h, c = self.state\nself.state = ((h + <scalar>) % 5, c)",
            "self.state = self.step(<scalar>, self.state)",
        ),
        (("scalar", "self.state[0]"), ("scalar", "self.state[1]")),
        "    def step(self, v, state):\n        h, c = state\n        if v > h:\n"
        "            return v, h\n        return h, (c + v) % 7\n",
    ),
    State(
        "self.stats = Stats()",
        ("self.stats.add(<scalar>)", "self.stats.count += 1"),
        (("number", "self.stats.total"), ("test", "self.stats.count > <c>")),
    ),
    State(
        "self.limit = 3",
        ("if <test>:\n    self.limit = 5", "self.limit = self.limit % 4 + 1"),
        (("test", "<scalar> > self.limit"), ("number", "self.limit")),
        "    def above(self, values):\n        return [v for v in values if v > self.limit]\n",
    ),
)
