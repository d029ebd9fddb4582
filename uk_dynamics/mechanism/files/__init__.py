"""Mechanism and tasks files: YAML, schema, specifications."""
