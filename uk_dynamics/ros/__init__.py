"""The nodes: a thin shell of ROS 2 around the library, and the commands that need running nodes."""

import os

# NumPy reads these when it is loaded, which is later. On the small matrices of a mechanism threads
# only cost time, tenfold when several nodes share the processor.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
