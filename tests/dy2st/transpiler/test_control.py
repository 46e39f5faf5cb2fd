# ruff: noqa
"""Branches, loops and jumps."""

from __future__ import annotations

from tests.dy2st.transpiler.same import same


def test_a_for_loop_into_an_attribute_an_item_and_a_global():
    def f(x):
        global TURN

        class Box:
            pass

        box, spot = Box(), {}
        for box.n in x:
            for spot["k"] in x:
                for TURN in x:
                    pass
        return box.n, spot, TURN

    same(f, ([1, 2],))
    del globals()["TURN"]


def test_a_long_chain_of_elif():
    lines = ["def f(x):", "    if x == 0:", "        y = 0"]
    for k in range(1, 60):
        lines += [f"    elif x == {k}:", f"        y = {k}"]
    text = "\n".join([*lines, "    else:", "        y = -1", "    return y"]) + "\n"
    import linecache

    linecache.cache["<chain>"] = (len(text), None, text.splitlines(True), "<chain>")
    space = {}
    exec(compile(text, "<chain>", "exec"), space)
    same(space["f"], (0,), (30,), (59,), (60,))


def test_what_no_path_of_a_loop_of_numbers_reads_needs_no_value():
    def f(a, b):
        if a > 0:
            for k in range(3):
                continue
                a -= b
            b = a
        return a, b

    same(f, (1, 2), (-1, 2))
