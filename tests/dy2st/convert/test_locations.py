"""Objects that branches and loops make or choose, changed under one of several names."""

import copy
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec

CALLS = ([3.0, 1.0, 2.0, 5.0], [1.0, 1.0, 0.5, -2.0], [-1.0, 7.0, 3.0, 3.0])


class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


class Tree:
    def __init__(self, key):
        self.key, self.left, self.right, self.size = key, None, None, 1


class Slotted:
    __slots__ = ("next", "value")

    def __init__(self, value):
        self.value, self.next = value, None


class Job:
    def __init__(self, length):
        self.length, self.done, self.start = length, 0, None

    def begin(self, time):
        self.start, self.done = time, self.done + 1
        return self


class Parent:
    def __init__(self, value):
        self.value, self.parent = value, None


def a_search_tree(x):
    root = None
    for value in x:
        if root is None:
            root = Tree(value)
            continue
        node, goes_on = root, True
        while goes_on:
            node.size += 1
            if value < node.key:
                goes_on = node.left is not None
                if goes_on:
                    node = node.left
                else:
                    node.left = Tree(value)
            else:
                goes_on = node.right is not None
                if goes_on:
                    node = node.right
                else:
                    node.right = Tree(value)
    while root.left is not None:
        root = root.left
    return root.key, root.size


def a_queue_with_two_ends(x):
    head = tail = None
    for value in x:
        if value > 0.7:
            node = Node(value)
            if tail is None:
                head = tail = node
            else:
                tail.next = node
                tail = node
    out = []
    while head is not None:
        out.append(head.value)
        head = head.next
    return out


def a_list_turned_round(x):
    head, before = None, None
    for value in x:
        if value > 0.7:
            head = Node(value, head)
    while head is not None:
        after = head.next
        head.next = before
        before, head = head, after
    return x.sum() if before is None else before.value


def sorted_into_a_list(x):
    head = None
    for value in x:
        if head is None or value < head.value:
            head = Node(value, head)
        else:
            node = head
            while node.next is not None and node.next.value <= value:
                node = node.next
            node.next = Node(value, node.next)
    out = []
    while head is not None:
        out.append(head.value)
        head = head.next
    return out


def slots(x):
    first = last = Slotted(x[0])
    for value in x:
        if value > 1.5:
            last.next = Slotted(value)
            last = last.next
    last.value = x.sum()
    return first.value, x if first.next is None else first.next.value


def the_earliest_first(x):
    jobs, time = [Job(length) for length in x], x.sum() * 0
    for job in sorted(jobs, key=lambda job: job.length):
        time = job.begin(time).start + job.length
    return [job.done for job in jobs], [job.start for job in jobs]


def those_that_are_kept(x):
    jobs = [Job(length) for length in x]
    kept = [job for job in jobs if job.length > 1]
    for job in kept:
        job.done = 7
    return [job.done for job in jobs], len(kept)


def sets_that_are_joined(x):
    nodes = [Node(value) for value in x]

    def root(node):
        while node.next is not None:
            node = node.next
        return node

    for one, other in ((0, 1), (2, 3), (1, 2)):
        if x[one] > x[other]:
            a, b = root(nodes[one]), root(nodes[other])
            if a is not b:
                a.next = b
                b.value = b.value + a.value
    return [root(node).value for node in nodes]


def a_child_that_knows_its_parent(x):
    root = Parent(x.sum())
    current = root
    for value in x:
        if value > 1:
            child = Parent(value)
            child.parent = current
            current = child
    count = 0
    while current is not None:
        current.value = current.value + 1
        current = current.parent
        count += 1
    return count, root.value


def a_closure_over_one_of_two(x):
    one, other = Node(x[0]), Node(x[1])
    chosen = Node(x[2])
    if x[2] > 1:
        chosen = one

    def change():
        chosen.value = chosen.value + 10
        return one.value

    return change(), one.value, other.value, chosen.value


def an_entry_of_a_dict(x):
    held, one = {}, Node(x[0])
    held["a"] = one
    if x[1] > 0.9:
        held["a"] = Node(x[1])
    held["a"].value = held["a"].value + 5
    one.value = one.value * 3
    return held["a"].value, one.value, held["a"] is one


def one_object_twice_in_a_list(x):
    one = Node(x[0])
    nodes = [one]
    for value in x:
        nodes.append(one if value > 1 else Node(value))
    nodes[-1].value = nodes[-1].value + 100
    return [node.value for node in nodes], one.value


def one_object_in_every_iteration(x):
    state, held, left = Node(0.0), [], x.sum()
    while left > 0.5:
        state.value = state.value + left
        held.append(state)
        left = left / 2
    return [one.value for one in held]


def which_one_it_is(x):
    nodes = [Node(value) for value in x if value > 0.7]
    others = nodes[::-1]
    pairs = zip(nodes, others)
    return [a is b for a, b in pairs], nodes[0] in others, nodes[0] == others[-1]


def keys(x):
    nodes, held, seen = [], {}, set()
    for value in x:
        if value > 0.7:
            nodes.append(Node(value))
    for node in nodes:
        held[node] = node.value * 2
    for node in nodes + nodes:
        seen.add(node)
    for node in nodes:
        node.value = 0.0
    return [held[node] for node in reversed(nodes)], len(seen), Node(1.0) in seen


def an_attribute_that_is_set_later(x):
    jobs = [Job(length) for length in x]
    for job in [job for job in jobs if job.length > 1]:
        job.mark = job.length
    return [getattr(job, "mark", -1.0) for job in jobs]


def an_attribute_that_only_the_second_path_sets(x):
    class Empty:
        pass

    one, rows = Empty(), []
    if x[0] > 2:
        rows = [None, one]
    else:
        one.mark = x[1]
    for value in x:
        rows.append(one)
    rows[-1].other = x[2]
    return getattr(one, "mark", -1.0), one.other


def an_exception_in_between(x):
    nodes = [Node(value) for value in x]
    try:
        for node in sorted(nodes, key=lambda node: node.value):
            node.value = node.value * 2
            if node.value > 5:
                raise ValueError("large")
    except ValueError:
        nodes[0].value = -1.0
    return [node.value for node in nodes]


def copies(x):
    nodes = [Node(value) for value in x]
    kept = [node for node in nodes if node.value > 1]
    others = [copy.copy(node) for node in kept]
    for node in others:
        node.value = 0.0
    for node in kept:
        node.value = node.value + 1
    return [node.value for node in nodes], [node.value for node in others]


def merged(one, other):
    if one is None or other is None:
        return one or other
    if one.key > other.key:
        one, other = other, one
    one.left, one.right = merged(one.right, other), one.left
    one.size = 1 + sum(part.size for part in (one.left, one.right) if part is not None)
    return one


def a_heap_that_merges_itself(x):
    heap = None
    for value in x:
        heap = merged(heap, Tree(float(value)))
    least = heap.key
    heap = merged(heap.left, heap.right)
    return least, heap.key, heap.size


def split(tree, key):
    if tree is None:
        return None, None
    if tree.key < key:
        tree.right, rest = split(tree.right, key)
        return tree, rest
    rest, tree.left = split(tree.left, key)
    return rest, tree


def a_tree_that_is_split(x):
    tree = None
    for value in x:
        small, large = split(tree, value)
        tree = Tree(value)
        tree.left, tree.right = small, large
    small, large = split(tree, 1.5)
    return [0.0 if part is None else part.key for part in (small, large)]


def inserted(tree, key):
    if tree is None:
        return Tree(key)
    if key < tree.key:
        tree.left = inserted(tree.left, key)
    else:
        tree.right = inserted(tree.right, key)
    tree.size += 1
    return tree


def a_tree_that_grows_by_recursion(x):
    tree = None
    for value in x:
        tree = inserted(tree, int(value))
    return tree.key, tree.size


def built(rows, depth):
    if depth == 0 or len(rows) < 2:
        return {"leaf": len(rows)}
    return {"below": built(rows[1:], depth - 1)}


def dicts_that_a_recursion_puts_into_each_other(x):
    node, levels = built([value for value in x if value > 0.7], 2), 0
    while "leaf" not in node:
        node = node["below"]
        levels += 1
    return levels, node["leaf"]


def lists_in_a_dict_whose_keys_change_places(x):
    held = {"a": [8], 0: [1]}
    if x[0] > 2:
        held["a"] = held.pop("a")
    if x[1] > 0.75:
        held["a"] = held.pop("a")
        held[1] = [1]
    held["a"] = held.pop("a")
    held[0].append(2)
    return list(held), list(held.values())


def a_method_in_c_of_one_of_two_lists(x):
    first, second = [1.0], [2.0]
    kept, put = first, first.append
    for value in x:
        put(value)
        if value > 2:
            first = [7.0]
            put = first.append
        elif value < 0:
            put = second.append
    return first, second, kept


FUNCTIONS = [
    a_search_tree,
    a_queue_with_two_ends,
    a_list_turned_round,
    sorted_into_a_list,
    slots,
    the_earliest_first,
    those_that_are_kept,
    sets_that_are_joined,
    a_child_that_knows_its_parent,
    a_closure_over_one_of_two,
    an_entry_of_a_dict,
    one_object_twice_in_a_list,
    one_object_in_every_iteration,
    which_one_it_is,
    keys,
    an_attribute_that_is_set_later,
    an_attribute_that_only_the_second_path_sets,
    an_exception_in_between,
    copies,
    a_heap_that_merges_itself,
    a_tree_that_is_split,
    a_tree_that_grows_by_recursion,
    dicts_that_a_recursion_puts_into_each_other,
    lists_in_a_dict_whose_keys_change_places,
    a_method_in_c_of_one_of_two_lists,
]


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    return value.tolist() if isinstance(value, dy2st.Tensor) else value


def current(x, make, put, shown=list):
    """Containers of which the last is filled, under a name of its own."""
    every = [make()]
    one = every[0]
    for value in x:
        put(one, int(value))
        if value > 2:
            one = make()
            every.append(one)
    return [shown(each) for each in every], shown(one), one is every[-1]


def in_deques(x):
    def put(window, value):
        window.append(value)
        if window[0] == window[-1]:
            window.appendleft(9)

    kept, last, _ = current(x, lambda: deque(maxlen=2), put)
    return kept, last, current(x, deque, lambda one, value: one.extend([value, value]))


def in_counters(x):
    def put(counter, value):
        counter[value] += 2
        counter.update([value, counter[7]])

    return current(x, Counter, put, lambda one: (one.most_common(), one.total()))


def in_dicts_with_defaults(x):
    def put(groups, value):
        groups[value % 2].append(value)
        groups[0]

    return current(x, lambda: defaultdict(list), put, lambda one: sorted(one.items()))


def in_ordered_dicts(x):
    def put(seen, value):
        seen[value] = seen.get(value, 0) + 1
        seen.move_to_end(value)
        if len(seen) > 2:
            seen.popitem(last=False)

    return current(x, OrderedDict, put, lambda one: [*one.items()])


def read_in_copies_of_the_list(x):
    table = defaultdict(lambda: defaultdict(int))
    for value in x:
        table[int(value)][int(value) % 2] += 1
    return [sum(row[c] for row in list(table.values())) for c in range(3)], len(table)


OF_THE_LIBRARY = (
    *(in_deques, in_counters, in_dicts_with_defaults, in_ordered_dicts),
    read_in_copies_of_the_list,
)


def test_containers_of_two_settings_do_not_lie_in_one_table():
    def of_two(x):
        every = [defaultdict(factory) for factory in (int, float)]
        current = every[0]
        for value in x:
            current[int(value)] += 1
            if value > 2:
                current = every[1]
                every.append(defaultdict(float))
        return [dict(one) for one in every]

    with pytest.raises(ConversionError, match="a defaultdict is changed in place"):
        to_static(of_two, input_spec=[InputSpec([None], "float32")])(dy2st.to_tensor(CALLS[0]))


@pytest.mark.parametrize("function", (*FUNCTIONS, *OF_THE_LIBRARY), ids=lambda one: one.__name__)
def test_every_name_sees_a_change(function):
    static = to_static(function, input_spec=[InputSpec([None], "float32")], engine="numpy")
    for values in CALLS:
        x = dy2st.to_tensor(values)
        assert shown(static(x)) == shown(function(x))


@pytest.mark.parametrize(
    "function", [a_search_tree, the_earliest_first, keys, a_tree_that_is_split]
)
def test_every_name_sees_it_with_known_sizes_in_machine_code(function):
    static = to_static(function, engine="native")
    for values in CALLS:
        x = dy2st.to_tensor(values)
        assert shown(static(x)) == shown(function(x))


def test_a_list_of_children_grows_where_the_data_lead():
    class Branch:
        def __init__(self, value):
            self.value, self.children = value, []

    def grown(x):
        root = Branch(0.0)
        for value in x:
            branch = root
            for _ in range(2):
                if branch.children and value > 1:
                    branch = branch.children[-1]
            branch.children.append(Branch(value))
        return [len(root.children), [len(one.children) for one in root.children]]

    static = to_static(grown)
    for values in CALLS:
        x = dy2st.to_tensor(values)
        assert shown(static(x)) == shown(grown(x))


def test_objects_that_hold_each_other_are_returned():
    def ring(x):
        first = last = Node(x[0])
        for value in x:
            if value > 1:
                last.next = Node(value, first)
                last = last.next
        return first, last

    first, last = to_static(ring)(dy2st.to_tensor(CALLS[0]))
    assert last.next is first
    assert [first.next.value.tolist(), last.value.tolist()] == [3.0, 5.0]


def test_an_object_outside_gets_one():
    class Holder:
        last = None

    holder = Holder()

    def keep(x):
        node = other = Node(x[0])
        if x[0] > 0:
            node = Node(x[1])
        node.value = node.value + 1
        holder.last = node
        return other.value

    keep(dy2st.to_tensor(CALLS[0]))
    expected = holder.last.value.tolist()
    to_static(keep)(dy2st.to_tensor(CALLS[0]))
    assert holder.last.value.tolist() == expected


def test_the_identity_of_what_a_tensor_chooses_is_refused():
    def numbers(x):
        one = Node(x[0])
        chosen = one if x[2] > 1 else Node(x[1])
        chosen.value = x[3]
        return one.value, id(one) == id(chosen)

    with pytest.raises(ConversionError):
        to_static(numbers)(dy2st.to_tensor(CALLS[0]))


def test_gradients_flow_through_attributes():
    def loss(x):
        first = Node(x.sum())
        if x[0] > 0:
            first.next = Node((x * x).sum())
        node = first
        while node.next is not None:
            node = node.next
        node.value = node.value * 2
        return first.value + (0.0 if first.next is None else first.next.value)

    for values in CALLS:
        x, other = dy2st.to_tensor(values), dy2st.to_tensor(values)
        x.stop_gradient = other.stop_gradient = False
        loss(x).backward()
        to_static(loss)(other).backward()
        assert other.grad.tolist() == x.grad.tolist()


def test_a_file_gives_one_list_under_all_of_its_names(tmp_path):
    def longest(x):
        best = run = [x[0]]
        for value in x[1:]:
            if value > run[-1]:
                run.append(value)
            else:
                run = [value]
            if len(run) > len(best):
                best = run
        return best, run, [best]

    static = to_static(longest, input_spec=[InputSpec([None], "float32")])
    dy2st.jit.save(static, str(tmp_path / "longest"))
    loaded = dy2st.jit.load(str(tmp_path / "longest"))
    for values in CALLS:
        x = dy2st.to_tensor(values)
        (best, run, (again,)), wanted = loaded(x), longest(x)
        assert shown((best, run)) == shown(wanted[:2])
        assert again is best and (run is best) == (wanted[1] is wanted[0])


def in_three_places(x):
    held = [x[0]]
    return held, held, [held]


def one_of_two_that_change_places(x):
    one, other = [x[0]], [x[1]]
    if x.sum() > 6:
        one, other = other, one
    one.append(x[2])
    return one, other, one


def in_each_row(x):
    row = [0, 0]
    grid = [row] * 3
    for value in x:
        if value > 1:
            grid[1][0] += 1
    return grid


def in_itself(x):
    held = {"first": x[0]}
    held["again"] = [held]
    return held


def with_its_identities(value, seen):
    """A value in which a list or dict that comes again is its number."""
    if isinstance(value, (list, dict)):
        if id(value) in seen:
            return list(seen).index(id(value))
        seen[id(value)] = value
    if isinstance(value, (list, tuple)):
        return [type(value), *(with_its_identities(one, seen) for one in value)]
    if isinstance(value, dict):
        return {key: with_its_identities(one, seen) for key, one in value.items()}
    return float(value)


@pytest.mark.parametrize(
    "function", [in_three_places, one_of_two_that_change_places, in_each_row, in_itself]
)
def test_a_file_gives_one_object_in_several_places(function, tmp_path):
    static = to_static(function, input_spec=[InputSpec([None], "float32")])
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    for values in CALLS:
        x = dy2st.to_tensor(values)
        wanted = with_its_identities(function(x), {})
        assert with_its_identities(loaded(x), {}) == with_its_identities(static(x), {}) == wanted


def a_deep_copy(x):
    rows = [[value] for value in x]
    place = int(x.argmax())
    rows[0], rows[place] = rows[place], rows[0]
    rows[0].append(x[0])
    return copy.deepcopy(rows)


def a_deep_copy_of_objects(x):
    nodes = [Node(value) for value in x if value > 0.7]
    others = nodes[::-1]
    others[0].value = 0.0
    return [node.value for node in copy.deepcopy(nodes)]


@pytest.mark.parametrize("function", [a_deep_copy, a_deep_copy_of_objects])
def test_a_deep_copy_of_what_has_locations_is_refused(function):
    static = to_static(function, input_spec=[InputSpec([None], "float32")])
    with pytest.raises(ConversionError):
        static(dy2st.to_tensor(CALLS[0]))


def test_an_attribute_that_only_one_object_has_had_is_deleted():
    def f(x):
        node, chosen = Node(x[0]), []
        for value in x:
            if value > 0:
                chosen.append(node)
        del node.value
        return node, chosen

    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    for values in CALLS:
        node, chosen = static(dy2st.to_tensor(values))
        assert vars(node) == {"next": None}
        assert len(chosen) == sum(value > 0 for value in values)
        assert all(one is node for one in chosen)


def test_a_method_in_c_of_one_of_two_lists_is_not_given_back():
    def chosen(x):
        put = [1.0].append
        if x[0] > 0:
            put = [7.0].append
        return put

    with pytest.raises(ConversionError, match=r"chosen\(\) returns a"):
        to_static(chosen)(dy2st.to_tensor([1.0]))


class Halves:
    def __init__(self):
        self.points, self.children = [], []

    def insert(self, point, low, high):
        if self.children:
            middle = (low + high) / 2
            if point < middle:
                self.children[0].insert(point, low, middle)
            else:
                self.children[1].insert(point, middle, high)
            return
        self.points.append(point)
        if len(self.points) > 1 and high - low > 1:
            points, self.points = self.points, []
            self.children = [Halves(), Halves()]
            for one in points:
                self.insert(one, low, high)

    def depth(self):
        return 1 + max((one.depth() for one in self.children), default=0)


def test_a_recursion_that_makes_lists_in_several_places_is_traced_with_what_it_has_shown():
    def f(x):
        tree = Halves()
        for point in x:
            tree.insert(point, 0.0, 8.0)
        return tree.depth()

    static = to_static(f, engine="numpy", input_spec=[InputSpec([None])])
    for values in CALLS:
        x = dy2st.to_tensor(values)
        assert static(x) == f(x)
