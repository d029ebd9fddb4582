"""Servo constraints: two masses and a spring, two robots with one load."""
