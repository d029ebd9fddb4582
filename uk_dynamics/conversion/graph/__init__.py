# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines given as graphs of links and joints."""
