"""Products of two matrices as functions of machine code, which all Programs share."""
