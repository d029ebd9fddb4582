# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines that stand and fall: time of a step, and how well contacts and loops are kept.

Ours takes steps of Moreau's rule in C. MuJoCo gets the exported machine with a small sphere for
each point, planes, elliptic cones and its default softness, and takes ``mj_step`` of the same size
(principal inertias that no rigid body has, which it refuses, are replaced by their mean);
Drake the same shapes, SAP and its default stiffness; Newton's Kamino the same in single precision.
What contacts and loops do is told by one evaluator of the mechanism at the states of all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.conversion import export_mechanism
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.contact import ContactDynamics, ContactStepping
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.drake_contact import DrakeSteps
from uk_dynamics_studies.benchmarks.peers.kamino_contact import KaminoSteps
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, load

OURS = "uk_dynamics moreau"
_MUJOCO, _DRAKE, _KAMINO = "MuJoCo mj_step", "Drake SAP", "Newton SolverKamino"
# tells of its samples, and gives seconds of each call, of which there are fewer where the motion
# becomes unstable, and by how much joints of the tree open, in m
_Run = Callable[[Callable[[State], object]], tuple[list[float], float]]
_STEP = 1e-3  # s
_CHUNK = 20  # steps of a call, after each of which there is a sample
_SMALLEST = 1e-4  # m: radius of what is a point, which MuJoCo's shapes cannot be
_TOUCHING = 1e-3  # m


@dataclass(frozen=True)
class InContact:
    """A machine in one engine.

    Attributes:
        mechanism: Its name.
        engine: Which.
        seconds: Of a step; None: there is none.
        ours: Those of ours of the same steps.
        penetration: Deepest, in m.
        slip: Fastest of a contact that touches, in the plane, at the end, in m/s.
        violation: Largest loop-closure error, in m or rad, or opening of a joint of the tree, in m.
        gained: Energy more than at any sample before, at most, in J.
        until: When its motion has become unstable, in s; None: it has not.
        note: Why there is none.
    """

    mechanism: str
    engine: str
    seconds: float | None = None
    ours: float = 0.0
    penetration: float = 0.0
    slip: float = 0.0
    violation: float = 0.0
    gained: float = 0.0
    until: float | None = None
    note: str = ""

    @property
    def title(self) -> str:
        """The engine, and how long its motion lasts."""
        if self.until is None:
            return self.engine
        return f"{self.engine}, unstable from {self.until:.2f} s on, the steps until then"


def in_contact(mechanism: Mechanism, duration: float, rounds: int) -> Iterator[InContact]:
    """All engines by turns, from the start of the mechanism without motors; least times."""
    steps = round(duration / _STEP)
    runs = {OURS: _ours(mechanism, steps)}
    for engine, convert in {_MUJOCO: _mujoco, _DRAKE: _drake, _KAMINO: _kamino}.items():
        converted = _converted(convert, mechanism, steps)
        if isinstance(converted, str):
            yield InContact(mechanism.name, engine, note=converted)
        else:
            runs[engine] = converted
    times: dict[str, Array] = {}
    for _ in range(rounds):
        for engine, run in runs.items():
            found = np.array(run(lambda _: None)[0]) / _CHUNK
            times[engine] = np.minimum(times.get(engine, np.inf), found)
    for engine, run in runs.items():
        seen: list[State] = []
        _, opened = run(seen.append)
        spent, calls = times[engine], len(seen)
        yield InContact(
            mechanism.name,
            engine,
            float(np.mean(spent)),
            float(np.mean(times[OURS][:calls])),
            *_kept(mechanism, seen, opened),
            until=None if calls == steps // _CHUNK else calls * _CHUNK * _STEP,
        )


def _converted(
    convert: Callable[[Mechanism, int], _Run], mechanism: Mechanism, steps: int
) -> _Run | str:
    """A run, or why there is none."""
    try:
        return convert(mechanism, steps)
    except (PeerError, UkDynamicsError) as problem:
        return str(problem)


def _kept(
    mechanism: Mechanism, seen: Sequence[State], opened: float
) -> tuple[float, float, float, float]:
    contacts, dynamics = ContactDynamics(mechanism), mechanism.dynamics("interpreted")
    places = [contacts.places(state) for state in seen]
    touching = places[-1].gap <= _TOUCHING
    slip = np.hypot(*places[-1].slip[touching].T).max(initial=0.0)
    residual = [dynamics.residual(state).position for state in seen]
    energy = np.array([mechanism.energy(state).total for state in seen])
    gained = (energy[1:] - np.minimum.accumulate(energy)[:-1]).max(initial=0.0)
    depth = -min(float(place.gap.min()) for place in places)
    violation = max(float(np.abs(one).max(initial=opened)) for one in residual)
    return max(0.0, depth), float(slip), violation, float(gained)


def _ours(mechanism: Mechanism, steps: int) -> _Run:
    dynamics, contacts = mechanism.dynamics("compiled"), ContactStepping(mechanism)
    inputs = Inputs(tau=np.zeros(mechanism.model.nv), stabilize=False)

    def run(see: Callable[[State], object]) -> tuple[list[float], float]:
        contacts.forget()
        state, active = mechanism.start(), mechanism.hierarchy.initial
        begun, spent = state.t, list[float]()
        for k in range(1, steps // _CHUNK + 1):
            given = Inputs(tau=inputs.tau, stabilize=False, active=active)
            end = begun + k * _CHUNK * _STEP
            start = time.process_time()
            state, active = contacts.advance(state, end, _CHUNK, dynamics, given)
            spent.append(time.process_time() - start)
            see(state)
        return spent, 0.0

    return run


def _drake(mechanism: Mechanism, steps: int) -> _Run:
    steps_of_drake = DrakeSteps(mechanism, _STEP, _SMALLEST)
    return lambda see: (steps_of_drake.run(steps * _STEP, steps // _CHUNK, see), 0.0)


def _kamino(mechanism: Mechanism, steps: int) -> _Run:
    steps_of_kamino = KaminoSteps(mechanism, _STEP, _SMALLEST)
    return lambda see: steps_of_kamino.run(steps * _STEP, steps // _CHUNK, see)


def _mujoco(mechanism: Mechanism, steps: int) -> _Run:
    mujoco = load("mujoco", "MuJoCo")
    if any(base.planar or not base.aligned for base in mechanism.model.bases):
        raise PeerError("a planar base has other coordinates in MuJoCo")
    export = export_mechanism(mechanism, "mjcf")
    (text,) = export.texts.values()
    if any(contact.surface is not None for contact in mechanism.spec.contacts):
        raise PeerError("it has contacts that are not with planes")
    for remark in export.remarks:
        if remark.lost and remark.subject.startswith("force"):
            raise PeerError(f"{remark.subject}: {remark.reason}")
    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.balanceinertia = True
    spec.option.timestep = _STEP
    model = spec.compile()
    data = mujoco.MjData(model)
    coordinates = _Coordinates(mujoco, model, mechanism, export.zero)
    start = mechanism.start()

    def run(see: Callable[[State], object]) -> tuple[list[float], float]:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = coordinates.there(start)
        spent = list[float]()
        for _ in range(steps // _CHUNK):
            begin = time.process_time()
            mujoco.mj_step(model, data, _CHUNK)
            taken = time.process_time() - begin
            if any(warning.number for warning in data.warning):
                break  # it has been reset
            spent.append(taken)
            see(State(start.t + data.time, *coordinates.here(data.qpos, data.qvel)))
        return spent, 0.0

    return run


class _Coordinates:
    """Where positions and velocities stand in MuJoCo's.

    A free joint there has the quaternion w first and the linear velocity in axes of the world.
    """

    def __init__(self, mujoco: Any, model: Any, mechanism: Mechanism, zero: Mapping[str, float]):
        nq, nv = mechanism.model.nq, mechanism.model.nv
        self._q, self._v, self._zero = np.empty(nq, int), np.empty(nv, int), np.zeros(nq)
        self._bases = {base.name: base for base in mechanism.model.bases}
        for j in range(model.njnt):
            name, q, v = model.joint(j).name, model.jnt_qposadr[j], model.jnt_dofadr[j]
            if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                base = self._bases[name]
                self._q[base.position] = q + np.array([0, 1, 2, 4, 5, 6, 3])
                self._v[base.velocity] = v + np.arange(6)
            else:
                place = mechanism.model.position_index(name)
                self._q[place], self._zero[place] = q, zero.get(name, 0.0)
                self._v[mechanism.model.velocity_index(name)] = v

    def there(self, state: State) -> tuple[Array, Array]:
        """``qpos`` and ``qvel`` of a state."""
        q, v = np.empty_like(state.q), np.empty_like(state.v)
        q[self._q], v[self._v] = state.q - self._zero, self._turned(state.q, state.v, back=False)
        return q, v

    def here(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """Positions and velocities of ``qpos`` and ``qvel``."""
        q = qpos[self._q] + self._zero
        return q, self._turned(q, qvel[self._v], back=True)

    def _turned(self, q: Array, v: Array, *, back: bool) -> Array:
        v = v.copy()
        for base in self._bases.values():
            linear = slice(base.velocity.start, base.velocity.start + 3)
            attitude = Rotation.from_quat(q[base.position][3:])
            v[linear] = attitude.apply(v[linear], inverse=back)
        return v
