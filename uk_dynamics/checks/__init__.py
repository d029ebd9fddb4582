"""Model validation: one file per check of a mechanism."""
