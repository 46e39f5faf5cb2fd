import numpy as np
import pytest

import dy2st
from dy2st import io
from dy2st.errors import ArgumentError


def rows(count):
    return [(np.full(2, i, "float32"), i) for i in range(count)]


class Stream(io.IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def numbers(loader):
    return [np.atleast_1d(batch.numpy()).tolist() for batch in loader]


def test_batches_are_tensors_in_lists():
    batches = list(io.DataLoader(rows(5), batch_size=2))
    assert [[type(field).__name__ for field in batch] for batch in batches] == [
        ["Tensor", "Tensor"]
    ] * 3
    x, label = batches[1]
    np.testing.assert_array_equal(x.numpy(), [[2, 2], [3, 3]])
    assert x.dtype == "float32" and label.numpy().tolist() == [2, 3]
    assert batches[2][0].shape == [1, 2]


def test_a_batch_keeps_texts_and_has_no_history():
    class Named(io.Dataset):
        def __getitem__(self, idx):
            return {"name": f"n{idx}", "x": dy2st.ones([2]) * weight, "none": [1.5]}

        def __len__(self):
            return 3

    weight = dy2st.to_tensor([2.0, 3.0], stop_gradient=False)
    batch = next(iter(io.DataLoader(Named(), batch_size=3)))
    assert batch["name"] == ["n0", "n1", "n2"]
    assert batch["x"].stop_gradient and batch["x"].shape == [3, 2]
    assert batch["none"][0].numpy().tolist() == [1.5] * 3


def test_the_length_is_the_number_of_batches():
    assert len(io.DataLoader(rows(5), batch_size=2)) == 3
    assert len(io.DataLoader(rows(5), batch_size=2, drop_last=True)) == 2
    assert len(io.DataLoader(rows(5), batch_size=None)) == 5
    assert len(io.DataLoader(rows(5), batch_sampler=[[1], [2, 3]])) == 2
    loader = io.DataLoader(Stream(5), batch_size=2)
    with pytest.raises(TypeError, match=r"no len\(\)"):
        len(loader)
    assert numbers(loader) == numbers(list(loader)) == [[0, 1], [2, 3], [4]]


def test_a_last_batch_that_is_not_full_can_be_dropped():
    assert numbers(io.DataLoader(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert numbers(io.DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert numbers(io.DataLoader(Stream(4), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]


def test_a_batch_sampler_says_which_samples_make_a_batch():
    assert numbers(io.DataLoader(range(5), batch_sampler=[[4, 0], [2]])) == [[4, 0], [2]]


def test_samples_can_come_by_themselves():
    fields = list(io.DataLoader(rows(2), batch_size=None))
    np.testing.assert_array_equal(fields[1][0].numpy(), [1, 1])
    assert fields[1][1] == 1 and list(io.DataLoader(Stream(2), batch_size=None)) == [0, 1]


def test_a_collate_function_gets_the_samples():
    loader = io.DataLoader(rows(4), batch_size=2, collate_fn=lambda batch: (len(batch), batch[0]))
    assert [batch[0] for batch in loader] == [2, 2]
    assert [batch[1][1] for batch in loader] == [0, 2]


def test_a_dataset_may_change_its_array_after_it_was_given():
    class Buffer(io.Dataset):
        array = np.zeros(2)

        def __getitem__(self, idx):
            self.array[:] = idx
            return self.array

        def __len__(self):
            return 3

    assert numbers(io.DataLoader(Buffer(), batch_size=None)) == [[0, 0], [1, 1], [2, 2]]
    kept = list(io.DataLoader(Buffer(), batch_size=1, collate_fn=lambda batch: batch[0]))
    assert numbers(kept) == [[0, 0], [1, 1], [2, 2]]


def test_the_seed_repeats_the_shuffled_order():
    loader = io.DataLoader(range(20), batch_size=5, shuffle=True)
    dy2st.seed(1)
    first, second = numbers(loader), numbers(loader)
    assert first != second and sorted(sum(first, [])) == list(range(20))
    dy2st.seed(1)
    assert [numbers(loader), numbers(loader)] == [first, second]


def test_each_call_begins_anew():
    loader = io.DataLoader(range(4), batch_size=2)
    assert numbers(loader()) == numbers(loader) == [[0, 1], [2, 3]]
    assert [a.numpy().tolist() for a, _ in zip(loader, loader)] == [[0, 1], [2, 3]]


def test_what_a_dataset_raises_is_not_changed():
    class Bad(io.Dataset):
        def __getitem__(self, idx):
            raise FileNotFoundError("no.png")

        def __len__(self):
            return 2

    with pytest.raises(FileNotFoundError, match=r"no\.png"):
        list(io.DataLoader(Bad()))


def test_here_no_worker_has_anything_to_tell():
    assert io.get_worker_info() is None


def test_what_paddle_takes_besides_makes_no_difference():
    loader = io.DataLoader(
        range(2), places="cpu", return_list=False, use_buffer_reader=False, reader_buffer_size=1
    )
    assert numbers(loader) == [[0], [1]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"feed_list": ["x"]},
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 0},
        {"batch_size": 0},
        {"batch_size": None, "shuffle": True},
        {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "shuffle": True},
        {"batch_sampler": [[0]], "drop_last": True},
        {"dataset": Stream(1), "shuffle": True},
        {"dataset": Stream(1), "batch_sampler": [[0]]},
    ],
)
def test_what_contradicts_itself_is_refused(arguments):
    with pytest.raises(ArgumentError):
        io.DataLoader(**{"dataset": range(3), **arguments})
