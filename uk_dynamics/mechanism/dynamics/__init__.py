"""State, inputs, the Dynamics protocol and its interpreted reference."""
