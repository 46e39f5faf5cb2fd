"""Texts that the data writes: decoded labels, tokens, formulas, codes."""

from __future__ import annotations

import collections

from tests.dy2st.catalogue.entry import on

VALUES = ([3.0, 1.0, 2.0, 5.0, 4.0], [1.0, 1.0, 0.5], [2.0], [-1.0, 7.0, 3.0, 3.0])
EACH = [[None]]
WORDS = ["<pad>", "a", "bb", "c", "d", "e", "f", "g", "h", "i"]


@on(*VALUES, unknown=EACH)
def text_that_grows(x):
    t = ""
    for v in x:
        t += "." if v < 2 else "x"
    return t


@on(*VALUES, unknown=EACH)
def codes_of_rice(x, k=1):
    bits = ""
    for v in x:
        number = abs(int(v))
        bits += "1" * (number >> k) + "0" + format(number & 1, "01b")
    return bits, len(bits)


@on(*VALUES, unknown=EACH)
def words_of_a_vocabulary(x):
    return " ".join(WORDS[int(abs(c))] for c in x if c != 1)


@on(*VALUES, unknown=EACH)
def collapsed_labels(x):
    prev = None
    out = []
    for v in x:
        s = "-" if v < 1.2 else "a" if v < 3.5 else "b"
        if s != prev and s != "-":
            out.append(s)
        prev = s
    return "".join(out)


@on(*VALUES, unknown=EACH)
def what_is_asked_of_a_text(x):
    t = collapsed_labels(x)
    return (
        len(t),
        t == "ab",
        t != "ab",
        t + "!",
        "a" in t,
        t.count("a"),
        t.find("b"),
        bool(t),
        t * 2,
    )


@on(*VALUES, unknown=EACH)
def reversed_by_a_loop(x):
    t = collapsed_labels(x)
    n = 0
    r = ""
    for ch in t:
        if ch == "a":
            n += 1
        r = ch + r
    return (n, r)


@on(*VALUES, unknown=EACH)
def texts_in_texts(x):
    t = collapsed_labels(x)
    return (f"<{t}>", f"{t}: {x.sum():.2f}", [t, "k"], {"t": t})


@on(*VALUES, unknown=EACH)
def text_of_code_points(x):
    return "".join(chr(97 + int(abs(v))) for v in x)


@on(*VALUES, unknown=EACH)
def shifted_by_a_number(x):
    t = text_of_code_points(x)
    k = int(abs(x[0]))
    return "".join(chr((ord(c) - 97 + k) % 26 + 97) for c in t)


@on(*VALUES, unknown=EACH)
def methods_of_a_text(x):
    t = text_of_code_points(x)
    return (
        t.startswith("d"),
        t.endswith("e"),
        t.replace("b", "ZZ"),
        t[1:],
        t[0],
        t[-1],
        t[::-1],
        t.split("c"),
        t.strip("d"),
    )


@on(*VALUES, unknown=EACH)
def branches_on_a_text(x):
    t = text_of_code_points(x)
    if t == "dbcfe":
        return 1
    elif t < "c":
        return 2
    return 3


@on(*VALUES, unknown=EACH)
def brackets_that_are_closed(x):
    s = ""
    open_ = 0
    for v in x:
        if v > 3:
            s += "(C"
            open_ += 1
        elif v > 1.5:
            s += "N"
        else:
            s += "O"
    s += ")" * open_
    return s


@on(*VALUES, unknown=EACH)
def words_in_a_list(x):
    out = []
    w = ""
    for v in x:
        if v < 1.5:
            if w:
                out.append(w)
            w = ""
        else:
            w += "ab"[int(v) % 2]
    if w:
        out.append(w)
    return out


@on(*VALUES, unknown=EACH)
def states_with_names(x):
    s = "idle"
    log = []
    for v in x:
        if s == "idle" and v > 2:
            s = "busy"
        elif s == "busy" and v < 2:
            s = "idle"
        log.append(s)
    return (s, log)


@on(*VALUES, unknown=EACH)
def places_from_the_end(x):
    t = text_of_code_points(x)
    return (
        t.rfind("b"),
        t.find("d", -2),
        t.find("", 9),
        t.removeprefix("d"),
        t.removesuffix("e"),
        t.lstrip("db"),
        t.rstrip("e"),
        t.index("b") if "b" in t else -1,
    )


@on(*VALUES, unknown=EACH)
def split_at_white_space(x):
    t = "".join(" " if v < 1.5 else "k" for v in x)
    return (
        t.split(),
        t.strip(),
        "-".join([t, "z"]),
        "".join([t, t]),
        t in ("kk", "k"),
        [t, t] == [t, "k"],
        {"a": t},
    )


@on(*VALUES, unknown=EACH)
def longest_run_as_text(x):
    t = ""
    best = ""
    for v in x:
        t = t + "a" if v > 1.5 else ""
        if len(t) > len(best):
            best = t
    return best


@on(*VALUES, unknown=EACH)
def cut_and_searched(x):
    t = text_of_code_points(x)
    if len(t) > 3:
        t = t[:3] + "..."
    else:
        t = t or "none"
    try:
        k = t.index("z")
    except ValueError:
        k = -5
    return (t, k)


@on(*VALUES, unknown=EACH)
def tokens_of_a_lexer(x):

    class Lexer:
        def __init__(s):
            s.buf = ""
            s.tokens = []

        def feed(s, c):
            if c == " ":
                if s.buf:
                    s.tokens.append(s.buf)
                s.buf = ""
            else:
                s.buf += c

    lexer = Lexer()
    for v in x:
        lexer.feed(" " if v < 1.5 else "k")
    lexer.feed(" ")
    return lexer.tokens


@on(*VALUES, unknown=EACH)
def known_texts_cut_by_the_data(x):
    n = int(abs(x[0]))
    return ("hello world"[:n], "hello"[n - 1 :], "hello"[n % 5], "ab" * n)


@on(*VALUES, unknown=EACH)
def palindrome(x):
    t = "".join("ab"[int(v > 2)] for v in x)
    return (t == t[::-1], sorted(t), list(t), tuple(t), max(t))


@on(*VALUES, unknown=EACH)
def letters_side_by_side(x):
    t = text_of_code_points(x)
    u = "bbbbb"
    return (
        sum((a != b for a, b in zip(t, u))),
        [a + b for a, b in zip(t, u)],
        any(c == "b" for c in t),
        all(c > "a" for c in t),
    )


@on(*VALUES, unknown=EACH)
def texts_as_keys(x):
    d = {}
    for v in x:
        k = "".join(["a" if v > 1.5 else "b", chr(97 + int(abs(v)))])
        d[k] = d.get(k, 0) + 1
    return (d, "ad" in d, list(d), d.get("zz", 5), len(d))


@on(*VALUES, unknown=EACH)
def bases_counted(x):
    seq = ["ACGT"[int(abs(v)) % 4] for v in x]
    return (
        collections.Counter(seq),
        collections.Counter(zip(seq, seq[1:])).most_common(1),
        set(seq),
        "A" in set(seq),
    )


@on(*VALUES, unknown=EACH)
def most_common_word(x):
    t = "".join(" " if v < 1.5 else "k" for v in x)
    c = collections.Counter(t.split())
    best = max(c, key=c.get) if c else None
    return (best, dict(c))


@on(*VALUES, unknown=EACH)
def looked_up_by_a_text(x):
    t = {"ab": 1, "cd": 2, "a": 7}
    k = "a" if x[0] > 0 else "cd"
    if len(x) > 3:
        k = k + "b"
    out = []
    for v in x:
        s = "a" if v > 2 else "zz"
        out.append(t.get(s, -1))
    try:
        z = t[k]
    except KeyError:
        z = -9
    return (z, out)


@on(*VALUES, unknown=EACH)
def table_of_states(x):
    table = {
        ("a", True): "b",
        ("a", False): "a",
        ("b", True): "c",
        ("b", False): "a",
        ("c", True): "c",
        ("c", False): "b",
    }
    s = "a"
    path = [s]
    for v in x:
        s = table[s, bool(v > 2)]
        path.append(s)
    return (s, path)


@on(*VALUES, unknown=EACH)
def moves_between_levels(x):
    levels, at, moves = ["bronze", "silver", "gold", "platinum"], 2, []
    for year, v in enumerate(x):
        new = min(max(at + int(v) - 2, 0), len(levels) - 1)
        if new != at:
            moves.append(f"{year}: {levels[at]} to {levels[new]}")
        at = new
    return moves, levels[at]
