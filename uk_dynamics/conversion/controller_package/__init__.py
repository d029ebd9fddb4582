"""Packages for controller_manager: the closed loops of a mechanism in C++."""

from uk_dynamics.conversion.controller_package.package import controller_package

__all__ = ["controller_package"]
