"""Lists whose length a tensor decides, and what is done with them."""

from __future__ import annotations

import collections

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, -2.0, 3.0, 0.5], [-1.0, -2.0, -3.0, -4.0], [2.0, 2.0, 0.0, 5.0], [4.0], [-1.0, 6.0])
EACH = [[None]]


def positive(x):
    """The list that most of them begin with; an element is a tensor."""
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    return kept


@on(*VALUES, unknown=EACH)
def appended(x):
    return positive(x)


@on(*VALUES, unknown=EACH)
def stacked_if_any(x):
    kept = positive(x)
    if len(kept) == 0:
        return dy2st.zeros([0])
    return dy2st.stack(kept)


@on(*VALUES, unknown=EACH)
def used_as_its_truth(x):
    kept = positive(x)
    return dy2st.stack(kept).sum() if kept else x.sum()


@on(*VALUES, unknown=EACH)
def comprehension_with_a_test(x):
    return [v * 2 for v in x if v > 0]


@on(*VALUES, unknown=EACH)
def positions_where(x):
    return [i for i, v in enumerate(x) if v > 0]


@on(*VALUES, unknown=EACH)
def two_lists_added(x):
    small = [v for v in x if v < 0]
    large = [v for v in x if v > 2]
    return small + large


@on(*VALUES, unknown=EACH)
def grown_by_addition(x):
    kept = []
    for v in x:
        if v > 0:
            kept = kept + [v]
    return kept


@on(*VALUES, unknown=EACH)
def grown_by_augmented_addition(x):
    kept = [x[0]]
    for v in x:
        if v > 0:
            kept += [v, -v]
    return kept


@on(*VALUES, unknown=EACH)
def star_in_a_display(x):
    kept = positive(x)
    return [x.sum(), *kept, x.max()]


@on(*VALUES, unknown=EACH)
def star_in_a_call(x):
    def total(first, *rest):
        for v in rest:
            first = first + v
        return first, len(rest)

    return total(x[0], *positive(x))


@on(*VALUES, unknown=EACH)
def first_and_the_rest(x):
    first, *rest = [x.sum(), *positive(x)]
    return first, rest


@on(*VALUES, unknown=EACH)
def all_but_the_last(x):
    *front, last = [x[0]] + positive(x)
    return len(front), last


@on(*VALUES, unknown=EACH)
def sorted_by_value(x):
    return sorted(positive(x), reverse=True)


@on(*VALUES, unknown=EACH)
def sorted_by_distance(x):
    kept = positive(x)
    return sorted(kept, key=lambda v: abs(v - 2))


@on(*VALUES, unknown=EACH)
def sorted_in_place(x):
    kept = positive(x)
    kept.sort(reverse=True)
    return kept


@on(*VALUES, unknown=EACH)
def pairs_sorted_by_score(x):
    pairs = [(v, i) for i, v in enumerate(x) if v > 0]
    pairs.sort(key=lambda pair: pair[0], reverse=True)
    return [i for _, i in pairs]


@on(*VALUES, unknown=EACH)
def doubled_list(x):
    return positive(x) * 2


@on(*VALUES, unknown=EACH)
def slices_from_both_ends(x):
    kept = positive(x)
    return kept[1:], kept[:-1], kept[::2]


@on(*VALUES, unknown=EACH)
def last_two_of_a_window(x):
    window = []
    for v in x:
        if v > -3:
            window.append(v)
            window = window[-2:]
    return window


@on(*VALUES, unknown=EACH)
def last_if_there_is_one(x):
    kept = positive(x)
    if kept:
        return kept[-1]
    return x[-1] * 10


@on(*VALUES, unknown=EACH)
def picked_by_a_tensor(x):
    kept = [x[0], *positive(x)]
    return kept[int(x.argmax()) % len(kept)]


@on(*VALUES, unknown=EACH)
def picked_by_the_middle(x):
    kept = sorted([x.sum(), *positive(x)])
    return kept[len(kept) // 2]


@on(*VALUES, unknown=EACH)
def membership_of_numbers(x):
    seen = [int(v) for v in x if v > 0]
    return 2 in seen, 7 not in seen


@on(*VALUES, unknown=EACH)
def new_ones_alone(x):
    unique = []
    for v in x:
        k = int(v)
        if k not in unique:
            unique.append(k)
    return unique


@on(*VALUES, unknown=EACH)
def inserted_at_the_front(x):
    kept = []
    for v in x:
        if v > 0:
            kept.insert(0, v)
    return kept


@on(*VALUES, unknown=EACH)
def inserted_in_order(x):
    ordered = []
    for v in x:
        at = 0
        while at < len(ordered) and ordered[at] < v:
            at += 1
        ordered.insert(at, v)
    return ordered


@on(*VALUES, unknown=EACH)
def popped_from_the_end(x):
    stack, out = [], 0.0
    for v in x:
        if v > 0:
            stack.append(v)
        elif stack:
            out = out + stack.pop()
    return out, stack


@on(*VALUES, unknown=EACH)
def popped_from_the_front(x):
    queue = positive(x)
    total = x.sum() * 0
    while queue:
        total = total * 2 + queue.pop(0)
    return total


@on(*VALUES, unknown=EACH)
def extended_by_pairs(x):
    out = []
    for v in x:
        if v > 0:
            out.extend([v, v * v])
        else:
            out.append(v)
    return out


@on(*VALUES, unknown=EACH)
def extended_by_a_generator(x):
    out = [x[0]]
    out.extend(v + 1 for v in x if v > 1)
    return out


@on(*VALUES, unknown=EACH)
def walked_backwards(x):
    y = x[0] * 0
    for v in reversed(positive(x)):
        y = y * 2 + v
    return y


@on(*VALUES, unknown=EACH)
def turned_in_place(x):
    kept = positive(x)
    kept.reverse()
    return kept


@on(*VALUES, unknown=EACH)
def least_and_greatest(x):
    kept = positive(x) or [x[0]]
    return min(kept), max(kept)


@on(*VALUES, unknown=EACH)
def greatest_by_a_key(x):
    kept = [(v, i) for i, v in enumerate(x) if v != 0]
    return max(kept, key=lambda pair: abs(pair[0]))


@on(*VALUES, unknown=EACH)
def greatest_with_a_default(x):
    return max(positive(x), default=x.sum())


@on(*VALUES, unknown=EACH)
def zipped_with_a_tensor(x):
    total = 0.0
    for kept, v in zip(positive(x), x):
        total = total + kept * v
    return total


@on(*VALUES, unknown=EACH)
def neighbours_by_zip(x):
    kept = positive(x)
    return [b - a for a, b in zip(kept, kept[1:])]


@on(*VALUES, unknown=EACH)
def numbered_from_one(x):
    total = 0.0
    for i, v in enumerate(positive(x), start=1):
        total = total + v * i
    return total


@on(*VALUES, unknown=EACH)
def mapped_and_summed(x):
    return sum(map(lambda v: v * v, positive(x)))


@on(*VALUES, unknown=EACH)
def filtered(x):
    return list(filter(lambda v: v > 0, x))


@on(*VALUES, unknown=EACH)
def list_as_a_tuple(x):
    return tuple(positive(x)), len(x)


@on(*VALUES, unknown=EACH)
def lists_in_a_list(x):
    groups = [[]]
    for v in x:
        if v > 0:
            groups[-1].append(v)
        else:
            groups.append([])
    return groups


@on(*VALUES, unknown=EACH)
def runs_of_one_sign(x):
    runs = []
    for v in x:
        if runs and (runs[-1][-1] > 0) == (v > 0):
            runs[-1].append(v)
        else:
            runs.append([v])
    return [len(run) for run in runs]


@on(*VALUES, unknown=EACH)
def lists_in_a_dict(x):
    found = {"up": [], "down": []}
    for v in x:
        if v > 0:
            found["up"].append(v)
        else:
            found["down"].append(v)
    return found


@on(*VALUES, unknown=EACH)
def lists_of_strings(x):
    words = []
    for v in x:
        words.append("up" if v > 0 else "down")
    return words


@on(*VALUES, unknown=EACH)
def list_of_small_dicts(x):
    found = []
    for i, v in enumerate(x):
        if v > 0:
            found.append({"score": v, "index": i})
    return found


@on(*VALUES, unknown=EACH)
def copied_before_it_grows(x):
    kept = positive(x)
    before = kept.copy()
    kept.append(x.sum())
    return len(before), len(kept)


@on(*VALUES, unknown=EACH)
def aliased_and_grown(x):
    kept = positive(x)
    other = kept
    other.append(x.sum())
    return kept, other is kept


@on(*VALUES, unknown=EACH)
def item_deleted(x):
    kept = [x.sum(), *positive(x)]
    if len(kept) > 2:
        del kept[1]
    return kept


@on(*VALUES, unknown=EACH)
def item_replaced(x):
    kept = positive(x)
    for i in range(len(kept)):
        if kept[i] > 2:
            kept[i] = kept[i] * 0
    return kept


@on(*VALUES, unknown=EACH)
def slice_replaced(x):
    kept = [*positive(x), x[0]]
    kept[:1] = [x.sum(), x.max()]
    return kept


@on(*VALUES, unknown=EACH)
def cleared_on_the_way(x):
    batch, sums = [], []
    for v in x:
        batch.append(v)
        if len(batch) == 2 or v < -2:
            sums.append(sum(batch))
            batch.clear()
    return sums, batch


@on(*VALUES, unknown=EACH)
def counted_and_found(x):
    signs = [1 if v > 0 else 0 for v in x]
    return signs.count(1), signs.index(signs[-1])


@on(*VALUES, unknown=EACH)
def lists_compared(x):
    up = [int(v) for v in x if v > 0]
    every = [int(v) for v in x]
    return up == every, len(up) < len(every)


@on(*VALUES, unknown=EACH)
def newest_in_a_deque(x):
    last = collections.deque(maxlen=2)
    for v in x:
        if v > -3:
            last.append(v)
    return list(last)


@on(*VALUES, unknown=EACH, slow=True)
def worklist_that_grows(x):
    work, done = [x.abs().sum()], []
    while work:
        v = work.pop()
        if v > 3:
            work.append(v / 2)
            work.append(v / 4)
        else:
            done.append(v)
    return len(done), done[-1]


@on(*VALUES, unknown=EACH)
def flattened_groups(x):
    groups = [[v, -v] if v > 0 else [v] for v in x]
    return [v for group in groups for v in group]


@on(*VALUES, unknown=EACH)
def transposed_pairs(x):
    pairs = [(v, v * v) for v in x if v != 0]
    plain, squares = zip(*pairs)
    return sum(plain), sum(squares)


@on(*VALUES, unknown=EACH)
def concatenated_pieces(x):
    pieces = [x[:1]]
    for i in range(len(x)):
        if x[i] > 0:
            pieces.append(x[i : i + 1] * 2)
    return dy2st.concat(pieces)


@on([3.0, -1.0, 4.0], [2.0], [-6.0, 2.0], unknown=[[None]])
def what_a_star_takes_of_a_tuple_is_a_list(x):
    kept = tuple(v for v in x.tolist() if v > 0)
    first, *rest = kept
    rest.append(9.0)
    match kept:
        case (_, *others):
            return first, rest, others, kept
