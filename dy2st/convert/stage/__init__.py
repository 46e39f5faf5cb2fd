"""Control flow that a tensor decides: branches and loops of the Program."""
