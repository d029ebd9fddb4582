# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion of one state, at fixed steps or with error control, and its control, in C."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.compilation.runtime.cluster_tables import ClusterTables, attached
from uk_dynamics.compilation.runtime.reference_table import sample_table, structural_table
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.integration import METHOD_CODES, Tolerances, steps_between
from uk_dynamics.mechanism.dynamics import (
    ContactEffort,
    ContactTables,
    EffortQueue,
    Instants,
    Law,
    MotionSegment,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State

_PHASES = ("done", "control", "motion", "paused", "changed")
_ROOM = 1000  # samples in a call: progress and recordings wait as long
_PATIENCE = 20_000  # evaluations in a call: Ctrl-C waits as long


def address_of(library: ctypes.CDLL, function: str) -> int:
    """Where a function of a library is."""
    found = ctypes.cast(getattr(library, f"uk_{function}"), ctypes.c_void_p).value
    assert found is not None
    return found


class CompiledMotion:
    """A :class:`Motion` in C."""

    def __init__(
        self,
        path: Path,
        mechanism: ResolvedMechanism,
        layout: Layout,
        tables: ClusterTables | None = None,
    ) -> None:
        self._library = library = ctypes.CDLL(str(path))
        self._functions = [
            getattr(library, f"uk_{name}") for name in ("move", "accelerate", "act", "settle")
        ]
        for function in self._functions:
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
            function.restype = ctypes.c_int
        self._move, self._accelerate, self._act, self._settle = self._functions
        self._mechanism = mechanism
        self._motors = len(mechanism.actuators)
        self._memory = layout.memory()
        self._clusters = attached(library, tables, self._memory, layout)
        self._qdd = self._memory[layout["qdd"]]
        nq, nv = mechanism.model.nq, mechanism.model.nv
        self._q, self._v, self._t = np.zeros(nq), np.zeros(nv), np.zeros(1)
        self._efforts = np.zeros(max(self._motors, 1))
        self._tau = np.zeros(nv)
        self._active = np.ones(max(layout.rows, 1))
        self._followed: Array | None = None
        self._contacts: _ContactCall | None = None
        self._known: tuple[object, bool] = (self, True)  # never those of any inputs
        self._law: Law | None = None
        self._queue = EffortQueue(0)
        self._call = structure("uk_motion")(step=1.0, project=1, rank=-1.0)
        self._at = ctypes.byref(self._call)
        self._place = ctypes.c_void_p(self._memory.ctypes.data)
        for name in ("q", "v", "efforts", "tau", "active"):
            setattr(self._call, name, getattr(self, f"_{name}").ctypes.data)
        self._call.when = self._t.ctypes.data
        self._move_adaptively = library.uk_move_adaptively
        self._move_adaptively.argtypes = (ctypes.c_void_p,) * 3
        library.uk_way_size.restype = ctypes.c_longlong
        self._way = np.zeros(-(-library.uk_way_size() // 8))
        self._adaptive = structure("uk_adaptive")(way=self._way.ctypes.data, room=_ROOM)
        self.control_by(None, continuous=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of velocities and motors."""
        return len(self._v), self._motors

    @property
    def call_address(self) -> int:
        """Where the structure of C is."""
        return ctypes.addressof(self._call)

    @property
    def memory_address(self) -> int:
        """Where its memory is."""
        return int(self._memory.ctypes.data)

    def address_of(self, function: str) -> int:
        """Where another function of its library is."""
        return address_of(self._library, function)

    def control_by(self, law: Law | None, *, continuous: bool) -> None:
        """See :meth:`Motion.control_by`."""
        self._law = law
        flags = () if law is None else law.flags
        self.raised = np.zeros(self._motors + len(flags))
        self.seen = np.full(self._motors + len(flags), np.inf)
        call = self._call
        call.raised, call.seen = self.raised.ctypes.data, self.seen.ctypes.data
        call.flags = len(flags)
        call.law, call.controller = (None, None) if law is None else (law.function, law.controller)
        call.continuous = continuous
        self._watched = np.zeros(0) if law is None else law.watched
        call.watched, call.watches = self._watched.ctypes.data, len(self._watched)

    def delay_by(self, delay: float, same: float, queue: EffortQueue) -> None:
        """See :meth:`Motion.delay_by`."""
        call = self._call
        self._queue = queue  # lives as long as C may read it
        call.delay, call.same, call.places = delay, same, len(queue.rows)
        call.waiting, call.late = queue.count.ctypes.data, queue.rows.ctypes.data

    def act(self, inputs: Inputs, efforts: Array, tau: Array) -> None:
        """See :meth:`Motion.act`; ForeignReferenceError: a reference is an object of Python."""
        self._tau[:] = tau
        self._efforts[: self._motors] = efforts
        self._call.stabilize = inputs.stabilize
        self._call.sampled_rows = bool(inputs.references)
        known = inputs.active, bool(inputs.references)
        if known[0] is self._known[0] and not (known[1] or self._known[1]):
            return  # samples may change where they stand
        self._known, self._call.rank = known, -1.0
        mechanism = self._mechanism
        mask = mechanism.hierarchy.mask(inputs.active)
        self._active[:] = 1.0 if mask is None else mask
        self._follow(structural_table(mechanism, inputs.references, inputs.active))

    def follow_sample(self, sample: ReferenceSample | None, mask: NDArray[np.bool_] | None) -> None:
        """Set what structural rows follow and which of them act; None: nothing, and all."""
        self._active[:], self._call.rank = 1.0 if mask is None else mask, -1.0
        self._follow(None if sample is None else sample_table(sample))

    def _follow(self, table: Array | None) -> None:
        self._followed = table  # lives as long as C may read it
        self._call.followed = None if table is None else table.ctypes.data

    def move(
        self,
        state: State,
        instants: Instants,
        *,
        step: float,
        method: str,
        over: tuple[ContactTables, NDArray[np.int64]] | None = None,
        waits: bool = False,
    ) -> MotionSegment:
        """See :meth:`Motion.move`."""
        call, given = self._call, (state, instants, int(np.count_nonzero(instants.sample)))
        call.step = step
        if over is None:
            call.method = METHOD_CODES[f"STEP_{method.upper()}"]
            return self._go(*given, self._move, self._place, self._at)
        contacts, mode = over
        if self._contacts is None or self._contacts.tables is not contacts:
            self._contacts = _ContactCall(self._library, contacts)
        self._contacts.begin(mode, int(steps_between(instants.when, step).sum()), waits=waits)
        slips = np.empty((given[2], *contacts.slip.shape))
        self._contacts.call.slip_out = slips.ctypes.data
        call.contacts = ctypes.addressof(self._contacts.call)
        found = self._go(*given, self._move, self._place, self._at)
        call.contacts, self._contacts.call.slip_out = None, None
        told = self._contacts.told()
        return replace(found, slips=slips[: len(found.q)], **told)

    def roll(self, contacts: ContactTables, trajectories: ctypes.Structure) -> None:
        """Move many states over contacts, as :meth:`act` has set it but for forces.

        Impulses are kept apart from those of the tables, which other threads may have.
        """
        if self._contacts is None:
            own = {name: np.zeros_like(getattr(contacts, name)) for name in ("impulse", "slip")}
            self._contacts = _ContactCall(self._library, contacts._replace(**own))
        self._contacts.begin(np.zeros(len(contacts.friction), dtype=np.int64), 1, waits=False)
        call, given = ctypes.byref(self._contacts.call), ctypes.byref(trajectories)
        self._library.uk_roll_contacts(self._place, self._at, call, given)

    def adapt(
        self,
        state: State,
        instants: Instants,
        *,
        tolerances: Tolerances,
        first_step: float,
        resume: bool,
    ) -> MotionSegment:
        """See :meth:`Motion.adapt`."""
        call = self._adaptive
        call.rtol, call.atol = tolerances.rtol, tolerances.atol
        call.max_step, call.next = tolerances.max_step, first_step
        call.rejected, call.largest, call.under_way = 0, 0.0, resume
        call.patience, call.breaks = _PATIENCE, instants.breaks.ctypes.data
        kept = min(int(np.count_nonzero(instants.sample)), _ROOM)
        adaptive = (self._place, self._at, ctypes.byref(call))
        found = self._go(state, instants, kept, self._move_adaptively, *adaptive)
        return replace(
            found, next_step=call.next, rejected=call.rejected, largest_projection=call.largest
        )

    def _go(
        self,
        state: State,
        instants: Instants,
        kept: int,
        function: Callable[..., int],
        *arguments: object,
    ) -> MotionSegment:
        """Move through instants, of which some are kept, by a function of C."""
        call = self._call
        sizes = len(self._q), len(self._v), self._motors, len(self._watched)
        outputs = [np.empty((kept, size)) for size in sizes]
        names = ("q_out", "v_out", "efforts_out", "watched_out", "when", "control", "sample")
        for name, array in zip(names, (*outputs, *instants[:3]), strict=True):
            setattr(call, name, array.ctypes.data)
        self._q[:], self._v[:] = state.q, state.v
        call.stops = len(instants.when)
        call.at = call.sampled = call.steps = call.evaluations = 0
        phase = _PHASES[function(*arguments)]
        call.when = self._t.ctypes.data
        q, v, efforts, watched = (array[: call.sampled] for array in outputs)
        return MotionSegment(
            reached=call.at,
            phase=phase,
            state=State(float(instants.when[call.at]), self._q.copy(), self._v.copy()),
            efforts=self._efforts[: self._motors].copy(),
            q=q,
            v=v,
            sampled_efforts=efforts,
            watched=watched,
            steps=call.steps,
            evaluations=call.evaluations,
        )

    def acceleration(self, t: float, q: Array, v: Array) -> Array | None:
        """See :meth:`Motion.acceleration`."""
        self._t[0] = t
        self._q[:], self._v[:] = q, v
        return None if self._accelerate(self._place, self._at) else self._qdd.copy()

    def control(self, t: float, q: Array, v: Array) -> Array | None:
        """See :meth:`Motion.control`."""
        self._t[0] = t
        self._q[:], self._v[:] = q, v
        return None if self._act(self._place, self._at) else self._efforts[: self._motors].copy()

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array] | None:
        """The state on the constraints, fresh; None: C finds none."""
        self._t[0] = t
        self._q[:], self._v[:] = q, v
        if self._settle(self._place, self._at):
            return None
        return self._q.copy(), self._v.copy()


class _ContactCall:
    """Steps over contacts in C, with the tables of a mechanism."""

    def __init__(self, library: ctypes.CDLL, tables: ContactTables) -> None:
        self.tables = tables
        library.uk_contact_room.argtypes = (ctypes.c_longlong, ctypes.c_longlong)
        library.uk_contact_room.restype = ctypes.c_longlong
        count = len(tables.friction)
        room = np.zeros(library.uk_contact_room(count, tables.poisson))
        before = np.zeros(tables.impulse.size + tables.slip.size)
        self._arrays = room, before  # live as long as C may use them
        self.call = structure("uk_contacts")(
            count=count, room=room.ctypes.data, before=before.ctypes.data
        )
        for name, value in tables._asdict().items():
            setattr(self.call, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
        self._modes = np.zeros((0, count), dtype=np.int64)
        self._lost = np.zeros((0, count))

    def begin(self, mode: NDArray[np.int64], steps: int, *, waits: bool) -> None:
        """Make room for so many steps."""
        call = self.call
        if len(self._modes) <= steps:
            self._modes = np.empty((steps + 1, len(mode)), dtype=np.int64)
            self._lost = np.empty((steps, len(mode)))
        self._modes[0] = mode
        call.mode, call.steps, call.waits = self._modes.ctypes.data, steps, waits
        call.lost = self._lost.ctypes.data
        call.done = call.taken = call.iterations = call.fell_back = 0
        call.error = 0.0

    def told(self) -> dict[str, Any]:
        """What a segment tells of the steps up to the instant reached, fresh."""
        call = self.call
        return {
            "modes": self._modes[: call.done + 1].copy(),
            "struck": self._lost[: call.done].copy(),
            "contact_effort": ContactEffort(call.error, call.iterations, call.fell_back),
        }
