"""Programs as machine code, by LLVM; loaded when it is named, and needs the extra `native`.

Code reads and writes where types say. So what it relies on is proved by the verifier, required by
the Program, or looked at when it runs; there is no fourth way. A shape rule requires all that a
kernel would else find out (`require(stop <= size)`), and `load` adds what a file has left out. An
array that comes from Python, of a kernel or out of a list, is compared with the sizes of its type.
Integers that are places are looked at where they are used, since another thread may write to them.
Sizes whose product does not fit into 64 bits are left to NumPy's engine (`text/magnitudes.py`).
`python -m tests.runtime.attribute_mutants N` holds all records to this: random attributes, sizes
and element types, inputs beside pages that may not be touched, and NumPy's engine as the judge.
"""
