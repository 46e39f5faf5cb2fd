"""Variables that a rewritten statement shares with closures, or that Python may unbind."""

from __future__ import annotations

import pytest

PROGRAMS = {
    "late binding in a loop": """
        def f(xs):
            fs = []
            for i in xs:
                fs.append(lambda: i)
            return [g() for g in fs], i if xs else None
        """,
    "a default takes the value of the turn": """
        def f(xs):
            fs = []
            for i in xs:
                fs.append(lambda k, i=i: (k, i))
            return [g(1) for g in fs]
        """,
    "nonlocal in a nested loop": """
        def f(xs):
            n = 0
            def g():
                nonlocal n
                for x in xs:
                    if x > 1:
                        n += x
                return n
            return g(), g(), n
        """,
    "nonlocal in a class of a function that does not name it": """
        def f(xs):
            n = 0
            def g():
                class C:
                    nonlocal n
                    n += 1
            for _ in xs:
                g()
            return n
        """,
    "a closure reads what a branch unbinds": """
        def f(xs):
            y = 1
            look = lambda: y
            if xs:
                del y
            return look()
        """,
    "an unbound variable of a closure in a branch": """
        def f(xs):
            if len(xs) > 1:
                y = 1
            if len(xs) > 2:
                z = y
            elif xs:
                z = y + 1
            else:
                z = 0
            return (lambda: y).__name__, z
        """,
    "an augmented unbound variable of a closure": """
        def f(xs):
            for x in xs:
                y += x
            look = lambda: y
            return look()
        """,
    "an unbound variable in an operand": """
        def f(xs):
            if len(xs) > 2:
                y = 0
            look = lambda: y
            return xs and y, look()
        """,
    "the name of an exception outside of its handler": """
        def f(xs):
            e = 0
            if xs:
                try:
                    xs[0] / (xs[0] - 1)
                    e = 5
                except ZeroDivisionError as e:
                    r = str(e)
            return e
        """,
    "the name of an exception in a loop": """
        def f(xs):
            out = []
            for x in xs:
                try:
                    out.append(1 / (x - 2))
                except ZeroDivisionError as e:
                    out.append(str(e))
                    if x > 1:
                        out.append(type(e).__name__)
            return out, e
        """,
    "a closure over an exception": """
        def f(xs):
            g = None
            if xs:
                try:
                    raise KeyError(xs[0])
                except KeyError as e:
                    g = lambda: e
                    a = g().args
            else:
                a = None
            return a, g()
        """,
    "global in a branch": """
        n = 0
        def f(xs):
            if xs:
                global n
                n = xs[0]
                n = m = n + 1
            else:
                n = m = -1
            return n, m
        """,
    "a nested function reads a global of the function around": """
        n = 0
        def f(xs):
            n = 5
            def g():
                global n
                while n < 3:
                    n += 1
                return n
            return g(), n
        """,
    "a class in a branch": """
        def f(xs):
            k = 1
            if xs:
                k = 2
                class C:
                    j = k
                    k = j + 1
                    def m(self):
                        return k, self.k, type(self).__qualname__
                k = 3
                r = C().m()
            else:
                class C:
                    def m(self):
                        return 7
                r = 0
            return C().m(), r, C.__qualname__
        """,
    "a class body that writes a variable of the function": """
        def f(xs):
            k = 1
            for x in xs:
                class C:
                    nonlocal k
                    k = k + x
            return k
        """,
    "a recursive function in a branch": """
        def f(xs):
            if xs:
                def g(n):
                    return 1 if n < 2 else n * g(n - 1)
                r = g(xs[0])
            else:
                r = None
            return r
        """,
    "a walrus in the test of a loop with else": """
        def f(xs):
            xs, out = list(xs), []
            while (n := xs.pop() if xs else 0) > 1:
                if n == 5:
                    break
                out.append(n)
            else:
                out.append("else")
            return out, n
        """,
    "a walrus in the test of a loop with else and a jump in try": """
        def f(xs):
            xs, out = list(xs), []
            while (n := xs.pop() if xs else 0) > 1:
                try:
                    if n == 5:
                        break
                finally:
                    out.append(n)
            else:
                out.append("else")
            return out, n
        """,
    "a walrus in and, or and if-else": """
        def f(xs):
            if xs and (n := xs[0]) > 1 or (m := len(xs)) == 1:
                r = n if xs and n > 1 else m
            else:
                r = (k := 5) if len(xs) > 1 else -1
            return r, 0 < (j := len(xs)) < 3, j
        """,
    "a walrus that never ran": """
        def f(xs):
            r = xs and (n := xs[0])
            return r, n
        """,
    "an unbound variable beside a walrus in an operand": """
        def f(xs):
            if len(xs) > 2:
                v = 1
            r = (v % (n := 1)) if xs else 0
            s = xs and v + (n := 2)
            return r, s, (lambda: v)()
        """,
    "a variable that is unbound beside a walrus, and in no closure": """
        def f(xs):
            for x in xs:
                v = x
            return xs is xs and 1 and v + (n := 2), n
        """,
    "a walrus in a nested operand": """
        def f(xs):
            r = not xs or ((n := xs[0]) > 1 and (m := n + 1) > 2)
            return r, [n, m] if r and xs else 0
        """,
    "a walrus in a comprehension in an operand": """
        def f(xs):
            r = len(xs) > 1 and any((n := x) > 2 for x in xs)
            return r, n if len(xs) > 1 else None
        """,
    "a walrus that writes a global": """
        def f(xs):
            global seen
            r = xs and (seen := xs[0])
            return r, seen if xs else 0
        """,
    "a walrus in the test of elif": """
        def f(xs):
            if not xs:
                return None
            elif len(xs) > 1 and (n := xs[1]) > 1:
                return n
            return xs
        """,
    "a walrus in the message of an assertion": """
        def f(xs):
            assert len(xs) != 1, (n := xs[0])
            return n
        """,
    "a walrus behind a test that is surely a bool": """
        def f(xs):
            r = xs is not None and (n := len(xs)) and (m := n + 1)
            return r, m if xs else n
        """,
    "super in branches, operands and loops": """
        class A:
            def m(self, x):
                return x + 1
        class B(A):
            def m(self, x):
                if x > 2:
                    r = super().m(x)
                else:
                    r = super().m(-x) and super().m(10)
                for k in range(x):
                    r += super().m(k)
                    r += sum([super(B, self).m(k) for _ in range(2)])
                return r if x < 2 else super().m(r)
        def f(xs):
            def inner():
                return [B().m(x) for x in xs]
            return inner()
        """,
    "private names in cells": """
        class C:
            def m(self, xs):
                __n = 0
                def bump(k):
                    nonlocal __n
                    if k > 1:
                        __n += k
                for x in xs:
                    bump(x)
                    if x:
                        __n += 1
                return __n
        def f(xs):
            return C().m(xs)
        """,
    "del in a loop": """
        def f(xs):
            for x in xs:
                y = x
                if x > 1:
                    del y
            return y
        """,
    "locals of a nested function": """
        def f(xs):
            a = 1
            def g(b):
                if b:
                    c = a
                return sorted(locals())
            return g(len(xs))
        """,
}
INPUTS = ([],), ([1],), ([2],), ([5, 1],), ([1, 2, 3],), ([3, 5, 2],)


@pytest.mark.parametrize("name", PROGRAMS)
def test_shared_variables_behave_as_in_python(name, define, same_as_python):
    lines = PROGRAMS[name].strip("\n").splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip())
    text = "\n".join(line[margin:] for line in lines) + "\n"
    for arguments in INPUTS:
        same_as_python(define(text), arguments)
