# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How many threads the linear algebra of a process may use."""

import os


def one_thread_by_default() -> None:
    """Keep BLAS to one thread unless the user has said otherwise.

    NumPy reads the variables when it is loaded, so this has to come before. On the small matrices
    of a mechanism threads only cost time, tenfold when several processes share the processor.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
