# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled function for single states, called as quickly as this Python can."""

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.compilation.runtime.cluster_tables import ClusterMemory, ClusterTables
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution import Array


class CompiledCall:
    """The memory of a compiled mechanism with what evaluates it.

    Where Python's headers were there when it was compiled, C reads the arrays itself; elsewhere
    they are copied here, which takes three times as long.
    """

    def __init__(self, path: Path, layout: Layout, tables: ClusterTables | None = None) -> None:
        library = ctypes.CDLL(str(path))
        self._function: Callable[[ctypes.c_void_p], int] = library.uk_evaluate
        library.uk_evaluate.argtypes = (ctypes.c_void_p,)
        library.uk_evaluate.restype = ctypes.c_int
        self._layout = layout
        self._lock = threading.Lock()
        self._clusters = None if tables is None else ClusterMemory(library, tables)
        if self._clusters is None:
            self.memory = layout.memory()
            self._address = ctypes.c_void_p(self.memory.ctypes.data)
        else:
            self.memory = self._clusters.numbers
            self._address = ctypes.c_void_p(int(self._clusters.address[0]))
            self.memory[layout["stabilize"]] = 1.0
            self.memory[layout["active"]] = 1.0
        self._answered = self.memory[: layout.answered]
        self._q, self._v = self.memory[layout["q"]], self.memory[layout["v"]]
        self._tau = self.memory[layout["tau"]]
        self._qdd = self.memory[layout["qdd"]]
        #: (t, stabilize, q, v, tau or None) → inputs and answers, or None: there are none, or
        #: NotImplemented: the arguments are no plain arrays, which :meth:`evaluate_any` converts.
        self.evaluate: Callable[..., Any] = self.evaluate_any
        #: (t, q, v, tau or None) → acceleration with stabilisation, or as above.
        self.acceleration: Callable[..., Any] = self.acceleration_any
        if hasattr(library, "uk_bind"):
            bind = ctypes.PyDLL(str(path)).uk_bind
            bind.argtypes, bind.restype = (ctypes.py_object,), ctypes.py_object
            self.evaluate, self.acceleration = bind(
                self.memory if self._clusters is None else self._clusters.address
            )

    def run(self) -> int:
        """The C function alone, on the inputs in the memory; 0 when it has answers."""
        return self._function(self._address)

    def evaluate_any(
        self, t: float, stabilize: float, q: Array, v: Array, tau: Array | None
    ) -> Array | None:
        """Inputs and answers, fresh; None: there are none."""
        with self._lock:
            self._fill(t, stabilize, q, v, tau)
            return None if self._function(self._address) else self._answered.copy()

    def acceleration_any(self, t: float, q: Array, v: Array, tau: Array | None) -> Array | None:
        """The acceleration alone, likewise."""
        with self._lock:
            self._fill(t, 1.0, q, v, tau)
            return None if self._function(self._address) else self._qdd.copy()

    def _fill(self, t: float, stabilize: float, q: Array, v: Array, tau: Array | None) -> None:
        self.memory[0] = t
        self.memory[1] = stabilize
        try:
            self._q[:] = q
            self._v[:] = v
            self._tau[:] = 0.0 if tau is None else tau
        except ValueError:
            raise self._wrong_sizes(q, v, tau) from None

    def _wrong_sizes(self, q: Array, v: Array, tau: Array | None) -> StateError:
        expected = {name: self._layout.fields[name].count for name in ("q", "v", "tau")}
        found = {"q": np.shape(q), "v": np.shape(v), "tau": np.shape(v if tau is None else tau)}
        wrong = [name for name, size in expected.items() if found[name] != (size,)]
        place = wrong[0] if wrong else "state"
        return StateError(
            f"expected shape ({expected.get(place)},), found {found.get(place)}", place=place
        )
