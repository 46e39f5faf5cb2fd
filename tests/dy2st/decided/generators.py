"""Generators whose items, or whose end, a tensor decides on, as Python has them."""

from tests.dy2st.catalogue.entry import on

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])
alike = on(*CALLS, unknown=[[None]])
alike_made = on(*CALLS, unknown=[[None]], makes=True)


def big(x):
    for v in x:
        if v > 1:
            yield v


def counted(n):
    i = 0
    while i < n:
        yield i
        i = i + 1


@alike
def a_generator_of_python_is_looped_over(x):
    for i in counted(3):
        x = x + i
    return x


@alike
def a_list_of_the_items_that_a_tensor_decides_on(x):
    return list(big(x))


@alike
def a_loop_over_items_that_a_tensor_decides_on(x):
    total = x.sum()
    n = 0
    for v in big(x):
        total = total + v
        n = n + 1
    return total, n


@alike
def a_loop_that_leaves_a_generator(x):
    total = x.sum()
    for v in big(x):
        if v > 2:
            break
        total = total + v
    return total


@alike_made
def a_loop_leaves_an_endless_generator():
    def natural():
        n = 0
        while True:
            yield n
            n = n + 1

    def f(x):
        for n in natural():
            x = x + n
            if n > 3:
                break
        return x

    return f


@alike_made
def a_tensor_leaves_an_endless_generator():
    def doubled(x):
        while True:
            yield x
            x = x * 2 + 1

    def f(x):
        for v in doubled(abs(x.sum())):
            if v > 20:
                return v
        return x

    return f


@alike
def continue_in_a_loop_over_a_generator(x):
    total = x.sum()
    for v in big(x):
        if v < 2:
            continue
        total = total + v
    return total


@alike
def the_sum_of_a_generator_expression(x):
    return sum(v * 2 for v in x if v > 1)


@alike
def a_list_of_a_generator_expression_over_two_loops(x):
    return list(a + i for a in x if a > 1 for i in range(2) if a > i + 1)


@alike_made
def yield_from():
    def twice(x):
        n = yield from big(x)
        yield from big(x * 2)
        yield x.sum()
        return n

    def f(x):
        return list(twice(x))

    return f


@alike_made
def the_value_of_yield_from():
    def inner(x):
        yield x
        return x.sum()

    def outer(x):
        found = yield from inner(x)
        yield found + 1

    def f(x):
        return [v.sum() for v in outer(x)]

    return f


@alike_made
def a_generator_in_a_generator():
    def halved(items):
        for v in items:
            if v > 2:
                yield v / 2

    def f(x):
        return list(halved(big(x)))

    return f


@alike_made
def a_generator_that_recurs():
    def tree(x, depth):
        if depth == 0:
            if x > 1:
                yield x
        else:
            yield from tree(x, depth - 1)
            yield from tree(x * 2, depth - 1)

    def f(x):
        return list(tree(x.sum(), 2))

    return f


@alike_made
def finally_runs_when_a_generator_is_left():
    def guarded(x, notes):
        try:
            for v in x:
                yield v * 1
        finally:
            notes.append(1)

    def f(x):
        notes = []
        for v in guarded(x, notes):
            if v > 1:
                notes.append(2)
                break
        return notes

    return f


@alike_made
def a_generator_does_not_catch_what_its_consumer_raises():
    def guarded(x):
        for v in x:
            try:
                yield v
            except ValueError:
                yield v - 100

    def f(x):
        total = x.sum()
        try:
            for v in guarded(x):
                if v > 2:
                    raise ValueError("big")
                total = total + v
        except ValueError:
            total = total + 1000
        return total

    return f


@alike_made
def a_generator_catches_what_it_raises_itself():
    def items(x):
        try:
            if x.sum() > 5:
                raise ValueError("big")
            yield x.sum()
        except ValueError:
            yield x.max()
        yield x.min()

    def f(x):
        return list(items(x))

    return f


@alike_made
def what_a_generator_raises_reaches_its_consumer():
    def items(x):
        for v in x:
            if v > 2:
                raise ValueError("big")
            yield v

    def f(x):
        out = []
        try:
            for v in items(x):
                out.append(v)
        except ValueError:
            out.append(x.sum())
        return out

    return f


@alike_made
def an_object_that_iterates_by_a_generator():
    class Positive:
        def __init__(self, x):
            self.x = x

        def __iter__(self):
            for v in self.x:
                if v > 0:
                    yield v

    def f(x):
        return [v + 1 for v in Positive(x)]

    return f


@alike
def a_generator_is_asked_for_items(x):
    items = counted(3)
    a = next(items)
    b = next(items)
    return x * a + b + next(items) + next(items, 7)


@alike_made
def send():
    def running():
        total = 0
        while True:
            v = yield total
            total = total + v

    def f(x):
        items = running()
        next(items)
        items.send(x)
        return items.send(x * 2)

    return f


@alike
def any_and_all_of_a_generator_expression(x):
    return any(v > 2 for v in x), all(v > 0 for v in x)


@alike
def a_dict_of_the_items_of_a_generator_expression(x):
    return {i: v for i, v in ((i, x * i) for i in counted(2))}


@alike
def a_tensor_that_decides_on_what_next_gives(x):
    return next((v for v in x if v > 1), x.sum())


@alike
def a_generator_is_enumerated_and_mapped(x):
    return [i * v for i, v in enumerate(big(x), 1)], list(map(lambda v: v + 1, big(x)))


@alike
def a_loop_returns_from_an_enumerated_generator(x):
    for i, v in enumerate(big(x)):
        if i == 1:
            return v
    return x.sum()


@alike
def any_all_max_and_sorted_of_a_generator(x):
    found = any(v > 2 for v in big(x)), all(v > 2 for v in big(x)), any(big(x))
    return found, max(big(x), default=x.sum()), sorted(big(x), key=lambda v: -v)


@alike
def the_first_item_of_a_generator_that_a_tensor_decides_on(x):
    try:
        first = next(big(x))
    except StopIteration:
        first = x.min()
    return first, next(big(x * 2), x.sum())


@alike
def a_list_is_extended_by_a_generator(x):
    out = []
    out.extend(big(x))
    out += big(x * 2)
    return out


@alike
def a_generator_with_a_buffer(x):
    def sums():
        total = x.sum() * 0
        for v in x:
            total = total + v
            if v > 1:
                yield total
                total = total * 0
        yield total

    return list(sums())


@alike
def a_generator_of_a_tree_ends_early(x):
    def walk(n):
        if n > 2:
            return
        if x.sum() > n:
            yield n
        yield from walk(n + 1)

    return list(walk(0))


class Thrown(Exception):
    pass


@alike
def generators_that_ask_each_other_are_left_inside_their_handlers(x):
    def one():
        try:
            yield x
        except Thrown:
            pass
        yield from two()
        try:
            yield x + 3
        except Thrown:
            pass

    def two():
        try:
            yield x + 1
        except Thrown:
            pass
        try:
            yield from first
        except ValueError:
            pass
        try:
            yield x + 2
        except Thrown:
            pass

    first = one()
    found = [next(first)]
    try:
        while True:
            found.append(first.throw(Thrown))
    except StopIteration:
        pass
    return found


@alike
def generators_are_left_inside_their_handlers_in_any_order(x):
    def guarded(name):
        try:
            yield x
            yield x / x.shape[0]
        except ZeroDivisionError:
            yield x - 1
        finally:
            names.append(name)

    names = []
    a, b = guarded("a"), guarded("b")
    found = [next(a), next(b)]
    a.close()
    try:
        found.append(x[7])
    except IndexError:
        found.append(x)
    found += [*b]
    return [*found, x + len(names)]
