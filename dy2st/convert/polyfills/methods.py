"""Methods of lists and texts, and parts of other functions in C: rows call them, to be traced."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from typing import Any

# -- lists whose length the run decides, by what every list can do --------------------------------


def place_of(values: Any, item: Any, start: Any, stop: Any, words: str) -> Any:
    """Where the first element stands that is equal; ValueError with these words if nowhere."""
    length = len(values)
    if stop is None or stop > length:
        stop = length
    elif stop < 0:
        stop = stop + length
    place = start if start >= 0 else max(start + length, 0)
    while place < stop and values[place] != item:
        place = place + 1
    if place >= stop:
        raise ValueError(words)
    return place


def are_equal(left: Any, right: Any) -> Any:
    """Whether two lists are equal."""
    length = len(left)
    return length == len(right) and _first_difference(left, right, length) == length


def are_equal_dicts(left: Any, right: Any, are_ordered: bool) -> Any:
    """Whether two dicts are equal."""
    if are_ordered and list(left) != list(right):
        return False
    same = (key in right and right[key] == value for key, value in left.items())
    return len(left) == len(right) and all(same)


def in_order(compare: Any, left: Any, right: Any) -> Any:
    """The comparison of the first two elements that differ; if none do, of the lengths."""
    shorter = min(len(left), len(right))
    place = _first_difference(left, right, shorter)
    if place < shorter:
        return compare(left[place], right[place])
    return compare(len(left), len(right))


def _first_difference(left: Any, right: Any, length: Any) -> Any:
    place = 0
    while place < length and left[place] == right[place]:
        place = place + 1
    return place


def best(items: Any, key: Any, default: Any, empty: str, is_greatest: bool) -> Any:
    """`max(items, key=key)`, or `min`; of no items the default, or an error with words for it."""
    if len(items) == 0:
        if empty:
            raise ValueError(empty)
        return default
    found = items[0]
    its_key = found if key is None else key(found)
    for item in items[1:]:
        new = item if key is None else key(item)
        if new > its_key if is_greatest else new < its_key:
            found, its_key = item, new
    return found


def is_alone(items: Any, best: Any, key: Any, is_greatest: bool) -> bool:
    """Whether no other item has the key of the best one, or one that has no order (NaN)."""
    if len(items) == 0:
        return True
    its_key, count = key(best), 0
    for item in items:
        new = key(item)
        if new == its_key:
            count += 1
        elif not (new < its_key if is_greatest else new > its_key):
            return False
    return count == 1


def increases(items: Any, key: Any, is_reversed: bool) -> bool:
    """Whether each item has a greater key than the one before, or a smaller one."""
    for place in range(1, len(items)):
        one, two = key(items[place - 1]), key(items[place])
        if not (two < one if is_reversed else one < two):
            return False
    return True


def ranks(keys: Any, is_reversed: bool) -> Any:
    """How many keys come before each one; equal ones stay in their order."""
    found = [0] * len(keys)
    for later in range(len(keys)):
        for earlier in range(later):
            one, two = keys[earlier], keys[later]
            step = 1 if (one < two if is_reversed else two < one) else 0
            found[earlier] = found[earlier] + step
            found[later] = found[later] + 1 - step
    return found


# -- sets of ints, in the order of CPython's table ------------------------------------------------

_MODULUS = 2**61 - 1  # of the hashes of numbers


def in_table(items: Any) -> Any:
    """The ints that were put into a set one after the other, in the order in which it has them."""
    table, used = [0] * 8, 0
    for item in items:
        used = used + 1
        table[_free_place(table, item)] = used
        if used * 5 >= (len(table) - 1) * 3:
            size, least = 8, used * 4 if used <= 50000 else used * 2
            while size <= least:
                size = size * 2
            larger = [0] * size
            for one in table:
                if one > 0:
                    larger[_free_place(larger, items[one - 1])] = one
            table = larger
    return [items[one - 1] for one in table if one > 0]


def _free_place(table: Any, number: Any) -> Any:
    """The place in a table of an int that is not in it: ten in a row, then elsewhere."""
    if number < 0:
        hashed = -(((-1 - number) % _MODULUS + 1) % _MODULUS)
        hashed = -2 if hashed == -1 else hashed
    else:
        hashed = number % _MODULUS
    mask = len(table) - 1
    start = place = hashed & mask
    while table[place] > 0:
        place = place + 1
        if place > (start + 9 if start + 9 <= mask else start):
            hashed = (hashed >> 5) & (2**59 - 1)
            start = place = (start * 5 + 1 + hashed) & mask
    return place


# -- two sets, at least one of which the data decides, by `in` and add() --------------------------


def union(left: Any, items: Any) -> Any:
    """A new set of the elements of one, and of items."""
    found = set(left)
    found.update(items)
    return found


def selected(items: Any, other: Any, is_in: bool) -> Any:
    """A new set of the items that a set has, or has not."""
    found: Any = set()
    for item in items:
        if item in other if is_in else item not in other:
            found.add(item)
    return found


def has_one(items: Any, other: Any, is_in: bool) -> Any:
    """Whether one of some items is in a set, or is not."""
    place, length = 0, len(items)
    while place < length and (items[place] not in other if is_in else items[place] in other):
        place = place + 1
    return place < length


# By two sets, and the items of each.
OF_SETS: dict[str, Any] = {
    "union": lambda a, b, in_a, in_b: union(a, in_b),
    "difference": lambda a, b, in_a, in_b: selected(in_a, b, False),
    "intersection": lambda a, b, in_a, in_b: selected(in_a, b, True),
    "symmetric_difference": lambda a, b, in_a, in_b: union(
        selected(in_a, b, False), selected(in_b, a, False)
    ),
    "issubset": lambda a, b, in_a, in_b: not has_one(in_a, b, False),
    "issuperset": lambda a, b, in_a, in_b: not has_one(in_b, a, False),
    "isdisjoint": lambda a, b, in_a, in_b: not has_one(in_b, a, True),
    "__lt__": lambda a, b, in_a, in_b: len(a) < len(b) and not has_one(in_a, b, False),
    "__gt__": lambda a, b, in_a, in_b: len(a) > len(b) and not has_one(in_b, a, False),
    "__eq__": lambda a, b, in_a, in_b: len(a) == len(b) and not has_one(in_a, b, False),
    "__ne__": lambda a, b, in_a, in_b: len(a) != len(b) or has_one(in_a, b, False),
}

# By a set, and an iterator that is asked no further once the answer is known.
STOPPING: dict[str, Any] = {"isdisjoint": lambda a, items: not any(one in a for one in items)}
if sys.version_info >= (3, 11):  # before, Python has made a set of them first
    STOPPING["issuperset"] = lambda a, items: all(one in a for one in items)

# -- texts whose characters the data decides, by lengths, indices, slices and `==` ----------------

# Those that str.isspace() says to be spaces.
_SPACES = "".join(one for one in map(chr, range(0x3001)) if one.isspace())


def join(separator: Any, texts: Any, out: Any) -> Any:
    """`separator.join(texts)`; `out` is the empty text."""
    for place, one in enumerate(texts):
        out = one + out if place == 0 else out + separator + one
    return out


def power_modulo(base: Any, exp: Any, mod: Any) -> Any:
    """`pow(base, exp, mod)` of ints."""
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    base, found = base % mod, 1 % mod
    if exp < 0:
        rest, last, factor, before = base, mod, 1, 0
        while rest != 0:
            rest, last, times = last % rest, rest, last // rest
            factor, before = before - times * factor, factor
        if abs(last) != 1:
            raise ValueError("base is not invertible for the given modulus")
        base, exp = last * before, -exp
    while exp > 0:
        if exp % 2 == 1:
            found = found * base % mod
        base, exp = base * base % mod, exp // 2
    return found


def shown(value: Any) -> Any:
    """`repr(value)` of a list, tuple or dict."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{key!r}: {one!r}" for key, one in value.items()]) + "}"
    texts = ", ".join([repr(one) for one in value])
    if isinstance(value, tuple):
        return f"({texts},)" if len(value) == 1 else f"({texts})"
    return "[" + texts + "]"


def _place(index: Any, length: Any) -> Any:
    """Where a part of a text begins or ends."""
    if index is None:
        return length
    return max(index + length, 0) if index < 0 else index


def _places(text: Any, part: Any, start: Any, end: Any) -> Any:
    """Where a part may stand between two places."""
    length = len(text)
    return range(_place(start, length), min(_place(end, length), length) - len(part) + 1)


def find(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.find(part, start, end)`."""
    for place in _places(text, part, start, end):
        if text[place : place + len(part)] == part:
            return place
    return -1


def rfind(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.rfind(part, start, end)`."""
    for place in reversed(_places(text, part, start, end)):
        if text[place : place + len(part)] == part:
            return place
    return -1


def index(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.index(part, start, end)`."""
    place = find(text, part, start, end)
    if place < 0:
        raise ValueError("substring not found")
    return place


def count(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.count(part, start, end)`."""
    if start != 0 or end is not None:
        text = text[start:end]
    return len(text) + 1 if len(part) == 0 else len(split(text, part)) - 1


def startswith(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.startswith(part, start, end)`."""
    if isinstance(part, tuple):
        return any([startswith(text, one, start, end) for one in part])
    if start == 0 and end is None:
        return text[: len(part)] == part
    return len(text) >= start and text[start:end][: len(part)] == part


def endswith(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.endswith(part, start, end)`."""
    if isinstance(part, tuple):
        return any([endswith(text, one, start, end) for one in part])
    rest = text if start == 0 and end is None else text[start:end]
    is_long = len(rest) >= len(part) and len(text) >= start
    return is_long and rest[len(rest) - len(part) :] == part


def replace(text: Any, old: Any, new: Any, count: int = -1) -> Any:
    """`text.replace(old, new, count)`, of something."""
    if len(old) == 0:
        raise ValueError("nothing is replaced in a text whose characters the data decides")
    return new.join(split(text, old, count))


def split(text: Any, sep: Any = None, maxsplit: int = -1) -> Any:
    """`text.split(sep, maxsplit)`."""
    words: list[Any] = []
    word = text[:0]
    if sep is None:
        for place, character in enumerate(text + " "):
            if character not in _SPACES:
                if maxsplit >= 0 and len(word) == 0 and len(words) == maxsplit:
                    return [*words, text[place:]]
                word += character
            elif len(word) > 0:
                words.append(word)
                word = text[:0]
        return words
    if len(sep) == 0:
        raise ValueError("empty separator")
    place = find(text, sep)
    while place >= 0 and (maxsplit < 0 or len(words) < maxsplit):
        words.append(text[:place])
        text = text[place + len(sep) :]
        place = find(text, sep)
    return [*words, text]


def lstrip(text: Any, those: Any = None) -> Any:
    """`text.lstrip(those)`."""
    start = 0
    while start < len(text) and text[start] in (_SPACES if those is None else those):
        start += 1
    return text[start:]


def rstrip(text: Any, those: Any = None) -> Any:
    """`text.rstrip(those)`."""
    end = len(text)
    while end > 0 and text[end - 1] in (_SPACES if those is None else those):
        end -= 1
    return text[:end]


def strip(text: Any, those: Any = None) -> Any:
    """`text.strip(those)`."""
    return rstrip(lstrip(text, those), those)


def removeprefix(text: Any, part: Any) -> Any:
    """`text.removeprefix(part)`."""
    return text[len(part) :] if startswith(text, part) else text


def removesuffix(text: Any, part: Any) -> Any:
    """`text.removesuffix(part)`."""
    return text[: len(text) - len(part)] if len(part) > 0 and endswith(text, part) else text


def zfill(text: Any, width: Any) -> Any:
    """`text.zfill(width)`."""
    signs = 1 if text[:1] == "-" or text[:1] == "+" else 0
    return text[:signs] + "0" * max(width - len(text), 0) + text[signs:]


def digits(number: Any, base: int, width: int) -> Any:
    """The text of an integer in a base, with zeros in front up to a width."""
    left, text = abs(number), ""
    while len(text) == 0 or left > 0:
        text = chr(left % base + (48 if left % base < 10 else 87)) + text
        left = left // base
    return zfill("-" + text if number < 0 else text, width)


def integer(text: Any, base: int) -> Any:
    """`int(text, base)`, of the digits of ASCII."""
    rest = strip(text)
    is_negative = rest[:1] == "-"
    if is_negative or rest[:1] == "+":
        rest = rest[1:]
    number, was_digit = 0, False
    for one in rest + " ":
        digit = ord(one) - 48
        if was_digit and one == " ":
            return -number if is_negative else number
        if (digit < 0 or digit >= base) and not (was_digit and one == "_"):
            raise ValueError(f"invalid literal for int() with base {base}: {text!r}")
        was_digit = one != "_"
        number = number * base + digit if was_digit else number


# -- parts of enumerate, map, accumulate, the call of an Enum, and of what lru_cache keeps --------


def enumerated(iterable: Any, start: Any) -> Iterator[Any]:
    """`enumerate` of a generator that has not begun."""
    for item in iterable:
        yield start, item
        start = start + 1


def asked(iterator: Any) -> Generator[Any, None, Any]:
    """The items of an iterator of the user's class."""
    while True:
        try:
            item = next(iterator)
        except StopIteration as end:
            return end.value
        yield item


class Until:
    """`iter(function, sentinel)`."""

    def __init__(self, function: Any, sentinel: Any):
        self.function, self.sentinel, self.has_ended = function, sentinel, False

    def __iter__(self) -> Until:
        return self

    def __next__(self) -> Any:
        try:
            item = self.sentinel if self.has_ended else self.function()
            if self.has_ended or item == self.sentinel:
                raise StopIteration
        except StopIteration:
            self.has_ended = True
            raise
        return item


def accumulated(items: Any, function: Any, initial: Any) -> Iterator[Any]:
    """`itertools.accumulate` of as many items as only the run knows."""
    last = [] if initial is None else [initial]
    yield from last
    for item in items:
        if last:
            item = last[0] + item if function is None else function(last[0], item)
        last = [item]
        yield item


def member(members: Any, value: Any, name: Any) -> Any:
    """`kind(value)` of an Enum, by its members and its name."""
    for one in members:
        if one.value == value:
            return one
    raise ValueError(f"{value!r} is not a valid {name}")


def mapped(function: Any, iterable: Any) -> Iterator[Any]:
    """`map` of a generator that has not begun, or of one of several iterables."""
    for item in iterable:
        yield function(item)


def memoised(memo: Any, key: Any, function: Any, args: Any, options: dict[str, Any]) -> Any:
    """What a function under lru_cache gives; `memo` has what it has given."""
    results, counts, maxsize, *_ = memo
    if maxsize != 0 and key in results:
        counts[0] += 1
        found = results[key] = results.pop(key)
        return found
    counts[1] += 1
    found = function(*args, **options)
    if maxsize == 0 or key in results:
        return found
    if maxsize is not None and len(results) >= maxsize:
        del results[next(iter(results))]
    results[key] = found
    return found


def cleared(memo: Any) -> None:
    """`cache_clear()`."""
    memo.results.clear()
    memo.counts[:] = 0, 0
