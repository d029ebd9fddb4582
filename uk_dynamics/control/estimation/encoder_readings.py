# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Quantised encoders: what a controller knows of a machine that it sees by them alone."""

import ctypes
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from uk_dynamics.compilation import Library, Selection, choose, is_cached, library_of
from uk_dynamics.compilation.build import CompilationError
from uk_dynamics.compilation.runtime import LAW, EncoderMemory
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials, verify
from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.core.servo import reading
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.mechanism.dynamics import Backend, CompiledLaw, InterpretedDynamics, Law, LawInC
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism

_DRAWN = 4096  # readings whose noise is drawn at once: Python takes the first one after them


class EncoderReadings:
    """What encoders of the measured joints make of a machine's states, which are read in turn.

    Positions are rounded to the resolution, with noise before; velocities are their filtered
    differences, the first ones true (:func:`reading`); the loops give all other joints. Readings
    in Python and in C may alternate.
    """

    def __init__(self, mechanism: Mechanism, encoders: EncoderSpec) -> None:
        """``mechanism`` is the machine as it is known, which closes the loops."""
        self._completion = StateCompletion(mechanism)
        self._encoders = encoders
        count = len(self._completion.encoders.names)
        self._noise = np.zeros((_DRAWN, count)) if encoders.noise else None
        self._memory = EncoderMemory(count, mechanism.model.nq, self._noise)
        self._memory.call.resolution = encoders.resolution
        self._memory.call.filter = encoders.filter
        self.reset()

    def reset(self) -> None:
        """Begin again, with the same noise."""
        self._completion.reset()
        self._random = np.random.default_rng(self._encoders.seed)
        self._memory.fields["known"][:] = 0.0
        self._memory.fields["used"][:] = _DRAWN

    def read(self, state: State) -> State:
        """What is known of a true state; one that is not later than the last begins again.

        Raises:
            SimulationError: The loops do not close with what is measured.
        """
        measured, own, spec = self._completion.encoders, self._memory.fields, self._encoders
        known, last, in_c = (bool(own["known"][0]), float(own["t"][0]), bool(own["in_c"][0]))
        self.draw()
        noise = 0.0 if self._noise is None else self._noise[int(own["used"][0])]
        told = reading(
            *(state.q[measured.places], state.v[measured.columns], np.asarray(noise)),
            *(own["positions"], own["velocities"]),
            np.array([state.t - last if known else 0.0]),
            *(np.array([spec.resolution]), np.array([spec.filter])),
        )
        if known and in_c:
            self._completion.go_on(last, own["q"].copy())
        found = self._completion.complete(told[0], told[1], state.t, bases=state)
        if not found.usable:
            raise SimulationError("the loops do not close with the measured joints", state.t)
        own["known"][0], own["t"][0], own["in_c"][0] = 1.0, state.t, 0.0
        own["used"] += 1.0
        own["positions"][:], own["velocities"][:], own["q"][:] = *told, found.q
        return State(state.t, found.q, found.v)

    def before(self, inner: CompiledLaw, backend: Backend = "auto") -> CompiledLaw | str:
        """Another law in C, given what is read; otherwise what keeps readings in Python.

        Args:
            inner: The law.
            backend: Whether C may be compiled (``cached``: no), or has to be (``compiled``).

        Raises:
            CompilationError: With ``compiled``: C cannot be written, or answers wrongly.
        """
        completion, known = self._completion, self._completion.mechanism
        if choose(known, Selection(backend, "wait")) != "compiled":
            return ""
        unknown = {
            "joints with several coordinates": not known.model.is_euclidean,
            "loops that follow references": known.follows_references,
            "values of with_parameters": known.varied is not None,
            "no measured joint": not completion.encoders.names,
        }
        for why, holds in unknown.items():
            if holds:
                return f"encoders: {why}"
        subject = known, Library.ENCODERS, completion.tables(completion.home[None])
        if backend == "cached" and not is_cached(*subject):
            return 'encoders are not compiled; backend="compiled" does it once'
        try:
            path = library_of(*subject)
            verify(path, f"encoders of {known.name}", partial(_answers, known, path))
        except CompilationError as error:
            return f"encoders: {error.unless(strict=backend == 'compiled')}"
        law = self.law(path, inner.law)

        def set_both() -> None:
            inner.set()
            self.draw()

        remembered = (*self._memory.remembered, *inner.remembered)
        return LawInC(law, remembered, set_both, inner.tracking_errors)

    def law(self, path: Path, inner: Law) -> Law:
        """What C calls in place of another law, by the library at a path."""
        completion = self._completion
        return self._memory.law(path, inner, completion.jump, completion.singular_tolerance)

    def draw(self) -> None:
        """Draw noise where there is none left."""
        used = self._memory.fields["used"]
        if used[0] < _DRAWN:
            return
        used[0] = 0.0
        if self._noise is not None:
            self._noise[:] = self._random.standard_normal(self._noise.shape)
            self._noise *= self._encoders.noise


_PERIOD = 1e-3  # s
_TRIED = EncoderSpec(resolution=1e-4, noise=1e-5, filter=1e-3)


def _answers(mechanism: Mechanism, path: Path) -> Iterator[Comparison]:
    """Compare some readings in C with those in Python."""
    size = mechanism.model.nv

    def given(trial: Trial) -> Iterator[State]:
        t, q, v = trial.state.t, trial.state.q, trial.state.v
        for k in range(3):
            yield State(t + k * _PERIOD, q + k * _PERIOD * v, v)

    def expected(trial: Trial) -> dict[str, Array]:
        readings = EncoderReadings(mechanism, _TRIED)
        told = [readings.read(state) for state in given(trial)]
        return {"readings of encoders": np.concatenate([x for y in told for x in (y.q, y.v)])}

    def compiled(trial: Trial) -> dict[str, Array] | None:
        readings, found = EncoderReadings(mechanism, _TRIED), list[float]()

        def tell(_: int, t: float, q: int, v: int, efforts: int, flags: int) -> int:
            for place in (q, v):
                found.extend((ctypes.c_double * size).from_address(place))
            return 0

        inner = LAW(tell)
        address = ctypes.cast(inner, ctypes.c_void_p).value or 0
        readings.draw()
        law = readings.law(path, Law(address, 0, (), inner))
        ask, nothing = LAW(law.function), np.zeros(1)
        for state in given(trial):
            places = (x.ctypes.data for x in (state.q, state.v, nothing, nothing))
            if ask(law.controller, state.t, *places):
                return None
        return {"readings of encoders": np.array(found)}

    asked = trials(mechanism, InterpretedDynamics(mechanism))[:2]
    yield from compare(mechanism, expected, each(compiled), asked)
