"""What a model keeps as inputs is read from its file as strictly as everything else."""

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ParameterMismatch
from dy2st.jit import load, save
from dy2st.static import InputSpec
from dy2st_runtime.io import LoadedModel, save_programs

ROW = np.arange(3, dtype="float32")


class Rows(nn.Layer):
    """Keeps all that it is given, and their mean."""

    def __init__(self):
        super().__init__()
        self.rows, self.all = [], dy2st.zeros([0, 3])

    def forward(self, x):
        self.rows.append(x)
        self.all = dy2st.concat([self.all, x.unsqueeze(0)])
        return self.all.mean(0) * len(self.rows)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("kept") / "rows")
    save(to_static(Rows()), path, [InputSpec([3], "float32", "x")])
    model = load(path, mmap=False)
    for _ in range(2):
        model(ROW)
    return model


def test_a_list_is_stored_as_its_length_and_its_entries(saved):
    arrays = saved.arrays()
    assert sorted(arrays) == ["all", "rows", "rows[0]", "rows[1]"]
    assert arrays["rows"].item() == 2
    assert arrays["all"].shape == (2, 3)


BROKEN = {
    "an entry is missing": ({"rows[1]": None}, "lacks 'rows\\[1\\]'"),
    "a length beyond the entries": ({"rows": np.asarray(3)}, "lacks 'rows\\[2\\]'"),
    "a huge length": ({"rows": np.asarray(2**40)}, "'rows' is not the length of a list"),
    "a negative length": ({"rows": np.asarray(-1)}, "'rows' is not the length of a list"),
    "a length that is no number": ({"rows": np.zeros(2)}, "'rows' is not the length of a list"),
    "an entry of another size": (
        {"rows[0]": np.zeros(4, "float32")},
        "has dtype float32 and shape",
    ),
    "a tensor of another dtype": ({"all": np.zeros((1, 3))}, "has dtype float64 and shape"),
    "a tensor of another rank": ({"all": ROW}, "has dtype float32 and shape"),
    "an array that nobody knows": ({"row": ROW}, "not in the Program: row"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_that_do_not_fit_are_refused(name, saved, tmp_path):
    changes, words = BROKEN[name]
    arrays = {**saved.arrays(), **changes}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    with pytest.raises(ParameterMismatch, match=words):
        save_programs(str(tmp_path / "rows"), saved.programs, arrays)


def test_what_a_caller_changes_is_not_what_the_model_keeps(tmp_path):
    class Last(nn.Layer):
        def __init__(self):
            super().__init__()
            self.all = dy2st.zeros([0, 3])

        def forward(self, x):
            self.all = dy2st.concat([self.all, x.unsqueeze(0)])
            return self.all

    path = str(tmp_path / "last")
    save(to_static(Last()), path, [InputSpec([3], "float32", "x")])
    model, given = load(path), dy2st.to_tensor(ROW)
    model(given).fill_(7.0)
    given.fill_(7.0)
    assert model(ROW).tolist() == [ROW.tolist()] * 2


def test_two_models_of_one_file_keep_their_own(saved):
    arrays = saved.arrays()
    one, other = (LoadedModel([*saved.programs.values()], arrays) for _ in range(2))
    assert one(ROW).tolist() == other(ROW).tolist() == (ROW * 3).tolist()


def test_gradients_go_through_one_call_alone(saved):
    model = LoadedModel([*saved.programs.values()], saved.arrays())
    for _ in range(2):
        x = dy2st.to_tensor(ROW, stop_gradient=False)
        model(x).sum().backward()
        assert x.grad.tolist() == [1.0] * 3
