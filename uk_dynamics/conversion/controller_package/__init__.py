# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Packages for controller_manager: the closed loops of a mechanism in C++."""

from uk_dynamics.conversion.controller_package.package import controller_package
from uk_dynamics.conversion.controller_package.transmission import transmission_package
