"""A trace ends, however much its sizes leave open: steps of proofs are counted."""

import numpy as np

import dy2st
from dy2st_runtime.dims import collect, equal, less_equal, minimum, queries, symbol, using
from dy2st_runtime.dims.facts import Facts


def test_proofs_of_a_trace_take_so_many_steps_and_no_more():
    facts = Facts()
    facts.steps_left[0] = 2000
    with using(facts):
        sizes = [symbol(f"s{i}", 0) for i in range(12)]
        answers = [equal(n // 3 + (n + 1) // 3 + (n + 2) // 3, n) for n in sizes]
    assert facts.steps_left[0] <= 0 and answers[0] is True and answers[-1] is None
    assert facts.inside().steps_left is facts.steps_left


def test_what_no_step_is_needed_for_is_proved_behind_the_last_one():
    n = symbol("n", 1)
    facts = Facts()
    facts.steps_left[0] = 0
    with using(facts):
        assert less_equal(1, n) and equal(2 * n - n, n) and equal(n + 1, 0) is False


def test_what_is_asked_outside_of_traces_is_proved_however_much_was_asked_before():
    n = symbol("n")
    for turn in range(400):
        with collect():
            size = 2 + turn % 50
            assert equal(queries.broadcast(n, minimum(n, size)), n) is True
            assert less_equal(n, size) is True


def test_a_trace_counts_anew_whatever_was_proved_before():
    def halves(x):
        n = x.shape[0]
        return x.reshape([n // 3 + (n + 1) // 3 + (n + 2) // 3, 2]) + x

    spent = Facts()
    spent.steps_left[0] = 0
    with using(spent):
        converted = dy2st.to_static(halves, input_spec=[dy2st.static.InputSpec([None, 2])])
        assert not converted.main_program.constraints


class _Windows(dy2st.nn.Layer):
    """Attention windows of a video: padded to whole windows, cut back, then merged by two."""

    def __init__(self, windows, turns):
        super().__init__()
        self.windows, self.turns = windows, turns

    def forward(self, x):
        for _ in range(self.turns):
            d, h, w = x.shape[1:4]
            a, b, c = self.windows
            x = dy2st.nn.functional.pad(x, [0, -w % c, 0, -h % b, 0, -d % a], data_format="NDHWC")
            n, dp, hp, wp, channels = x.shape
            parts = x.reshape([n, dp // a, a, hp // b, b, wp // c, c, channels])
            parts = parts.transpose([0, 1, 3, 5, 2, 4, 6, 7]).reshape([-1, a * b * c, channels])
            x = parts.reshape([n, dp // a, hp // b, wp // c, a, b, c, channels])
            x = x.transpose([0, 1, 4, 2, 5, 3, 6, 7]).reshape([n, dp, hp, wp, channels])
            x = x[:, :d, :h, :w] + 1
            if h % 2 == 1 or w % 2 == 1:
                x = dy2st.nn.functional.pad(x, [0, w % 2, 0, h % 2, 0, 0], data_format="NDHWC")
            corners = [x[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
            x = dy2st.concat(corners, -1).mean(-1, keepdim=True)
        return x


def test_windows_over_five_unknown_sizes_are_traced_in_few_steps(monkeypatch):
    monkeypatch.setattr("dy2st_runtime.dims.facts._MOST_STEPS", 20_000)
    net = _Windows((2, 4, 4), 2)
    spec = [dy2st.static.InputSpec([None, None, None, None, 1])]
    converted = dy2st.to_static(net.forward, input_spec=spec)
    for shape in ((1, 3, 9, 10, 1), (2, 2, 16, 8, 1)):
        x = dy2st.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))
        assert np.allclose(converted(x).numpy(), net(x).numpy(), atol=1e-6)
    assert len(converted.program_cache) == 1
