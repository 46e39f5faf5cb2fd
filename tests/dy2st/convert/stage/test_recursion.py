"""Functions that call themselves as often as the data say, as users write them."""

import functools
import math
import time

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.effort import IS_FULL

T = dy2st.to_tensor
CASES = [T([3.0, 1.0, 2.0, 5.0]), T([4.0, 2.0, 7.0, 1.0, 6.0]), T([1.0])]
SQUARES = [T([[1, 1, 0], [0, 1, 0], [1, 0, 1]]), T([[1, 1], [1, 1]])]


def minimax(x):
    def score(low, high, is_max):
        if high - low <= 1:
            return x[low]
        middle = (low + high) // 2
        a, b = score(low, middle, not is_max), score(middle, high, not is_max)
        return max(a, b) if is_max else min(a, b)

    return score(0, len(x), True)


def alpha_beta(x):
    visited = []

    def search(low, high, alpha, beta, is_max):
        if high - low == 1:
            visited.append(low)
            return x[low]
        middle = (low + high) // 2
        best = -math.inf if is_max else math.inf
        for a, b in ((low, middle), (middle, high)):
            v = search(a, b, alpha, beta, not is_max)
            if is_max:
                best, alpha = max(best, v), max(alpha, best, v)
            else:
                best, beta = min(best, v), min(beta, best, v)
            if beta <= alpha:
                break
        return best

    return search(0, len(x), -math.inf, math.inf, True), visited


def binary_search(x):
    rows = dy2st.sort(x)

    def find(low, high, wanted):
        if low >= high:
            return None
        middle = (low + high) // 2
        if rows[middle] == wanted:
            return middle
        if rows[middle] < wanted:
            return find(middle + 1, high, wanted)
        return find(low, middle, wanted)

    found = find(0, len(x), 2.0)
    return -1 if found is None else found


def quicksort(x):
    def sort(v):
        if len(v) <= 1:
            return v
        p, rest = v[0], v[1:]
        return sort([a for a in rest if a < p]) + [p] + sort([a for a in rest if a >= p])

    return sort(list(x))


def quicksort_in_place(x):
    v = list(x)

    def sort(low, high):
        if low < high:
            place = low
            for j in range(low, high):
                if v[j] < v[high]:
                    v[place], v[j] = v[j], v[place]
                    place += 1
            v[place], v[high] = v[high], v[place]
            sort(low, place - 1)
            sort(place + 1, high)

    sort(0, len(v) - 1)
    return v


def halves_of_a_tensor(x):
    def scan(v):
        n = v.shape[0]
        if n == 1:
            return v
        left, right = scan(v[: n // 2]), scan(v[n // 2 :])
        return dy2st.concat([left, right + left[-1]])

    return scan(x)


def memo_in_a_dict(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
        return memo[n]

    return fib(len(x) + 2), len(memo)


def memo_by_lru_cache(x):
    @functools.lru_cache(None)
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        if x[i - 1] < x[j - 1]:
            return distance(i - 1, j - 1)
        return 1 + min(distance(i - 1, j), distance(i, j - 1))

    return distance(len(x), len(x) - 1)


def list_of_the_function_around(x):
    out = []

    def walk(n):
        if n > 0:
            out.append(n)
            walk(n - 2)

    walk(int(x[0]) + 3)
    return out


def list_that_is_given(x):
    def walk(n, out):
        if n > 0:
            walk(n - 1, out)
            out.append(n * 2)

    found = []
    walk(len(x), found)
    return found


def nonlocal_counter(x):
    calls = 0

    def fib(n):
        nonlocal calls
        calls += 1
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(int(x[0])), calls


class Searcher:
    def __init__(self, x):
        self.x, self.nodes = x, 0

    def best(self, low, high):
        self.nodes += 1
        if high - low <= 1:
            return self.x[low]
        middle = (low + high) // 2
        return max(self.best(low, middle), self.best(middle, high))


def methods(x):
    one = Searcher(x)
    return one.best(0, len(x)), one.nodes


def mutual(x):
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    def is_odd(n):
        return False if n == 0 else is_even(n - 1)

    return is_even(len(x)), is_odd(int(x[0]))


def raised_and_caught(x):
    log = []

    def f(n):
        try:
            if n > 6:
                raise ValueError(n)
            return 50 if n == 5 else f(n + 1)
        finally:
            log.append(n)

    try:
        return f(int(x[0])), log
    except ValueError:
        return -1, log


def caught_at_each_level(x):
    def f(n):
        if n <= 0:
            raise KeyError("deep")
        try:
            return f(n - 1)
        except KeyError:
            if n < 2:
                raise
            return n

    try:
        return f(int(x[0]))
    except KeyError:
        return -1


def surely_raised(x):
    def f(n):
        if n <= 0:
            raise KeyError("deep")
        return f(n - 1)

    try:
        return f(int(x[0]))
    except KeyError:
        return -1


def adaptive_quadrature(x):
    def rule(a, b):
        return (b - a) / 6 * (a * a * a + 4 * ((a + b) / 2) ** 4 + b * b)

    def adapt(a, b, whole, eps):
        m = (a + b) / 2
        left, right = rule(a, m), rule(m, b)
        if abs(left + right - whole) < eps:
            return left + right
        return adapt(a, m, left, eps / 2) + adapt(m, b, right, eps / 2)

    return adapt(0.0, x[0], rule(0.0, x[0]), 0.05)


def parser_with_a_position(x):
    def parse(i):
        if i + 2 < len(x) and x[i] > 2:
            a, i = parse(i + 1)
            b, i = parse(i)
            return a + b, i
        return x[i], i + 1

    return parse(0)


def keywords_and_defaults(x):
    def f(n, total=0.0, *, scale=1.0):
        return total if n <= 0 else f(n - 1, total=total + n * scale, scale=scale * 0.5)

    return f(int(x[0]))


def texts(x):
    def digits(n):
        return "" if n == 0 else digits(n // 2) + ("1" if n % 2 else "0")

    return digits(int(x[0]) + len(x))


def objects_by_value(x):
    def f(n):
        if n <= 0:
            return Searcher(x[0])
        made = f(n - 1)
        made.nodes = made.nodes * 2 + n
        return made

    return f(int(x[0])).nodes


def a_recursion_in_another_one(x):
    def f(n):
        def g(m):
            return 0 if m <= 0 else 1 + g(m - 1)

        return 0 if n <= 0 else g(n) + f(n - 1)

    return f(int(x[0]))


def a_counter_of_python_far_from_its_end(x):
    def refine(guess, k):
        new = 0.5 * (guess + x[0] / guess)
        return new if k == 0 or abs(new - guess) < 1e-3 else refine(new, k - 1)

    return refine(x[0] * 4, 60)


def list_in_a_dict_that_is_looked_up(x):
    found = {}

    def f(n):
        if n > 0:
            found.setdefault(n % 2, []).append(n)
            f(n - 1)

    f(int(x[0]))
    return sorted(found.items())


def list_of_tensors_of_other_sizes(x):
    def f(tensors, n):
        return tensors if n <= 0 else f([*tensors, dy2st.concat([tensors[-1], x])], n - 1)

    return [one.sum() for one in f([x], int(x[0]))]


def backtracking(x):
    found, path = [], []

    def search(i, left):
        if left == 0:
            found.append(path[:])
            return
        if i >= len(x) or left < 0:
            return
        path.append(i)
        search(i + 1, left - x[i])
        path.pop()
        search(i + 1, left)

    search(0, 6.0)
    return found


def all_subsets(x):
    found, now = [], []

    def go(i):
        if i == len(x):
            found.append(list(now))
            return
        go(i + 1)
        now.append(x[i])
        go(i + 1)
        now.pop()

    go(0)
    return found


def generator_of_itself(x):
    def walk(low, high):
        if low >= high:
            return 0
        middle = (low + high) // 2
        depth = yield from walk(low, middle)
        yield x[middle] * (depth + 1)
        return 1 + (yield from walk(middle + 1, high))

    return list(walk(0, len(x)))


def place_that_is_there_on_the_other_path_alone(x):
    def total(i):
        return x[i] if i + 1 == len(x) or x[i] > 4 else x[i] + total(i + 1)

    return total(0)


def the_longest_by_max(x):
    def longest(i):
        return 1 + max((longest(j) for j in range(i + 1, len(x)) if x[j] > x[i]), default=0)

    return longest(0)


def reached_by_any(x):
    def reaches(i, left):
        return left == 0 or any(
            reaches(j + 1, left - x[j]) for j in range(i, len(x)) if x[j] <= left
        )

    return reaches(0, 6.0)


def flood_fill(x):
    height, width = x.shape
    filled = x * 1

    def fill(i, j):
        if 0 <= i and i < height and 0 <= j and j < width and filled[i, j] == 1:
            filled[i, j] = 2
            return 1 + fill(i + 1, j) + fill(i - 1, j) + fill(i, j + 1) + fill(i, j - 1)
        return 0

    return fill(0, 0), filled


def depth_first(x):
    seen, order = set(), []

    def visit(u):
        if u in seen:
            return
        seen.add(u)
        order.append(u)
        for v in range(len(x)):
            if x[u, v] > 0:
                visit(v)

    visit(0)
    return order


OF_ROWS = [
    minimax,
    alpha_beta,
    binary_search,
    quicksort,
    quicksort_in_place,
    halves_of_a_tensor,
    memo_in_a_dict,
    memo_by_lru_cache,
    list_of_the_function_around,
    list_that_is_given,
    nonlocal_counter,
    methods,
    mutual,
    raised_and_caught,
    caught_at_each_level,
    surely_raised,
    adaptive_quadrature,
    parser_with_a_position,
    keywords_and_defaults,
    texts,
    objects_by_value,
    a_recursion_in_another_one,
    a_counter_of_python_far_from_its_end,
    list_in_a_dict_that_is_looked_up,
    list_of_tensors_of_other_sizes,
    backtracking,
    all_subsets,
    generator_of_itself,
    place_that_is_there_on_the_other_path_alone,
    the_longest_by_max,
    reached_by_any,
]
PROGRAMS = [*((f, CASES) for f in OF_ROWS), (flood_fill, SQUARES), (depth_first, SQUARES)]
SAVED = [minimax, halves_of_a_tensor, alpha_beta, list_of_tensors_of_other_sizes]
of_programs = pytest.mark.parametrize(
    ("function", "cases"), PROGRAMS, ids=lambda one: getattr(one, "__name__", "")
)


def plain(value):
    """A result as Python's own values."""
    if isinstance(value, (tuple, list)):
        return [*map(plain, value)]
    value = value.tolist() if isinstance(value, dy2st.Tensor) else value
    return round(value, 4) if isinstance(value, float) else value


def spec(x):
    return [InputSpec([None] * x.ndim, str(x.dtype).rpartition(".")[2])]


@of_programs
def test_one_program_serves_all_sizes_and_depths(function, cases):
    static = to_static(function, engine="numpy", input_spec=spec(cases[0]))
    for x in cases:
        assert plain(static(x)) == plain(function(x))
    assert static.main_program.functions


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "function", OF_ROWS if IS_FULL else [minimax, quicksort, raised_and_caught]
)
def test_known_sizes_and_machine_code_give_the_same(function, engine):
    static = to_static(function, engine=engine)
    for x in CASES:
        assert plain(static(x)) == plain(function(x))


@pytest.mark.parametrize(
    ("function", "cases"), [one for one in PROGRAMS if IS_FULL or one[0] in SAVED]
)
def test_what_is_saved_is_verified_and_gives_the_same(function, cases, tmp_path):
    dy2st.jit.save(to_static(function, input_spec=spec(cases[0])), tmp_path / "model")
    loaded = dy2st.jit.load(tmp_path / "model")
    assert plain(loaded(cases[1])) == plain(function(cases[1]))


# -- what a function may change, and what it may not ---------------------------------------------


def gives_back_its_argument(x):
    def f(t, n):
        return t if n <= 0 else f(t * 1, n - 1)

    y = x * 1
    r = f(y, int(x[0]) - 1)
    r[0] = 100.0
    return y, r


def gives_back_a_view(x):
    def f(n):
        return y[:1] if n <= 0 else f(n - 1)

    y = x * 1
    r = f(int(x[0]))
    y[0] = 50.0
    return r, y


def changes_a_tensor_that_has_another_name(x):
    y = x * 1

    def f(t, n):
        if n <= 0:
            return t[0] * 1
        y[0] = y[0] + 1
        return f(y if n == 2 else t, n - 1) + t[0]

    return f(y * 2, int(x[0])), y


def gives_back_what_it_has_put_into_a_list(x):
    kept = []

    def f(n):
        if n <= 0:
            kept.append(dy2st.zeros([2]))
            return kept[-1]
        made = f(n - 1)
        made[0] = made[0] + n
        return made

    return f(int(x[0])), kept[0]


def changes_an_element_that_it_has_looked_up(x):
    rows = [[0.0], [1.0]]

    def f(n):
        if n > 0:
            row = rows[n % 2]
            f(n - 1)
            row.append(n)

    f(int(x[0]))
    return rows


def changes_a_new_list(x):
    def f(v, n):
        v.append(n)
        return len(v) if n <= 0 else f(v[:], n - 1) + len(v)

    return f([], int(x[0]))


def changes_a_list_that_came_back(x):
    def f(v, n):
        return v if n <= 0 else f(v + [n], n - 1)

    first = [x[0]]
    second = f(first, int(x[0]) - 1)
    second.append(7.0)
    return len(first), len(second)


def has_another_rank_at_each_depth(x):
    def f(t, n):
        return t.sum() if n <= 0 else f(t.unsqueeze(0), n - 1)

    return f(x, int(x[0]))


@pytest.mark.parametrize(
    "function",
    [
        gives_back_its_argument,
        gives_back_a_view,
        changes_a_tensor_that_has_another_name,
        gives_back_what_it_has_put_into_a_list,
        changes_an_element_that_it_has_looked_up,
        changes_a_new_list,
        changes_a_list_that_came_back,
        has_another_rank_at_each_depth,
    ],
    ids=lambda one: one.__name__,
)
def test_what_no_function_can_stand_for_is_refused_or_equal(function):
    static = to_static(function, engine="numpy", input_spec=spec(CASES[0]))
    for x in CASES:
        try:
            found = static(x)
        except ConversionError:
            continue
        assert plain(found) == plain(function(x))


def test_two_names_of_a_tensor_see_each_change():
    def f(x):
        y = x * 1
        z, first = y, y[:1]

        def go(n):
            if n <= 0:
                return 0.0
            y[0] = y[0] + 1
            return z[0] + first[0] + go(n - 1)

        return go(int(x[0])), y, z

    static = to_static(f, engine="numpy")
    for x in CASES:
        assert plain(static(x)) == plain(f(x))


def test_a_recursion_that_no_function_can_stand_for_says_why():
    static = to_static(has_another_rank_at_each_depth, engine="numpy")
    with pytest.raises(ConversionError, match="no function of the Program can stand for it"):
        static(CASES[0])


def test_a_recursion_that_gives_too_many_kinds_of_values_is_refused():
    def f(x, n):
        if n.sum() <= 0:
            return (item for item in [x])
        return (item * 2 for item in f(x * 2, n - 1))

    static = to_static(lambda x: [*f(x, x)], engine="numpy")
    with pytest.raises(ConversionError, match="no function of the Program can stand for it"):
        static(CASES[0])


def test_a_tree_whose_depth_the_data_decides_is_refused_before_it_has_many_leaves():
    def parsed(tokens):
        stream = iter(tokens.tolist())

        def parse():
            token = next(stream)
            return (token, parse(), parse()) if token < 0 else token

        return parse()

    begun = time.monotonic()
    with pytest.raises(ConversionError, match="no function of the Program can stand for it"):
        to_static(parsed, input_spec=[InputSpec([None], "int64")]).concrete_program  # noqa: B018
    assert time.monotonic() - begun < 15  # each level doubles the work: it was more than a minute


def test_a_recursion_that_never_ends_is_pythons_error():
    def f(x):
        def go(n):
            return 0 if n == 1 else 1 + go(n - 2)

        return go(int(x[0]) * 2)

    with pytest.raises(RecursionError):
        to_static(f, engine="numpy")(CASES[0])


def test_a_function_that_each_level_calls_twice_is_recorded_once_a_call():
    def f(x):
        def best(i, room):
            if i == len(x):
                return 0.0
            left = best(i + 1, room)
            return left if x[i] > room else max(left, x[i] + best(i + 1, room - x[i]))

        return best(0, 6.0)

    x = T(np.arange(1.0, 9.0, dtype="float32"))
    static = to_static(f, engine="numpy", input_spec=[InputSpec([None])])
    assert plain(static(x)) == plain(f(x))
    assert sum(1 for _ in static.main_program.walk()) < 2000


NUMBER, PLUS, OPEN, CLOSE, MINUS = range(5)


class Formula:
    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else -1

    def total(self):
        left = self.factor()
        while self.next() == PLUS:
            self.at += 1
            left = left + self.factor()
        return left

    def factor(self):
        kind = self.next()
        self.at += 1
        if kind == NUMBER:
            return self.at
        if kind == MINUS:
            return -self.factor()
        if kind != OPEN:
            raise ValueError(f"a formula has {kind} at {self.at}")
        inner = self.total()
        self.at += 1
        return inner


def test_methods_that_call_each_other_on_one_object_are_recorded_once_a_call():
    def f(x):
        formula = Formula(x.tolist())
        try:
            return formula.total(), formula.at
        except ValueError as error:
            return error.args[0], formula.at

    static = to_static(f, engine="numpy", input_spec=[InputSpec([None], "int64")])
    for tokens in ([0, 1, 0, 1, 0], [4, 2, 0, 1, 4, 0, 3, 1, 0], [0], [0, 1, 3]):
        assert static(T(tokens)) == f(T(tokens))
    assert sum(1 for _ in static.main_program.walk()) < 1200


class Parser:
    """A sum of numbers and of sums in brackets; -1 is plus, -5 and -6 are brackets, -9 ends it."""

    def __init__(self, tokens):
        self.tokens, self.at = [*tokens, -9], 0

    def accepts(self, kind):
        if self.tokens[self.at] == kind:
            self.at += 1
            return True
        return False

    def sum(self):
        value = self.number()
        while self.accepts(-1):
            value = value + self.number()
        return value

    def number(self):
        if self.accepts(-5):
            value = self.sum()
            if not self.accepts(-6):
                raise SyntaxError("expected )")
            return value
        value = self.tokens[self.at]
        if value < 0:
            raise SyntaxError("expected a number")
        self.at += 1
        return value


def test_methods_that_call_each_other_and_raise_are_functions_of_the_program():
    def parsed(tokens):
        parser = Parser(tokens.tolist())
        try:
            return parser.sum(), parser.at
        except SyntaxError as error:
            return str(error), parser.at

    static = to_static(parsed, input_spec=[InputSpec([None], "int64")])
    for tokens in ([1, -1, 2], [-5, 1, -1, 2, -6, -1, 4], [-5, 1], [-1], [7]):
        x = dy2st.to_tensor(tokens)
        assert static(x) == parsed(x)
