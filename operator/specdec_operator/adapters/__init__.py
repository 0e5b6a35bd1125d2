"""The shell's edges: the only modules that open sockets."""
