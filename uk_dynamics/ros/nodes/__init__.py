"""One file per node, and the entry points."""
