"""The text of LLVM functions while it is written: lines, vectors, loops, formulas of sizes."""
