"""The command ``uk_dynamics``: one file per sub-command, each with ``register`` and ``run``."""
