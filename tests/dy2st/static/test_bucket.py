"""bucket: the right Program for every size, exactly or padded where that is proved to be the same."""

from __future__ import annotations

import collections
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ArgumentError, ShapeError, SpecError
from dy2st.static import Dim, InputSpec, bucket
from dy2st.static.padding import NotIndifferent, proof_of
from dy2st_runtime.ir import Program
from tests.dy2st.static.bucket_programs import compare, program_of
from tests.effort import effort

F = nn.functional


def floats(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def static_of(function, *specs):
    return to_static(function, input_spec=list(specs))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return F.softmax(self.second(self.norm(F.relu(self.first(x)))), axis=-1)


def net(pad=True, **sizes):
    dy2st.seed(0)
    layer = Net()
    static = static_of(type(layer).forward.__get__(layer), InputSpec(["batch", "length", 4]))
    return layer, bucket(static, pad=pad, **sizes)


def test_every_size_is_served_by_the_smallest_bucket_that_fits():
    layer, fast = net(batch=[1, 8, 32])
    for size, wanted in ((1, 1), (2, 8), (7, 8), (8, 8), (9, 32), (31, 32), (32, 32)):
        before = {choice: count.hits for choice, count in fast._counts.items()}
        x = floats(size, 3, 4)
        found = fast(dy2st.to_tensor(x))
        np.testing.assert_allclose(found.numpy(), layer(dy2st.to_tensor(x)).numpy(), rtol=1e-5)
        used = [c for c, count in fast._counts.items() if count.hits != before.get(c, 0)]
        assert used == [(wanted,)] and found.shape == [size, 3, 3]


def test_a_size_above_all_buckets_names_the_argument_and_the_largest():
    _, fast = net(batch=[1, 8])
    with pytest.raises(
        SpecError, match="argument `x`, axis 0: 9; the largest bucket of `batch` is 8"
    ):
        fast(floats(9, 3, 4))


def test_no_elements_are_padded_too():
    _, fast = net(batch=[4])
    assert fast(floats(0, 3, 4)).shape == [0, 3, 3]


def test_without_padding_only_these_sizes_are_served():
    _, fast = net(pad=False, batch=[2, 4])
    assert fast(floats(4, 1, 4)).shape == [4, 1, 3]
    with pytest.raises(SpecError, match="3; no bucket of `batch` has this size"):
        fast(floats(3, 1, 4))


def test_a_range_stays_unknown_within():
    layer, fast = net(batch=[1, (2, 16)])
    for size in (1, 2, 9, 16):
        x = dy2st.to_tensor(floats(size, 2, 4))
        np.testing.assert_allclose(fast(x).numpy(), layer(x).numpy(), rtol=1e-5)
    assert [str(s) for s in fast._made[((2, 16),)].program.inputs[0].shape][0] == "batch"
    with pytest.raises(SpecError, match="the largest bucket of `batch` is 16"):
        fast(floats(17, 2, 4))


def test_two_sizes_make_their_combinations_when_they_are_used():
    layer, fast = net(batch=[1, 4], length=range(2, 9, 2))
    assert len(fast.all_buckets()) == 8 and not fast._made
    for b, t in ((1, 2), (3, 5), (4, 8), (2, 7)):
        x = dy2st.to_tensor(floats(b, t, 4))
        np.testing.assert_allclose(fast(x).numpy(), layer(x).numpy(), rtol=1e-5)
    assert set(fast._made) == {(1, 2), (4, 6), (4, 8)}


def test_the_programs_used_last_are_kept():
    dy2st.seed(0)
    static = static_of(lambda x: x * 2.0, InputSpec(["n"]))
    fast = bucket(static, cache_size=2, n=[1, 2, 3])
    for size in (1, 2, 1, 3):
        fast(floats(size))
    assert set(fast._made) == {(1,), (3,)}
    assert fast(floats(2)).shape == [2]
    assert "dropped" in fast.report()


def test_the_report_shows_hits_padding_and_memory():
    _, fast = net(batch=[1, 8])
    for size in (1, 4, 8, 8):
        fast(floats(size, 2, 4))
    assert fast.report().splitlines() == [
        "batch  hits  padding  constants",
        "-------------------------------",
        "1      1     0.0 %    0 bytes",
        "8      3     16.7 %   0 bytes",
        "",
        "2 of 2 Programs are kept; 4 calls",
    ]


TABLE = dy2st.to_tensor(np.arange(64, dtype="float32").reshape(16, 4))


def written(x, place):
    y = x + 0.0
    y[place] = 1.0
    return y


def masked(x):
    mask = (x > 0).astype("float32")
    mask.stop_gradient = True
    return mask


def gathered(x, turns):
    found = []
    for turn in range(turns):
        found.append(x * turn)
    return found


def turned(x, turns):
    for _ in range(turns):
        x = x + 1.0
    return x


# Functions of x (n, 4) that must not be padded along n, and what the refusal names.
MIXING = {
    "sum": (lambda x: x.sum(axis=0), "`sum` works along it"),
    "sum of all": (lambda x: x.sum(), "`sum` works along it"),
    "mean": (lambda x: x.mean(axis=0, keepdim=True) + x, "`mean` works along it"),
    "softmax": (lambda x: F.softmax(x, axis=0), "`softmax` works along it"),
    "contraction": (lambda x: dy2st.matmul(x.t(), x), "`matmul` works along it"),
    "flip": (lambda x: dy2st.flip(x, [0]), "`flip` works along it"),
    "roll": (lambda x: dy2st.roll(x, 1, 0), "`roll` works along it"),
    "sort": (lambda x: dy2st.argsort(x, axis=0), "`argsort` works along it"),
    "the last": (lambda x: x[-1], "takes a part of it"),
    "all but the last": (lambda x: x[:-1], "takes a part of it"),
    "the number": (lambda x: x * x.shape[0], "needs the number n itself"),
    "the shape": (lambda x: x * dy2st.shape(x)[0], "needs the number n itself"),
    "mixed axes": (lambda x: x.reshape([-1]), "mixes it with other axes"),
    "mixed and back": (lambda x: x.reshape([4, -1]), "mixes it with other axes"),
    "convolution": (
        lambda x: F.conv1d(x.reshape([1, 1, -1]), dy2st.ones([1, 1, 3])),
        "mixes it with other axes",
    ),
    "joined to itself": (lambda x: dy2st.concat([x, x]), "works along it"),
    "where": (lambda x: dy2st.nonzero(x), "`nonzero` is not known"),
    "a branch": (lambda x: dy2st.where(x.sum(axis=0) > 0, x, -x), "works along it"),
    "a tensor of the number": (
        lambda x: x + dy2st.full([4], x.shape[0], "float32"),
        "the number n",
    ),
    "a mean by hand": (lambda x: x.sum(1) / dy2st.full_like(x[:, 0], x.shape[0]), "the number n"),
    "the last row of a table": (lambda x: x + TABLE[x.shape[0] - 1], "the number n"),
    "the last rows of a table": (
        lambda x: x + TABLE[x.shape[0] - 3 : x.shape[0]].sum(0),
        "number n",
    ),
    "a row from the end": (lambda x: x + TABLE[16 - x.shape[0]], "the number n"),
    "the middle of a table": (lambda x: x + TABLE[x.shape[0] // 2], "the number n"),
    "half a table": (lambda x: x + TABLE[: x.shape[0] // 2].sum(0), "has the size"),
    "all rows of a table": (lambda x: x + TABLE[: x.shape[0]].sum(0), "`sum` works along it"),
    "pads": (lambda x: F.pad(x, [0, 0, 0, x.shape[0]]), "needs the number n itself"),
    "turned by the number": (lambda x: dy2st.roll(x, x.shape[0], 1), "needs the number n itself"),
    "numbers at equal distances": (lambda x: dy2st.linspace(0, 1, x.shape[0]), "the number n"),
    "a class": (lambda x: F.one_hot((x > 0).astype("int64"), x.shape[0])[:, :, :1], "number n"),
    "places from the end": (lambda x: dy2st.arange(x.shape[0] - 1, -1, -1), "the number n"),
    "all but the last place": (
        lambda x: dy2st.where(dy2st.arange(x.shape[0]) < x.shape[0] - 1, x.sum(1), x.max(1)),
        "needs the number n itself",
    ),
    "every row twice": (lambda x: x[dy2st.arange(x.shape[0]) // 2], "`index` may fail"),
    "too few rows of a table": (lambda x: TABLE[:9][dy2st.arange(x.shape[0])], "may fail"),
    "rows written at places": (
        lambda x: written(TABLE.clone(), (x[:, 0] > 0).astype("int64")),
        "writes as many elements",
    ),
    "a list": (lambda x: gathered(x, int(TABLE[0, 1] + 2)), "a list that is returned holds it"),
    "a list of what was summed": (
        lambda x: dy2st.stack(gathered(x, int(TABLE[0, 1] + 2))).sum(1),
        "`sum` works along it",
    ),
    "places that may not be there": (
        lambda x: TABLE[dy2st.cumsum((x > 0).astype("int64"), 0)],
        "`index` may fail for what is behind the real elements",
    ),
    "the last row written": (lambda x: written(x, x.shape[0] - 1), "the number n"),
    "two rows written": (lambda x: written(TABLE.clone(), slice(0, x.shape[0])), "as many"),
    "random numbers": (lambda x: x + dy2st.rand([x.shape[0], 4]), "the number n"),
    "turns": (lambda x: turned(x, x.shape[0]), "the number n"),
    "a size that is returned": (lambda x: (x, x.shape[0]), "the number n"),
    "cumsum reversed": (lambda x: dy2st.flip(dy2st.cumsum(dy2st.flip(x, [0]), 0), [0]), "flip"),
}


@pytest.mark.parametrize("name", MIXING)
def test_padding_is_refused_where_the_result_would_differ(name):
    function, reason = MIXING[name]
    fast = bucket(static_of(function, InputSpec([Dim("n", max=16), 4], name="x")), n=[8])
    fast(floats(8, 4))
    with pytest.raises(SpecError) as caught:
        fast(floats(5, 4))
    text = str(caught.value)
    assert text.startswith("argument `x`, axis 0: 5; it cannot be padded to 8: ")
    assert reason in text and "test_bucket.py:" in text


def loops(x):
    while x.mean() < 0.0:
        x = x + 1.0
    return x


def branches_on_the_size(x):
    if x.shape[0] > 6:
        x = x * 2.0
    return x


def changes_what_it_repeats(x, turns):
    place = (x[:, 0] > 0).astype("int64")
    for _ in range(turns):
        x = x + TABLE[place]
        place = dy2st.cumsum(place, 0)
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (loops, "`mean` works along it"),
        (branches_on_the_size, "needs the number n itself"),
        (lambda x: changes_what_it_repeats(x, dy2st.to_tensor(2)), "`index` may fail"),
    ],
)
def test_a_branch_or_loop_that_sees_the_axis_is_refused(function, reason):
    fast = bucket(static_of(function, InputSpec(["n", 4], name="x")), n=[8])
    with pytest.raises(SpecError, match=f"cannot be padded to 8: .*{reason}"):
        fast(floats(5, 4))


def test_a_bucket_that_breaks_what_is_required_is_not_padded_to():
    fast = bucket(static_of(lambda x: x[3:].sum(1), InputSpec(["n", 4], name="x")), n=[8])
    assert fast(floats(8, 4)).shape == [5]
    wide = static_of(lambda x, y: x + y[: x.shape[0]], InputSpec(["n", 4]), InputSpec(["m", 4]))
    fast = bucket(wide, n=[8])
    assert fast(floats(8, 4), floats(9, 4)).shape == [8, 4]
    with pytest.raises(SpecError, match="cannot be padded to 8"):
        fast(floats(5, 4), floats(6, 4))


def test_a_buffer_that_would_be_padded_is_refused():
    program = static_of(lambda x: (x, x * 2.0), InputSpec(["n", 4])).main_program
    program.updates = ["last"]
    with pytest.raises(NotIndifferent, match="the buffer `last` gets it"):
        proof_of(program, program.inputs[0].shape[0])


def test_nothing_is_padded_with_what_may_fail():
    table = dy2st.ones([2, 3])
    static = static_of(lambda ids: table[ids - 4], InputSpec(["n"], "int64", name="ids"))
    fast = bucket(static, n=[4])
    assert fast(np.full(3, 5)).shape == [3, 3]
    with pytest.raises(SpecError, match="there is no last element to repeat"):
        fast(np.zeros(0, "int64"))


WIDE = dy2st.to_tensor(floats(9, 4))

# Functions of x (n, t, 4) that may be padded along n and along t.
INDIFFERENT = {
    "elementwise": lambda x: dy2st.tanh(x) * 2.0 + x,
    "linear": lambda x: dy2st.matmul(x, dy2st.ones([4, 3])),
    "softmax of the last axis": lambda x: F.softmax(x, axis=-1),
    "sum of the last axis": lambda x: x.sum(axis=2),
    "sum and keep": lambda x: x - x.mean(axis=2, keepdim=True),
    "layer norm": lambda x: F.layer_norm(x, [4]),
    "merged and split": lambda x: x.reshape([x.shape[0], x.shape[1], 2, 2]).transpose([0, 2, 1, 3]),
    "cumulative sum": lambda x: dy2st.cumsum(x, 1),
    "a causal mask": lambda x: dy2st.where(x > 0, x, dy2st.zeros_like(x)),
    "concat of others": lambda x: dy2st.concat([x, x * 2.0], axis=2),
    "stack": lambda x: dy2st.stack([x, -x], axis=0),
    "a slice of others": lambda x: x[:, :, 1:3],
    "embedding": lambda x: F.embedding((x > 0).astype("int64"), dy2st.ones([2, 5])),
    "the first": lambda x: x[:, 0],
    "one hot": lambda x: F.one_hot((x > 0).astype("int64"), 2),
    "rows of a table": lambda x: x + WIDE[: x.shape[1]],
    "rows of a table from the second": lambda x: x + WIDE[1 : x.shape[1] + 1],
    "places": lambda x: x * dy2st.arange(x.shape[1], dtype="float32").unsqueeze(1),
    "lower triangles": lambda x: dy2st.matmul(x, x.transpose([0, 2, 1])).tril(),
    "a mask of places": lambda x: dy2st.where(dy2st.arange(x.shape[1]) < 2, x.sum(2), x.max(2)),
    "one column written": lambda x: written(x, (slice(None), slice(None), 2)),
    "rows picked in two axes": lambda x: WIDE[(x > 0).astype("int64"), (x > 1).astype("int64")],
    "a vector": lambda x: dy2st.matmul(x, dy2st.ones([4])),
    "turns that a tensor counts": lambda x: turned(x, int(WIDE[0, 1] * 0 + 3)),
    "a branch on other data": lambda x: dy2st.tanh(x) if WIDE.sum() > 0 else x,
    "the largest": lambda x: dy2st.topk(x, 2)[0],
    "sorted": lambda x: dy2st.sort(x, -1),
    "the largest of a table": lambda x: WIDE[dy2st.topk(x, 1)[1]],
    "one element a row": lambda x: x[:, 0][dy2st.arange(x.shape[0]), 1] * 2.0,
    "losses": lambda x: F.cross_entropy(x, dy2st.argmax(x, 2), reduction="none", axis=2),
    "rows of a table, counted": lambda x: x + WIDE[dy2st.arange(x.shape[1])],
    "a list that a loop fills": lambda x: dy2st.stack(gathered(x, int(WIDE[0, 1] * 0 + 3)), axis=1),
    "an element of a list": lambda x: gathered(x, int(WIDE[0, 1] * 0 + 3))[1],
    "one picked column written": lambda x: written(
        x, (slice(None), slice(None), (WIDE.sum() > 0).astype("int64"))
    ),
    "a mask without a gradient": lambda x: x * masked(x),
    "several results": lambda x: (x + 1.0, {"b": [x.max(axis=2)]}),
    "expanded": lambda x: x.unsqueeze(1).expand([x.shape[0], 2, x.shape[1], 4]),
    "pads of others": lambda x: F.pad(x, [0, 0, 0, 0, 1, 2]),
}


@pytest.mark.parametrize("name", INDIFFERENT)
def test_padding_gives_what_comes_without_it(name):
    function = INDIFFERENT[name]
    static = static_of(function, InputSpec(["n", Dim("t", min=1, max=8), 4], name="x"))
    fast = bucket(static, n=[4], t=[6])
    for n, t in ((4, 6), (3, 6), (4, 1), (2, 5)):
        x = dy2st.to_tensor(floats(n, t, 4))
        flat, wanted = _flat(fast(x)), _flat(function(x))
        assert len(flat) == len(wanted)
        for one, other in zip(flat, wanted, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [leaf for entry in value for leaf in _flat(entry)]
    return _flat(list(value.values())) if isinstance(value, dict) else [value]


def test_images_of_a_batch_are_each_for_themselves():
    def model(x, w):
        return F.max_pool2d(F.relu(F.conv2d(x, w, padding=1)), 2)

    specs = [InputSpec(["n", 1, 8, 8]), InputSpec([2, 1, 3, 3])]
    fast, w = bucket(static_of(model, *specs), n=[4]), dy2st.to_tensor(floats(2, 1, 3, 3))
    x = dy2st.to_tensor(floats(3, 1, 8, 8))
    np.testing.assert_allclose(fast(x, w).numpy(), model(x, w).numpy(), rtol=1e-5, atol=1e-6)


def test_constraints_hold_for_the_real_sizes():
    def model(x):
        return x.reshape([x.shape[0], 2, -1])

    fast = bucket(static_of(model, InputSpec(["n", "m"], name="x")), m=[8])
    assert fast(floats(2, 8)).shape == [2, 2, 4]
    with pytest.raises(ShapeError, match="m = 7"):
        fast(floats(2, 7))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n": []}, "the size n has no buckets"),
        ({"k": [1]}, "has no size 'k'; it has n"),
        ({"n": [0]}, "the size n is from 1 to 64, not 0"),
        ({"n": [65]}, "the size n is from 1 to 64, not 65"),
        ({"n": [2.5]}, "the size n is an int, not 2.5"),
        ({"n": [(1, 8), (8, 16)]}, r"the buckets \(1, 8\) and \(8, 16\) of the size n overlap"),
        ({"n": [(8, 1)]}, r"a range of the size n is \(low, high\), not \(8, 1\)"),
        ({}, "bucket needs the sizes"),
    ],
)
def test_buckets_that_have_no_meaning_are_one_clear_error(sizes, message):
    static = static_of(lambda x: x * 2.0, InputSpec([Dim("n", min=1, max=64)]))
    with pytest.raises(SpecError, match=message):
        bucket(static, **sizes)


def test_a_program_with_parameters_needs_the_function_that_has_them():
    layer = Net()
    static = static_of(type(layer).forward.__get__(layer), InputSpec(["n", 4]))
    with pytest.raises(ArgumentError, match="has parameters"):
        bucket(static.main_program, n=[1])
    with pytest.raises(TypeError, match="takes a Program or a converted function"):
        bucket("a name", n=[1])


entries = st.integers(0, 40).map(lambda n: n) | st.tuples(
    st.integers(0, 40), st.integers(0, 12)
).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(max_examples=60, deadline=None)
@given(st.lists(entries, min_size=1, max_size=6), st.lists(st.integers(0, 55), max_size=8))
def test_any_table_serves_a_size_rightly_or_refuses_it(table, sizes):
    static = static_of(lambda x: x + 1.0, InputSpec(["n"], name="x"))
    try:
        fast = bucket(static, n=table)
    except SpecError as error:
        assert "overlap" in str(error)
        return
    tops = [e if isinstance(e, int) else e[1] for e in table]
    for size in sizes:
        x = floats(size)
        try:
            np.testing.assert_array_equal(fast(x).numpy(), x + 1.0)
        except SpecError:
            in_range = [e for e in table if isinstance(e, tuple) and e[0] <= size <= e[1]]
            assert not in_range and size not in table
            above = min(
                (e for e in table if (e if isinstance(e, int) else e[1]) >= size),
                key=lambda e: e if isinstance(e, int) else e[1],
                default=None,
            )
            assert size > max(tops) or isinstance(above, tuple)


def test_the_proof_says_which_axes_are_longer():
    program = static_of(lambda x: x.unsqueeze(0), InputSpec(["n", 4])).main_program
    assert isinstance(program, Program)
    symbol = program.inputs[0].shape[0]
    assert proof_of(program, symbol).outputs == [frozenset({1})]
    doubled = static_of(lambda x: x, InputSpec([2 * Dim("n"), 4])).main_program
    with pytest.raises(NotIndifferent, match=r"axis 0, has the size 2\*n"):
        proof_of(doubled, dy2st.dims.symbols(doubled.inputs[0].shape[0])[0])


def test_pads_by_another_size_leave_the_axis_alone():
    def model(x, y):
        return F.pad(x, [0, 0, y.shape[0], 0])

    fast = bucket(static_of(model, InputSpec(["n", 4]), InputSpec(["m", 4])), n=[8])
    x, y = dy2st.to_tensor(floats(5, 4)), dy2st.to_tensor(floats(3, 4))
    np.testing.assert_array_equal(fast(x, y).numpy(), model(x, y).numpy())


def test_places_are_counted_from_another_size():
    def model(x, y):
        return x[:, 0] + dy2st.arange(y.shape[0], y.shape[0] + 2 * x.shape[0], 2, "float32")

    fast = bucket(static_of(model, InputSpec(["n", 4]), InputSpec(["m", 4])), n=[8])
    x, y = dy2st.to_tensor(floats(5, 4)), dy2st.to_tensor(floats(3, 4))
    np.testing.assert_array_equal(fast(x, y).numpy(), model(x, y).numpy())


# -- random programs -------------------------------------------------------------------------------


COUNT = effort(60, 2_000)


def test_random_programs_give_the_same_padded_and_not():
    found = collections.Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        for seed in range(COUNT):
            found[compare(program_of(seed), f"<bucket program {seed}>").split()[0]] += 1
    assert found["padded"] > COUNT * 2 // 3
