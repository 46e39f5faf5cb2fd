"""What a Layer writes: its buffers, counters, logs and caches, and what is printed or filed."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import pathlib
import sys
import tempfile
import warnings

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.jit.outside.scenario import Box, each_call, effect, layer_of


def of(net, *names):
    """What to compare of a Layer."""
    return lambda: [comparable(getattr(net, name)) for name in names]


@effect
def a_counter():
    def forward(self, x):
        self.count += 1
        return x * 2

    net = layer_of(forward, count=0)
    return net, of(net, "count")


@effect
def a_warm_up():
    def forward(self, x):
        self.step = self.step + 1
        if self.step < 3:
            return x * (self.step / 3)
        return x

    net = layer_of(forward, step=0)
    return net, of(net, "step")


@effect
def a_layer_chosen_by_a_counter():
    def forward(self, x):
        y = self.steps[self.turn](x)
        self.turn = (self.turn + 1) % 2
        return y

    net = layer_of(forward, steps=nn.LayerList([nn.ReLU(), nn.Sigmoid()]), turn=0)
    return net, of(net, "turn")


@effect
def a_log():
    def forward(self, x):
        y = x * 2
        self.log.append(y)
        return y

    net = layer_of(forward, log=[])
    return net, of(net, "log")


@effect
def a_log_of_python_numbers():
    def forward(self, x):
        self.log.append((len(x.shape), "called"))
        return x

    net = layer_of(forward, log=[])
    return net, of(net, "log")


@effect
def a_dict_of_statistics():
    def forward(self, x):
        self.stats["mean"] = x.mean()
        self.stats["calls"] = self.stats.get("calls", 0) + 1
        return x - self.stats["mean"]

    net = layer_of(forward, stats={})
    return net, of(net, "stats")


@effect
def a_buffer():
    def forward(self, x):
        self.mean = self.mean * 0.5 + x * 0.5
        return x - self.mean

    net = layer_of(forward)
    net.register_buffer("mean", dy2st.zeros([2]))
    return net, of(net, "mean")


@effect
def a_buffer_read_before_it_is_assigned():
    def forward(self, x):
        before = self.h
        self.h = dy2st.tanh(x + before)
        return self.h - before

    net = layer_of(forward)
    net.register_buffer("h", dy2st.zeros([2]))
    return net, of(net, "h")


@effect
def a_buffer_in_a_branch():
    def forward(self, x):
        if x.sum() > 2.5:
            self.h = self.h + x
        return x + self.h

    net = layer_of(forward)
    net.register_buffer("h", dy2st.zeros([2]))
    return net, of(net, "h")


@effect
def a_buffer_in_a_loop():
    def forward(self, x):
        for value in x:
            self.h = self.h + value
        return x + self.h

    net = layer_of(forward)
    net.register_buffer("h", dy2st.zeros([2]))
    return net, of(net, "h")


@effect
def a_counter_that_is_a_buffer():
    def forward(self, x):
        self.seen += 1
        return x / self.seen

    net = layer_of(forward)
    net.register_buffer("seen", dy2st.zeros([], "int64"))
    return net, of(net, "seen")


@effect
def a_buffer_set_in_place():
    def forward(self, x):
        self.h.set_value(x * 2)
        return x

    net = layer_of(forward)
    net.register_buffer("h", dy2st.zeros([2]))
    return net, of(net, "h")


@effect
def running_statistics():
    net = layer_of(
        lambda self, x: self.norm(x.reshape([2, 1]).tile([1, 2])), norm=nn.BatchNorm1D(2)
    )
    return net, lambda: [comparable(net.norm._mean), comparable(net.norm._variance)]


@effect
def a_hidden_state():
    def forward(self, x):
        if self.hidden is None:
            self.hidden = dy2st.zeros([2])
        self.hidden = dy2st.tanh(self.hidden + x)
        return self.hidden * 2

    net = layer_of(forward, hidden=None)
    return net, of(net, "hidden")


@effect
def a_hidden_state_of_two():
    def forward(self, x):
        h, c = self.state
        c = c + x
        h = dy2st.tanh(c) + h
        self.state = (h, c)
        return h

    net = layer_of(forward, state=(dy2st.zeros([2]), dy2st.zeros([2])))
    return net, of(net, "state")


@effect
def a_cache_of_masks():
    def forward(self, x):
        n = x.shape[0]
        if n not in self.masks:
            self.masks[n] = dy2st.arange(n).astype("float32")
        return x * self.masks[n]

    net = layer_of(forward, masks={})
    return net, of(net, "masks")


@effect
def features_kept_by_a_hook():
    kept = Box(features=None, calls=0)

    def hook(layer, given, out):
        kept.features = out
        kept.calls += 1

    net = nn.Sequential(nn.ReLU())
    net[0].register_forward_post_hook(hook)
    return net, lambda: [comparable(kept.features), kept.calls]


@effect
def the_mode_set_inside():
    def forward(self, x):
        if self.training:
            self.eval()
            return x * 2
        return x * 3

    net = layer_of(forward)
    return net, of(net, "training")


@effect
def a_loss_kept_beside_the_result():
    def forward(self, x):
        self.loss = (x * x).mean()
        return x * 2

    net = layer_of(forward)
    return net, of(net, "loss")


@effect
def a_layer_made_at_the_first_call():
    def forward(self, x):
        if self.inner is None:
            self.inner = nn.LayerNorm([x.shape[0]])
        return self.inner(x)

    net = layer_of(forward, inner=None)
    return net, lambda: type(net.inner).__name__


@effect
def what_a_sublayer_counts():
    def inner(self, x):
        self.count += 1
        return x * self.count

    net = layer_of(lambda self, x: self.inner(self.inner(x)), inner=layer_of(inner, count=0))
    return net, lambda: net.inner.count


@effect
def what_two_layers_share():
    shared = Box(memory=[])

    def put(self, x):
        self.shared.memory.append(x.sum())
        return x * 2

    def take(self, x):
        return x + self.shared.memory.pop()

    net = nn.Sequential(layer_of(put, shared=shared), layer_of(take, shared=shared))
    return net, lambda: len(shared.memory)


@effect
def a_buffer_assigned_before_an_error():
    def forward(self, x):
        self.steps = self.steps + 1
        if x.sum() > 2.5:
            raise ValueError("too much")
        return x

    net = layer_of(forward)
    net.register_buffer("steps", dy2st.zeros([]))
    return net, of(net, "steps")


@effect
def a_buffer_set_in_place_before_an_error():
    def forward(self, x):
        self.mean.set_value(x)
        if x.sum() > 2.5:
            raise ValueError("too much")
        return x

    net = layer_of(forward)
    net.register_buffer("mean", dy2st.zeros([2]))
    return net, of(net, "mean")


@effect
def a_line_printed_before_an_error():
    def f(x):
        print("called")
        if x.sum() > 2.5:
            raise ValueError("too much")
        return x

    return f, lambda: None


@effect
def an_attribute_assigned_before_an_error():
    held = Box(last=0)

    def f(x):
        held.last = "called"
        if x.sum() > 2.5:
            held.last = "raised"
            raise ValueError("too much")
        return x

    return f, lambda: held.last


@effect
def a_line_printed():
    def f(x):
        print("called")
        return x

    return f, lambda: None


@effect
def a_tensor_printed():
    def f(x):
        print("sum", float(x.sum()))
        return x

    return f, lambda: None


@effect
def a_line_printed_where_a_tensor_decides():
    def f(x):
        if x.sum() > 2.5:
            print("big")
        return x

    return f, lambda: None


@effect
def a_line_printed_in_a_loop():
    def f(x):
        for value in x:
            print(f"{float(value):.2f}")
        return x

    return f, lambda: None


@effect
def lines_printed_with_a_counter():
    held = Box(count=0)

    def f(x):
        held.count += 1
        print(f"call {held.count}")
        return x

    return f, lambda: held.count


@each_call
def a_text_written():
    held = io.StringIO()

    def f(x):
        held.write("called\n")
        return x

    return f, held.getvalue


@each_call
def print_into_a_text():
    held = io.StringIO()

    def f(x):
        print("sum", float(x.sum()), file=held)
        return x

    return f, held.getvalue


@each_call
def a_line_on_the_stream_of_errors():
    held = io.StringIO()

    def f(x):
        with contextlib.redirect_stderr(held):
            sys.stderr.write("called\n")
        return x

    return f, held.getvalue


@each_call
def a_file_appended_to():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")

        def f(x):
            with open(path, "a") as file:
                file.write("called\n")
            return x

        yield f, lambda: pathlib.Path(path).read_text()


@each_call
def a_file_appended_to_before_an_error_is_caught():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")

        def helper(x):
            if x.sum() > 2.5:
                raise ValueError("no")
            return x

        def f(x):
            with open(path, "a") as file:
                file.write("one\n")
            try:
                return helper(x)
            except ValueError:
                return x * 0

        yield f, lambda: pathlib.Path(path).read_text()


@each_call
def a_path_written():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log")

        def f(x):
            path.write_text((path.read_text() if path.exists() else "") + "a")
            return x

        yield f, path.read_text


@each_call
def a_logger_called():
    held, logger = [], logging.getLogger("outside_effects")
    logger.propagate = False
    logger.handlers = [logging.Handler()]
    logger.handlers[0].emit = lambda record: held.append(record.getMessage())
    logger.setLevel("INFO")

    def f(x):
        logger.info("called with %d", x.shape[0])
        return x

    return f, lambda: held


@each_call
def a_warning_given():
    held = []

    def f(x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("look", stacklevel=1)
        held.extend(str(entry.message) for entry in caught)
        return x

    return f, lambda: held


@each_call
def the_environment_set():
    os.environ["OUTSIDE_COUNT"] = "0"

    def f(x):
        os.environ["OUTSIDE_COUNT"] = str(int(os.environ["OUTSIDE_COUNT"]) + 1)
        return x

    yield f, lambda: os.environ["OUTSIDE_COUNT"]
    del os.environ["OUTSIDE_COUNT"]
