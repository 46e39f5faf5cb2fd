"""Functions: arguments, closures, `nonlocal`, `global`, lambdas, decorators, recursion."""
