"""A redundantly actuated parallel manipulator."""
