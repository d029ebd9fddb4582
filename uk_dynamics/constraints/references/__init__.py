"""What the rows of a constraint follow over time."""
