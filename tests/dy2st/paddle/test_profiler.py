"""Times of steps; what would need records of kernels is refused."""

import time

import pytest

import dy2st
from dy2st import profiler


def test_steps_are_timed():
    with profiler.Profiler(timer_only=True) as watched:
        for _ in range(2):
            with profiler.RecordEvent("work"):
                time.sleep(0.01)
            watched.step(num_samples=4)
    cost, rate = watched.step_info("images").split(", ")
    assert 0.009 < float(cost.split()[2]) < 1 and rate.endswith(" images/s")
    assert watched.step_info() == "avg batch_cost: 0.00000 sec"


def test_who_waits_for_the_end_is_called():
    ended = []
    watched = profiler.Profiler(on_trace_ready=ended.append, targets=[profiler.ProfilerTarget.CPU])
    watched.start(), watched.stop()
    assert ended == [watched]


def test_a_scheduler_says_what_is_watched():
    state = profiler.make_scheduler(closed=1, ready=0, record=1, repeat=1, skip_first=1)
    names = [state(step).name for step in range(4)]
    assert names == ["CLOSED", "CLOSED", "RECORD_AND_RETURN", "CLOSED"]


@pytest.mark.parametrize(
    "use",
    [
        lambda: profiler.export_chrome_tracing("."),
        lambda: profiler.export_protobuf("."),
        lambda: profiler.Profiler().summary(),
        lambda: profiler.Profiler().export("a.json"),
    ],
)
def test_records_of_kernels_are_refused(use):
    with pytest.raises(dy2st.errors.ArgumentError, match="kernels are not recorded"):
        use()
