"""The page: well-formed, the same each time, escaped, and without any number of arrays."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError
from dy2st.jit import to_static
from dy2st.model_files import read_model
from dy2st.static import InputSpec
from dy2st.viewer import view
from tests.dy2st.viewer.programs import after, converted

NET, PROGRAM = converted()
VOID = {"meta", "input", "!doctype"}


class Checker(HTMLParser):
    """The tags of a page, each closed in its place, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.scripts, self.links = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts.append(text)


def data_of(page):
    found = Checker(str(page))
    assert found.links == []
    return json.loads(found.scripts[0])["programs"]


def texts_of(program):
    """The labels of the nodes, in order."""
    return [program["strings"][node[2]] for node in program["nodes"]]


def test_a_page_is_well_formed_and_needs_nothing_else():
    (program,) = data_of(PROGRAM.view())
    assert texts_of(program)[:3] == ["inputs", "blocks", "0"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", str(PROGRAM.view()))


def test_the_same_program_gives_the_same_bytes():
    assert str(PROGRAM.view()) == str(PROGRAM.view())


def test_operators_have_their_lines_and_the_text_of_them():
    (program,) = data_of(PROGRAM.view())
    places = [tuple(one) for one in program["places"] if one]
    (place,) = {one for one in places if "while steps" in program["lines"][one[0]][str(one[1])]}
    assert place[0] == "programs.py"


def test_arrays_are_not_in_the_page():
    weight = NET.head[1].weight.numpy()
    frozen = after(NET, PROGRAM, "inference")  # its weights are constants
    assert repr(weight[0, 0]).strip("()").split("(")[-1] not in str(view(PROGRAM, frozen))
    assert "dense" not in str(view(PROGRAM, frozen))


def test_names_are_escaped():
    class Bad(nn.Layer):
        def __init__(self):
            super().__init__()
            self.add_sublayer("</script><script>alert(1)</script>", nn.Linear(2, 2))

        def forward(self, x):
            for layer in self.children():
                x = layer(x)
            return x

    net = to_static(Bad(), input_spec=[InputSpec([2, 2])])
    program = net.forward.main_program
    program.name = "<script>alert(2)</script>"
    page = view(program, title="<img src=x onerror=alert(3)>")
    assert len(Checker(str(page)).scripts) == 2
    assert "<img" not in str(page) and "alert(1)</script>" not in str(page)


def test_memory_is_planned_for_given_and_supposed_sizes():
    (program,) = data_of(PROGRAM.view(sizes={"n": 7}))
    assert "for n = 7;" in program["memory"]["text"]
    assert program["memory"]["arena"] >= 7 * 48 * 4
    (program,) = data_of(PROGRAM.view())
    assert "for n = 1;" in program["memory"]["text"] and program["memory"]["buffers"]
    with pytest.raises(ArgumentError, match="no unknown size 'm'; it has: n"):
        PROGRAM.view(sizes={"m": 7})


def test_times_stand_at_the_operators():
    first, second, *_ = PROGRAM.block.walk()
    (program,) = data_of(PROGRAM.view(times={first: 0.5, second: 0.25}))
    assert program["seconds"] == 0.75
    assert [node[10] for node in program["nodes"] if node[10]] == [0.5, 0.25]


def test_times_of_a_call_go_to_the_program_of_unknown_sizes():
    _, called = converted(2)
    times = {one: 0.5 for one in called.block.walk() if one.name != "constant"}
    (program,) = data_of(PROGRAM.view(times=times))
    assert program["seconds"] == sum(times.values())


def test_two_programs_are_compared():
    (program,) = data_of(PROGRAM.view(after(NET, PROGRAM, "inference")))
    assert program["compares"] and {node[3] for node in program["nodes"]} >= {"", "-", "+"}
    assert "removed" in program["summary"]


def test_programs_of_a_model_are_paired_by_name():
    first, second = (to_static(f, input_spec=[InputSpec([2])]).main_program for f in (abs_of, half))
    assert [p["name"] for p in data_of(view([first, second]))] == ["abs_of", "half"]
    assert [p["name"] for p in data_of(view([first, second], [second, first]))] == [
        "abs_of",
        "half",
    ]
    with pytest.raises(
        ArgumentError, match="no two Programs have one name: abs_of, half and other"
    ):
        other = to_static(half, input_spec=[InputSpec([2])]).main_program
        other.name = "other"
        view([first, second], [other])


def test_a_path_is_no_program_to_compare_with():
    with pytest.raises(ArgumentError, match=r"compares Programs, not str.*view\(\)\.save\("):
        PROGRAM.view("net.html")


def abs_of(x):
    return x.abs()


def half(x):
    return x * 0.5


def test_a_page_is_saved_and_shown_in_notebooks(tmp_path):
    page = PROGRAM.view()
    file = page.save(tmp_path / "net.html")
    assert (tmp_path / "net.html").read_text(encoding="utf-8") == str(page)
    assert file == str(tmp_path / "net.html")
    assert Checker(page._repr_html_()).scripts == []
    assert repr(page) == "Page(title='forward')"


@pytest.fixture
def saved(tmp_path):
    dy2st.jit.save(half, str(tmp_path / "net"), input_spec=[InputSpec([None, 3], name="x")])
    return tmp_path / "net"


def test_files_are_opened_only_where_the_user_says(saved, tmp_path):
    (program,) = read_model(str(saved)).programs
    assert data_of(view(program))[0]["lines"] == {}
    (tmp_path / "test_page.py").write_text("\n" * 500 + "not this\n")
    (shown,) = data_of(view(program, sources=tmp_path))
    assert list(shown["lines"]) == ["test_page.py"]
    for operator in program.block.walk():
        object.__setattr__(operator.location, "file", "../net.mlir")
    assert data_of(view(program, sources=tmp_path / "empty"))[0]["lines"] == {}


def test_many_operators_are_a_small_page():
    net = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(400)])
    program = to_static(net, input_spec=[InputSpec([None, 2])]).forward.main_program
    page = view(program)
    assert sum(1 for _ in program.block.walk()) == 1200
    assert len(str(page).encode()) < 300_000


def test_what_was_computed_is_no_part_of_a_page():
    x = dy2st.to_tensor(np.full([3, 3], 1 / 7))
    program = to_static(lambda y: y + x, input_spec=[InputSpec([3, 3])]).main_program
    assert str(1 / 7)[:6] not in str(program.view())
