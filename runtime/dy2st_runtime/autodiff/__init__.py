"""Reverse mode: gradients of a Program as operators, in the same Program or in one of their own.

`walk.py` goes backwards over the operators of a Block and records what the gradient rule of each
says. A `cond` becomes another `cond`, which does the work of the branch that was taken
(`branches.py`); a `while` another one, which takes the iterations from the last to the first
(`loops.py`). What they read of the forward Blocks is known only when the rules have run, so every
forward value has a stand-in at first (`stand_ins.py`). One that is read becomes a parameter, a copy
of a cheap operator, or what the forward operator gives out beside its results (`residuals.py`).
These three ways nest to any depth. Symbols that a forward Block binds are bound once more by what
is read of it, and what it has required of sizes is required here, too.

`static.append_backward` and `static.gradients` call `program_gradients.py`, a call that wants
gradients `halves.py`, `grad` and `backward` inside of a trace `traced_gradients.py`. It stands in
the runtime because a saved model is trained where the compiler is not.
"""
