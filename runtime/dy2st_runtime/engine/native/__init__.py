"""Programs as machine code, by LLVM; loaded when it is named, and needs the extra `native`."""
