"""One pass over one object: read, decide, plan, apply, report."""
