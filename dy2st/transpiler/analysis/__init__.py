"""Analyses names for the rewrites: scopes, liveness, and where a name may be unbound."""
