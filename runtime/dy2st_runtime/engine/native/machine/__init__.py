"""From text to addresses: LLVM, code on disk, memory, threads, functions that code calls."""
