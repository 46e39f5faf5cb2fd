"""The best path of tags: against all paths tried one by one."""

import itertools

import numpy as np
import pytest

import dy2st
from dy2st.paddle.text import ViterbiDecoder, viterbi_decode
from dy2st.static import InputSpec

RANDOM = np.random.default_rng(4)
SCORES = RANDOM.standard_normal((5, 4, 4)).astype("float32")
STEPS = RANDOM.standard_normal((4, 4)).astype("float32")


def best(scores, length, has_ends):
    """The score and the path, by trying all."""

    def total(path):
        found = sum(scores[t, tag] for t, tag in enumerate(path))
        found += sum(STEPS[pair] for pair in itertools.pairwise(path))
        return found + (STEPS[-1, path[0]] + STEPS[-2, path[-1]] if has_ends else 0)

    path = max(itertools.product(range(4), repeat=length), key=total)
    return total(path), path


@pytest.mark.parametrize("has_ends", [True, False])
@pytest.mark.parametrize("lengths", [[4, 3, 2, 1, 4], [2, 1, 2, 2, 1], [1, 1, 1, 1, 1]])
def test_paths_are_the_best_of_all(has_ends, lengths):
    found, paths = viterbi_decode(
        dy2st.to_tensor(SCORES), dy2st.to_tensor(STEPS), dy2st.to_tensor(lengths), has_ends
    )
    assert paths.shape == [5, max(lengths)] and paths.dtype == np.int64
    for scores, length, total, path in zip(SCORES, lengths, found, paths, strict=True):
        expected, expected_path = best(scores, length, has_ends)
        assert float(total) == pytest.approx(expected, rel=1e-5)
        assert path.tolist() == [*expected_path, *[0] * (max(lengths) - length)]


def test_one_program_decodes_batches_and_times_of_unknown_size():
    decoder = ViterbiDecoder(dy2st.to_tensor(STEPS))
    specs = [InputSpec([None, None, 4], "float32", "x"), InputSpec([None], "int64", "n")]
    call = dy2st.jit.to_static(decoder.forward, input_spec=specs)
    for count, lengths in ((5, [4, 3, 2, 1, 4]), (2, [2, 3]), (1, [1])):
        given = dy2st.to_tensor(SCORES[:count]), dy2st.to_tensor(np.array(lengths))
        for found, expected in zip(call(*given), decoder(*given), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(dy2st.errors.ShapeError, match="viterbi_decode takes"):
        viterbi_decode(dy2st.ones([2, 3]), dy2st.ones([3, 3]), dy2st.to_tensor([2, 2]))
