"""What the rewrites need to know about names: scopes, liveness, and where a name may be unbound."""
