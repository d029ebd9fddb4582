# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What moves one state through many control periods in a call, whatever it is written in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.integration import Tolerances
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State


@dataclass(frozen=True)
class Law:
    """A law of control as C calls it."""

    function: int  # address of a function such as ``uk_control``
    controller: int  # address of its first argument
    flags: tuple[str, ...]  # what the flags mean that it raises, in the words of a warning
    keeps: object  # what must live as long as the addresses are used
    watched: Array = field(default_factory=lambda: np.zeros(0))  # what samples keep of its memory


class Told(NamedTuple):
    """What a law tells besides its efforts, at K samples."""

    bounds: Array  # that it promises of its errors, (K, mt), in m or rad; infinite: none
    estimates: Array  # of parameters, (K, p), in SI units
    deviations: Array  # their standard deviations, (K, p)

    @classmethod
    def nothing(cls, count: int, rows: int, parameters: int) -> "Told":
        """Of a law that tells nothing of it."""
        return cls(*(np.full((count, n), np.nan) for n in (rows, parameters, parameters)))


class Instants(NamedTuple):
    """Instants of a motion, n of them, and what happens at each, (n,), as numbers."""

    when: Array  # in s
    control: Array  # whether the law acts
    sample: Array  # whether the state is kept
    # whether steps with error control end there, since forces jump; at the others, but the last,
    # the state is interpolated, then projected
    breaks: Array

    @classmethod
    def alone(cls, when: Sequence[float] | Array) -> "Instants":
        """Instants at which nothing happens."""
        return cls(np.array(when), *np.zeros((3, len(when))))


class ContactEffort(NamedTuple):
    """How well steps over contacts solved for their impulses, and what that took."""

    contact_error: float = 0.0  # the largest left of their conditions, relative to the motion
    contact_iterations: int = 0
    contact_fallbacks: int = 0  # steps in which Newton's method alone did not arrive

    def plus(self, more: "ContactEffort") -> "ContactEffort":
        """Of these steps and others."""
        return ContactEffort(max(self[0], more[0]), *np.add(self[1:], more[1:]).tolist())


@dataclass(frozen=True)
class MotionSegment:
    """What became of a motion between two instants."""

    reached: int  # number of the last instant that was reached
    # ``done``; ``control``, where the law has no efforts at that instant; ``motion``, where the way
    # from there to the next one failed; ``paused``, where the next call goes on from there;
    # ``changed``, where it does so with what is closed, sticks and slides since then
    phase: str
    state: State  # at the instant reached
    efforts: Array  # of the motors since then, (motors,), in N or N·m
    q: Array  # samples, (K, nq)
    v: Array  # (K, nv)
    sampled_efforts: Array  # (K, motors)
    steps: int  # integration steps
    evaluations: int  # of the acceleration
    watched: Array = field(default_factory=lambda: np.zeros((0, 0)))  # at samples, (K, watched)
    next_step: float = 0.0  # what error control would try next, in s
    rejected: int = 0  # steps that it refused
    # largest correction of the end of a step, in m, rad or their rates
    largest_projection: float = 0.0
    # of one-sided constraints before the first step and after each, (steps + 1, k)
    modes: NDArray[np.int64] | None = None
    # energy lost in each of these steps, at those that strike in it; NaN of others, (steps, k)
    struck: Array = field(default_factory=lambda: np.zeros((0, 0)))
    slips: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))  # at samples, (K, k, d − 1)
    contact_effort: ContactEffort = field(default_factory=ContactEffort)


class CompiledLaw(Protocol):
    """A law of control that C evaluates, many periods in a call.

    C works on the memory of the controller itself: periods in C and in Python may alternate.
    """

    remembered: tuple[NDArray[Any], ...]  # views of all that one control period leaves for the next

    @property
    def law(self) -> Law:
        """What C calls."""

    def set(self) -> None:
        """Tell C what the controller is set to, before any periods in C; may refuse references."""

    def tracking_errors(self, t: Array, q: Array, v: Array, /) -> Array | None:
        """Error of each task row at K states, (K, mt), in m or rad; None: C has none."""


@dataclass
class LawInC:
    """A :class:`CompiledLaw` by what its methods are."""

    law: Law
    remembered: tuple[NDArray[Any], ...]
    set: Callable[[], None]
    tracking_errors: Callable[[Array, Array, Array], Array | None]


@runtime_checkable
class CompiledController(Protocol):
    """A controller that may be in C."""

    def compiled(self) -> CompiledLaw | str:
        """Itself in C; otherwise what keeps it in Python, empty where it is not to be compiled."""


def law_of(controller: object) -> CompiledLaw | str:
    """A controller in C; otherwise what keeps it in Python, see :class:`CompiledController`."""
    if isinstance(controller, CompiledController):
        return controller.compiled()
    return f"{type(controller).__name__}, an object of Python"


class EffortQueue:
    """Motor efforts with the instants at which they take effect, in order; C works on it too."""

    def __init__(self, motors: int, places: int = 8) -> None:
        # instant in s, then efforts in N or N·m, (places, 1 + motors)
        self.rows = np.zeros((places, 1 + motors))
        self.count = np.zeros(1, dtype=np.int64)  # how many rows count, (1,)

    def __len__(self) -> int:
        return int(self.count[0])

    def append(self, t: float, efforts: Array) -> None:
        """Add efforts that take effect after all others."""
        number = len(self)
        self.leave_room()
        self.rows[number, 0], self.rows[number, 1:] = t, efforts
        self.count[0] = number + 1

    def leave_room(self) -> None:
        """Make room for one more; where there was none, the rows move to another array."""
        if len(self) == len(self.rows):
            self.rows = np.concatenate((self.rows, np.zeros_like(self.rows)))

    def items(self) -> list[tuple[float, Array]]:
        """All of them, fresh."""
        return [(float(row[0]), row[1:].copy()) for row in self.rows[: len(self)]]

    def leave_first(self, number: int) -> None:
        """Remove the first ones."""
        kept = len(self) - number
        self.rows[:kept] = self.rows[number : number + kept].copy()
        self.count[0] = kept

    def leave_last(self, number: int) -> None:
        """Remove the last ones."""
        self.count[0] -= number


#: What a one-sided constraint does: it is open; it is closed, and slides or has no friction; it
#: does not move.
OPEN, SLIPS, STICKS = range(3)


class ContactTables(NamedTuple):
    """One-sided constraints of a mechanism, k of them, each with a normal and d − 1 tangents."""

    row: NDArray[np.int64]  # of the mechanism, in these directions, (k, d); below zero: none
    part: Array  # of that row, that a direction is, (k, d)
    friction: Array  # (k,)
    static_friction: Array  # of those that stuck before a step, (k,)
    restitution: Array  # (k,)
    poisson: bool  # whether it is Poisson's, of impulses, not of velocities
    # of the residual of the first row, that the gap is, (k,); zero: it is always closed
    gap: Array
    pitch: Array  # of the teeth from the last of which the gap is counted, (k,); zero: none
    # of joints that stick, while they slide and at most, (k, 2), in N or N·m; zero of others. Of
    # loop joints per force in them
    load: Array
    in_loop: NDArray[np.int64]  # 1 for loop joints, (k,)
    load_map: Array  # from the multipliers of all rows to the forces in loop joints, (k, 3, m)
    close: float  # in m or rad: what is nearer is closed
    resting: float  # in m/s or rad/s: what is slower rests
    impulse: Array  # of the last step, (k, d), from which the next one begins
    slip: Array  # at its end, in the plane, (k, d − 1), in m/s


class Motion(Protocol):
    """Moves one state in steps, each projected onto the constraints; not for threads."""

    # 1 for motors at their effort limits, (motors,), then for flags of the law that are up, since
    # efforts were last computed
    raised: Array
    seen: Array  # when each of these was first up at a control instant, in s; infinite: never

    def control_by(self, law: Law | None, *, continuous: bool) -> None:
        """Let a law drive the motors from now on; None: their efforts stay what they are."""

    def delay_by(self, delay: float, same: float, queue: EffortQueue) -> None:
        """Let efforts of the law act a delay after their states, in s; 0: they act at once.

        Instants nearer than ``same``, in s, are one. Where the queue is full, there are no efforts.
        """

    def act(self, inputs: Inputs, efforts: Array, tau: Array) -> None:
        """Set what acts: inputs, motor efforts, (motors,), and other forces, (nv,), in N or N·m."""

    def move(
        self,
        state: State,  # at the first one
        instants: Instants,
        *,
        step: float,  # longest step, in s
        method: str,  # one of FIXED_METHODS, or ``moreau``
        # for ``moreau``: one-sided constraints, and what each does before the first step, (k,)
        over: tuple[ContactTables, NDArray[np.int64]] | None = None,
        waits: bool = False,  # whether to stop where modes have changed, or something slides
    ) -> MotionSegment:
        """Move from the first of some instants to the last.

        Where motions wait, the law is taken to have no efforts at the first instant after a change:
        controllers and recorders are told of it there.
        """

    def adapt(
        self,
        state: State,  # at the first instant
        instants: Instants,
        *,
        tolerances: Tolerances,  # of a step
        first_step: float,  # in s; 0: it is estimated
        # whether the last call paused at the first instant, to which all that happens there has
        # happened
        resume: bool,
    ) -> MotionSegment:
        """Move likewise with error control, by Dormand and Prince's method of order 8.

        A call ends early after many samples or evaluations.
        """

    def acceleration(self, t: float, q: Array, v: Array) -> Array | None:
        """Acceleration under the law, fresh, (nv,); None: there is none."""

    def control(self, t: float, q: Array, v: Array) -> Array | None:
        """Motor efforts of the law, fresh, (motors,); None: it has none here."""
