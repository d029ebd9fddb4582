# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All errors of the package: one root, and each carries the data it speaks of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, SupportsFloat

from uk_dynamics.did_you_mean import instead
from uk_dynamics.escaping import one_line


class UkDynamicsError(Exception):
    """Root of every error this package raises on purpose; its text is one line for the user."""

    def __init__(self, text: str = "") -> None:
        super().__init__(one_line(text))


class CodedWarning(str):
    """A warning for people, with a code by which programs recognise what it is about.

    Attributes:
        code: ``inertia``, ``limits``, ``massless``, ``no_loops``; empty where no program asks.
    """

    code: str

    def __new__(cls, text: str, code: str = "") -> CodedWarning:
        """Add a code to a text."""
        made = super().__new__(cls, text)
        made.code = code
        return made

    def of(self, source: str) -> CodedWarning:
        """Return the same warning, said with the file that it is about."""
        return CodedWarning(f"{source}: {self}", self.code)


class InputError(UkDynamicsError):
    """Something the user wrote cannot be used.

    Attributes:
        problem: What was found and what would be valid.
        file: File (or topic, or parameter) that holds the mistake, empty when there is none.
        place: Path inside the file, such as ``constraints.right_pin.child.link``.
    """

    def __init__(self, problem: str, *, file: str = "", place: str = "") -> None:
        self.problem, self.file, self.place = problem, file, place
        super().__init__(": ".join(part for part in (file, place, problem) if part))

    def located(self, *, file: str = "", place: str = "") -> InputError:
        """Return the same mistake, said with the file and place where it stands.

        What the error already knows about its own location is kept.
        """
        return self._moved(self.problem, self.file or file, self.place or place)

    def within(self, *, file: str, place: str) -> InputError:
        """Return the same mistake, whose place was counted from a place of a file."""
        below = ".".join(part for part in (place, self.place) if part)
        return self._moved(self.problem, file, below)

    def caused_by(self, file: str, place: str) -> InputError:
        """Return the same mistake, said with the file that led to where it showed; both are named.

        Args:
            file: That leads there.
            place: Path inside it.
        """
        return self._moved(str(self), file, place)

    def _moved(self, problem: str, file: str, place: str) -> InputError:
        moved = type(self).__new__(type(self))
        moved.__dict__.update(self.__dict__)
        InputError.__init__(moved, problem, file=file, place=place)
        return moved


@contextmanager
def located(file: str = "", place: str = "") -> Iterator[None]:
    """Let errors of input say where they stand, as :meth:`InputError.located`."""
    try:
        yield
    except InputError as error:
        raise error.located(file=file, place=place) from None


@contextmanager
def inside(file: str, place: str) -> Iterator[None]:
    """Say where errors of input stand that know only their own key; :meth:`InputError.within`."""
    try:
        yield
    except InputError as error:
        raise error.within(file=file, place=place) from None


def expect(place: str, found: object, kind: type, such: str) -> None:
    """Refuse an argument of a wrong type by name, with an example of a right one."""
    if not isinstance(found, kind):
        problem = f"expected a {kind.__name__}, such as {such}, found {type(found).__name__}"
        raise InputError(problem, place=place)


def expect_not_negative(place: str, found: object) -> None:
    """Refuse an argument that is no finite number of zero or more."""
    if not (isinstance(found, SupportsFloat) and 0.0 <= float(found) < float("inf")):
        raise InputError(f"expected a finite number >= 0, found {found!r:.40}", place=place)


def expect_size(place: str, found: Any, size: int) -> None:
    """Refuse numbers that are no array (size,)."""
    shape = getattr(found, "shape", None)
    if shape != (size,):
        what = type(found).__name__ if shape is None else f"shape {shape}"
        raise StateError(f"expected an array of shape ({size},), found {what}", place=place)


class UnknownNameError(InputError):
    """A name that does not exist was used.

    Attributes:
        kind: What was looked for (``link``, ``joint``, ``actuator`` ...).
        name: The name that was not found.
        candidates: The names that exist.
    """

    def __init__(
        self, kind: str, name: str, candidates: Iterable[str], *, file: str = "", place: str = ""
    ) -> None:
        self.kind, self.name = kind, name
        self.candidates = tuple(candidates)
        remedy = instead(name, self.candidates) or f"there is no {kind} at all"
        super().__init__(f'no {kind} "{name}"; {remedy}', file=file, place=place)


def expect_names(
    kind: str,  # of what has the names, such as a joint
    names: Iterable[str],
    known: Collection[str],  # all that there are
    *,
    file: str = "",  # where the names are from
    place: str = "",  # in it
) -> None:
    """Refuse the first name that does not exist, with an UnknownNameError."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known, file=file, place=place)


class UrdfError(InputError):
    """The robot description cannot be used as a mechanism's tree."""


class MechanismFileError(InputError):
    """A mechanism or tasks file is malformed."""


class ExpressionError(MechanismFileError):
    """A text is no expression that can be used.

    Attributes:
        reason: What is wrong, without the column.
        column: Where in the text, counted from 1; 0 when it is not one place.
    """

    def __init__(self, reason: str, *, column: int = 0, file: str = "", place: str = "") -> None:
        self.reason, self.column = reason, column
        super().__init__(f"column {column}: {reason}" if column else reason, file=file, place=place)

    def at_column(self, column: int) -> ExpressionError:
        """Return the same mistake with its column; what it already knows is kept."""
        if self.column:
            return self
        return ExpressionError(self.reason, column=column, file=self.file, place=self.place)


class StateError(InputError):
    """A state, effort or message has the wrong size, unknown names or non-finite numbers."""


class AssemblyError(UkDynamicsError):
    """The loops do not close from the given guess, or not where tasks want it.

    Attributes:
        violations: Largest remaining violation by constraint or task name, in m or rad.
        configuration: Joint positions by name where the search ended, in m or rad.
        reason: Why the search ended there.
        file: Mechanism file, empty when there is none.
    """

    def __init__(
        self,
        reason: str,
        violations: Mapping[str, float],
        configuration: Mapping[str, float],
        *,
        problem: str = "",
        file: str = "",
    ) -> None:
        self.reason, self.file = reason, file
        self.violations = dict(violations)
        self.configuration = dict(configuration)
        worst = sorted(self.violations.items(), key=lambda item: -item[1])[:3]
        # loops that closed to rounding are not to blame
        worst = [item for item in worst if item[1] > 1e-9 * worst[0][1]]
        errors = ", ".join(f"{name} by {error:.3g}" for name, error in worst)
        problem = f"{problem or 'the mechanism does not close'} ({errors}, in m or rad): {reason}"
        super().__init__(f"{file}: {problem}" if file else problem)


class ActivationError(UkDynamicsError):
    """A switchable constraint cannot be switched on here.

    Attributes:
        constraint: Its name.
        violation: Largest residual of its rows, in m or rad.
    """

    def __init__(self, constraint: str, violation: float, limit: float) -> None:
        self.constraint, self.violation = constraint, violation
        super().__init__(
            f'constraint "{constraint}" is {violation:.3g} m or rad away from its pose, more than '
            f"{limit:.3g}: bring it closer before it is switched on, or declare on_activation: "
            "capture"
        )


class UndeterminedMotionError(UkDynamicsError):
    """[M; A] lacks full column rank: some motion has neither inertia nor constraint.

    Attributes:
        directions: Names of the velocity coordinates that take part in the undetermined motion.
    """

    def __init__(self, directions: Iterable[str]) -> None:
        self.directions = tuple(directions)
        super().__init__(
            "the motion is not determined: "
            + ", ".join(self.directions)
            + " can accelerate without inertia and without constraint;"
            " give the link a mass, the joint an armature, or constrain it"
        )


class ExpressionValueError(UkDynamicsError):
    """An expression has no value at a state: a logarithm of a negative number, a division by zero.

    Attributes:
        owner: What it belongs to, such as the name of a constraint.
        expression: Its text.
        part: The part of it, or of its derivatives, that has no value.
        values: Values of the variables in that part, by how they are written.
        time: In s.
    """

    def __init__(
        self, owner: str, expression: str, part: str, values: Mapping[str, float], time: float
    ) -> None:
        self.owner, self.expression, self.part = owner, expression, part
        self.values = dict(values)
        self.time = time
        at = ", ".join(f"{name} = {value:.6g}" for name, value in self.values.items())
        super().__init__(
            f"{owner}: at t = {time:.6g} s {part} has no value"
            f"{', with ' if at else ''}{at} (in {' '.join(expression.split()):.100})"
        )


class DelayError(UkDynamicsError):
    """Commands take effect later than states are predicted.

    Attributes:
        delay: From a state until the efforts computed from it act, in s.
        longest: Longest delay that is predicted, in s.
    """

    def __init__(self, delay: float, longest: float) -> None:
        self.delay, self.longest = delay, longest
        super().__init__(
            f"a command takes effect {delay:.3g} s after its state, {longest:.3g} s at most are"
            " predicted"
        )


class SimulationError(UkDynamicsError):
    """A simulation had to stop.

    Attributes:
        time: Time reached, in s.
    """

    def __init__(self, reason: str, time: float) -> None:
        self.time = time
        super().__init__(f"simulation stopped at t = {time:.6g} s: {reason}")
