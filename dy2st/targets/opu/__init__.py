"""The OPU, an FPGA overlay processor for convolutional networks: quantise, compile, simulate.

Read from the first step down: the pipeline `opu`, `grouping.py` (operators to layers, by the rules
of `lowering.py`, `arithmetic.py` and `moves.py`), `canonical.py`, `quantiser/`, `steps.py` (layers
to sweeps), `choice.py` and `tiling.py` (how a sweep is cut), `schedule.py`
(operations and what they wait for), `places.py` (DRAM), `words.py` (bits). `gen_ir.py` and
`compiled.py` join them.

Three decisions hold it together. What a layer means is integers, fixed down to the order of sums,
before anything is cut: so tiles, machines and schedules never change a result. The meaning exists
twice: `interpreter.py` knows layers and no tiles, `simulator.py` knows words and no layers, and
neither imports the other; tests compare them on random layers. Every figure comes from the words:
`timing.py` times what was decoded, the simulator executes in that order and refuses what would be a
race on hardware, and reports are made of nothing else.

A compiled folder (`compiled_file.py`) is complete: to run it needs no model and no compiler.
Checksums tie its files together, as a binary with other layers would run and be wrong.
"""
