"""The rewrites, one a file; each ends in `transform(tree, context)` and changes the tree."""
