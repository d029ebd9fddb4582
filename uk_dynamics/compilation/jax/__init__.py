# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches of states in JAX."""

from uk_dynamics.compilation.jax.jax_dynamics import JaxDynamics
from uk_dynamics.compilation.jax.jax_tape import double_precision, jax_modules
