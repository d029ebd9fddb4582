"""Kinematic pairs: how two bodies are joined."""
