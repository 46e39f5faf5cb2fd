"""Generators whose items, or whose end, a tensor decides on, as Python has them."""

import itertools
import weakref

import pytest

import dy2st
from dy2st import to_tensor
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import refused, same
from tests.dy2st.decided.generators import big, counted

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])


def test_a_generator_is_unpacked_and_zipped():
    def f(x):
        a, b, c = counted(3)
        pairs = [i * v for i, v in zip(counted(3), x)]
        return a + b + c, pairs, dict(enumerate(counted(2)))

    same(f, *CALLS, sizes="known")


def test_a_generator_that_was_left_goes_on():
    def f(x):
        items = big(x)
        for v in items:
            if v > 1:
                break
        return list(items)

    same(f, *CALLS)


def test_a_generator_that_next_has_asked_goes_on_where_a_tensor_decided():
    def f(x):
        items = big(x)
        return next(items, 0.0) + next(items, 0.0), next(items, 0.0) + 1

    same(f, *CALLS)


def first_and_rest(x):
    """Batches that a tensor decides on: the first by `next`, the others by a loop."""

    def batches(limit):
        found = []
        for v in x.tolist():
            found.append(v)
            if len(found) == limit or max(abs(one) for one in found) > 1.5:
                yield found
                found = []
        if found:
            yield found

    items = batches(2)
    first = next(items)
    return first, [sum(one) for one in items]


def popped_by_key(x):
    def pairs():
        table = {}
        for v in x.tolist():
            table.setdefault(int(v) % 2, []).append(v)
            if len(table[int(v) % 2]) > 1:
                yield table.pop(int(v) % 2)
        for key in sorted(table):
            yield table[key]

    items = pairs()
    return next(items), [len(one) for one in items]


def taken_by_one_call_each(x):
    def first_large(items, least):
        for v in items:
            if v > least:
                return v
        return -1.0

    items = (2 * v for v in x if v > 0.5)
    return first_large(items, 2.5), first_large(items, 0.0)


def searched_by_in(x):
    items = (2 * v for v in x.tolist() if v > 0.5)
    return 4.0 in items, list(items)


def asked_by_others(x):
    pairs = [a * b for a, b in zip(big(x), big(2 * x))]
    chained = list(itertools.chain(big(x), [9.0]))
    return pairs, chained, list(itertools.islice(big(x), 2)), list(itertools.pairwise(big(x)))


@pytest.mark.parametrize(
    "function",
    [asked_by_others, first_and_rest, popped_by_key, taken_by_one_call_each, searched_by_in],
)
def test_what_a_generator_has_left_is_taken_later(function):
    same(function, *CALLS)


def changed_between(x):
    scales = [1.0]
    items = (v * scales[0] for v in x if v > -9)
    first = next(items)
    scales[0] = 2.0
    return first, list(items)


def printed(x):
    def shown(v):
        print(v)
        return v

    items = (shown(v) for v in x if v > -9)
    return next(items), list(items)


def drawn(x):
    items = (v * dy2st.rand([1]) for v in x if v > -9)
    return next(items), dy2st.rand([1]), list(items)


def raised_by_an_item(x):
    def checked(v):
        if v > 5:
            raise ValueError("large")
        return v

    items = (checked(v) for v in x if v > -9)
    return next(items), next(items)


def never_ending(x):
    def halves(v):
        while True:
            v = v / 2
            if v < 1:
                yield v

    items = halves(x.max())
    return next(items), next(items)


def returning(x):
    def counted():
        yield from big(x)
        return 3

    items = counted()
    next(items, 0)
    try:
        next(items)
    except StopIteration as end:
        return x, end.value
    return x, 0


def sent_to(x):
    items = big(x)
    next(items, 0)
    try:
        return items.send(1)
    except StopIteration:
        return 0


@pytest.mark.parametrize(
    "function",
    [changed_between, printed, drawn, raised_by_an_item, never_ending, returning, sent_to],
)
def test_it_is_refused_where_somebody_sees_that_items_are_made_at_once(function):
    refused(function, "a generator", *CALLS)


def test_next_makes_the_first_item_alone():
    def f(x):
        def shown(v):
            print("made", float(v))
            if v > 8:
                raise ValueError
            return v

        return next(shown(v) for v in x if v > -9), dy2st.rand([1]) * 0

    same(f, *CALLS[:2])


def test_an_iterator_that_a_tensor_has_left_goes_on():
    def f(x):
        items = iter([1, 2, 3])
        for k in items:
            x = x + k
            if x.sum() > 0:
                break
        return x + sum(items)

    same(f, *CALLS)


def test_an_iterator_over_elements_that_an_exception_has_left_goes_on():
    def f(x):
        items = iter([v for v in x])
        try:
            for v in items:
                if v > 1:
                    raise KeyError
        except KeyError:
            pass
        return list(items)

    same(f, *CALLS)


def test_an_iterator_over_elements_that_all_has_searched_goes_on():
    def f(x):
        items = iter([v for v in x])
        return all(v < 1.5 for v in items), list(items)

    same(f, *CALLS)


def raised_for_a_large_one(x, items):
    for k in items:
        if k > x[0]:
            raise ValueError(k)


def chained(x, items):
    for k in itertools.chain([0], items):
        if k > x[0]:
            break


def doubled(x, items):
    for k in map(lambda k: 2 * k, items):
        if k > x[0]:
            break


def greatest(x, items):
    def key(k):
        if k > x[0]:
            raise ValueError(k)
        return k

    return max(items, key=key)


@pytest.mark.parametrize(
    "ask",
    [
        raised_for_a_large_one,
        chained,
        doubled,
        greatest,
        lambda x, items: raised_for_a_large_one(x, (k for _, k in enumerate(items))),
        lambda x, items: raised_for_a_large_one(x, (k for k, _ in zip(items, "abc"))),
        lambda x, items: list(map(lambda k: raised_for_a_large_one(x, [k]), items)),
        lambda x, items: any(k > x[0] for k in items),
        lambda x, items: next(i for i, k in enumerate(items) if k > x[0]),
        lambda x, items: x[0] in items,
        lambda x, items: x[0] in (2 * k for k in items),
        lambda x, items: any(map(lambda k: k > x[0], items)),
    ],
)
def test_an_iterator_that_the_data_leave_anywhere_goes_on_as_in_python_or_not_at_all(ask):
    def f(x):
        items = iter([1, 2, 3])
        try:
            ask(x, items)
        except ValueError:
            pass
        return list(items)

    try:
        same(f, *CALLS)
    except ConversionError as error:
        assert "read on later" in str(error)


def test_next_asks_an_expression_over_an_iterator_until_the_data_are_found():
    def f(x):
        first = next((i for i, v in enumerate(x) if v > 1), None)
        pairs = zip([1, 2, 3], x)
        return (
            first,
            next((k for k, v in pairs if v < k), 0),
            [next(i for i, top in enumerate([0.5, 1.5, 99.0]) if v < top) for v in x],
        )

    same(f, *CALLS, sizes="known unknown")


def test_next_goes_on_with_an_expression_that_numbers_of_python_decide():
    def f(x):
        large = (i for i, k in enumerate([1, 2, 3, 4]) if k > 1)
        first, second = next(large), next(large, -1)
        return x[first] + second, next(large), next(large, -2), list(large)

    same(f, *CALLS, sizes="known")


def test_a_generator_made_before_a_branch_is_not_read_in_it():
    def f(x):
        items = big(x)
        out = []
        if x.sum() > 0:
            out = list(items)
        return out

    refused(f, "a generator is advanced in a branch", *CALLS)


def test_what_is_left_of_a_generator_that_another_one_asks():
    def function(x):
        left = (n for n in "abcd")
        for place, one in enumerate(left):
            if one == "b":
                break
        return x + place, list(left)

    def wrapped(items):
        for one in items:
            yield one, one

    def of_the_users(x):
        left = (n for n in "abcd")
        for one, _ in wrapped(left):
            if one == "b":
                break
        return x, list(left)

    same(function, *CALLS[:2])
    same(of_the_users, *CALLS[:2])


def test_a_generator_that_is_dropped_half_way_ends_there_at_each_call():
    log = []

    def items(x):
        try:
            yield x
            yield x + 1
        finally:
            log.append("closed")

    @to_static
    def f(x):
        made = items(x)
        first = next(made)
        del made
        log.append("after")
        return first

    for _ in range(2):
        f(to_tensor([1.0]))
    assert log == ["closed", "after"] * 2


def test_what_only_a_closed_generator_holds_goes_at_once():
    class Held:
        pass

    def items():
        try:
            raise ValueError(Held())
        except ValueError as error:
            yield weakref.ref(error.args[0])

    @to_static
    def f():
        made = items()
        found = next(made)
        made.close()
        del made
        return found() is None

    assert f()


def ended_by_a_stop(x):
    def items():
        yield x
        raise StopIteration

    found = items()
    first = next(found)
    try:
        next(found)
    except RuntimeError as error:
        return first, type(error.__context__).__name__, type(error.__cause__).__name__
    return first


def stopped_at_once(x):
    def items():
        raise StopIteration
        yield x

    try:
        next(items())
    except RuntimeError as error:
        return x, type(error.__context__).__name__, error.__suppress_context__
    return x


@pytest.mark.parametrize("function", [ended_by_a_stop, stopped_at_once])
def test_a_generator_that_raises_stop_iteration_says_so(function):
    x = to_tensor([1.0, 2.0])
    assert str(to_static(function)(x)) == str(function(x))


# Python 3.12 warns of these arguments, and takes them still.
@pytest.mark.filterwarnings("ignore:the .type, exc, tb. signature of throw")
def test_a_generator_that_lets_an_exception_pass_raises_that_one():
    def thrown(x):
        def items():
            yield x

        made, error = items(), TypeError("foo")
        next(made)
        try:
            made.throw(TypeError, error, None)
        except TypeError as caught:
            return caught is error, str(caught)

    assert to_static(thrown)(dy2st.ones([1])) == (True, "foo")
