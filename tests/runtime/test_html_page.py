"""What notebooks show of objects: short, escaped, and without scripts."""

from html.parser import HTMLParser

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.html_page import Page, of_text, table


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.add_sublayer("<b>", nn.Linear(3, 3))

    def forward(self, x):
        if x.sum() > 0:
            x = x.exp()
        for layer in self.children():
            x = layer(x)
        return x


NET = Net()
CONVERTED = to_static(NET, input_spec=[InputSpec(["n", 3], "float32", "x")]).forward
SHOWN = {
    "tensor": dy2st.ones([2, 3]),
    "layer": NET,
    "program": CONVERTED.main_program,
    "report": CONVERTED.report(),
    "shapes": CONVERTED.shapes(),
}


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_well_formed_and_has_no_script(name):
    found = Tags(SHOWN[name]._repr_html_())
    assert set(found.seen) <= {"table", "tr", "td", "th", "pre", "details", "summary", "caption"}


def test_a_layer_is_shown_with_what_it_holds():
    found = Tags(NET._repr_html_())
    assert "Net: 12 parameters" in found.text and "<b>" in found.text and "12" in found.text


def test_blocks_of_a_program_can_be_opened():
    found = Tags(CONVERTED.main_program._repr_html_())
    assert found.seen.count("details") == 3
    assert "if true" in found.text and "exp(%" in found.text


def test_long_things_are_shown_in_part():
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(100)])
    program = to_static(net, input_spec=[InputSpec([2, 2])]).forward.main_program
    for one in (net, program, dy2st.to_tensor(np.zeros([100, 100]))):
        assert len(one._repr_html_()) < 12_000
    assert "200 operators in all" in program._repr_html_()
    assert "and 61 more" in net._repr_html_()
    assert of_text("x" * 10_000).count("x") == 4_000


def test_a_table_escapes_its_texts():
    assert table(("<h>",), [("&",)], "<t>").count("&lt;") == 2


def test_a_page_is_written_whole_and_named(tmp_path):
    page = Page("net", "<p>net</p>")
    assert page.save(tmp_path / "net.html") == str(tmp_path / "net.html")
    assert (tmp_path / "net.html").read_text() == str(page) == "<p>net</p>"
    with pytest.raises(dy2st.errors.FileAccessError, match="nowhere"):
        page.save(tmp_path / "nowhere" / "net.html")


def test_the_runtime_alone_says_what_writes_pages(monkeypatch):
    monkeypatch.setattr(dy2st.Program, "viewer", None)
    with pytest.raises(dy2st.errors.ArgumentError, match="import dy2st"):
        CONVERTED.main_program.view()
