"""The fundamental equation of constrained motion; stabilisation, projection, non-ideal forces."""
