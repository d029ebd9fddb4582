# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole-body law of the biped in random states: forces in cones, misses named, and times.

``python studies/measurements/random_standing.py [COUNT [FIRST]]``: COUNT states from FIRST on.

A state is some time of ``step.yaml``, so that both feet stand, one, or one of them in its ramp;
the machine is up to 0.4 rad off its pose and moves by up to 1 rad/s, its loops closed. Commands
are C's. Of one in a thousand the interpreted evaluator computes the acceleration from the efforts
and contact forces that the command tells: it has to be the command's, with feet at rest unless a
name says otherwise.
"""

import sys
import time
from collections import Counter

import numpy as np

from uk_dynamics import Mechanism, ServoController, State, Tasks
from uk_dynamics.control.command import Command
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.resolution import Inputs

FOLDER = "examples/biped/"
UNTIL = 8.0  # s
OFF, SPEED = 0.4, 1.0  # rad or m, rad/s or m/s: at most
MISSED = 1e-6  # m/s²: more than rounding of accelerations of up to 1e3
REPORT = 50_000  # states
Draw = np.random.Generator


class Biped:
    """The biped of the examples and its law."""

    def __init__(self) -> None:
        self.mechanism = Mechanism.from_file(FOLDER + "biped.yaml")
        self.tasks = Tasks.from_file(FOLDER + "step.yaml", self.mechanism)
        # without a period, in whose middle the law would look at the machine
        self.law = ServoController(self.mechanism, self.tasks, backend="compiled")
        self._projecting = self.mechanism.dynamics("compiled")
        self._interpreted = self.mechanism.dynamics("interpreted")
        self._begin = self.mechanism.start(
            tasks=Tasks.from_file(FOLDER + "stand.yaml", self.mechanism)
        )

    def draw(self, number: int) -> State:
        """The state of a number."""
        model, rng = self.mechanism.model, np.random.default_rng(number)
        for _ in range(20):
            off = rng.uniform(0.0, OFF) * rng.uniform(-1.0, 1.0, model.nv)
            v = rng.uniform(0.0, SPEED) * rng.uniform(-1.0, 1.0, model.nv)
            t = float(rng.uniform(0.0, UNTIL))
            try:
                return self._projecting.project(State(t, model.integrate(self._begin.q, off), v))
            except SimulationError:  # loops do not close from there
                continue
        raise SystemExit(f"state {number}: no loops that close")

    def outside(self, command: Command) -> list[str]:
        """Motors and contacts beyond what they may have."""
        standing = self.tasks.standing
        assert standing is not None
        allowed = dict(zip(standing.names, standing.friction.tolist(), strict=True))
        limits = self.mechanism.actuators.effort_limits
        found = [f"motor {k}" for k in np.flatnonzero(~(np.abs(command.efforts) <= limits))]
        for name, (normal, x, y) in command.contact_forces.items():
            if not (normal >= 0.0 and abs(x) + abs(y) <= allowed[name] * normal):
                found.append(name)
        return found

    def disagreement(self, state: State, command: Command) -> str:
        """What the acceleration by efforts and forces says otherwise than the command."""
        model, standing = self.mechanism.model, self.tasks.standing
        assert standing is not None
        workspace = model.workspace()
        workspace.update(state.q, state.v)
        rows = standing.evaluate(workspace, state.q, state.v)
        forces = np.zeros(len(rows.rate))
        for name, force in command.contact_forces.items():
            at = 3 * standing.names.index(name)
            forces[at : at + 3] = force
        tau = self.mechanism.actuators.matrix @ command.efforts + rows.A.T @ forces
        qdd = self._interpreted.evaluate(state, Inputs(tau, active=standing.held(1e9)[0])).qdd
        off = np.abs(qdd - command.qdd).max() / (1.0 + np.abs(qdd).max())
        if off > 1e-8:
            return f"q̈ differs by {off:.1e}"
        entries = [one.spec.name for one in standing.entries]
        rest = rows.A @ qdd - standing.right_hand_side(rows)
        slipping = set()
        for number, name in enumerate(entries):
            points = [
                k
                for k in np.flatnonzero(standing.entry == number)
                if standing.names[k] in command.contact_forces
            ]
            own = (3 * np.array(points, dtype=int)[:, None] + np.arange(3)).ravel()
            # of a foot that turns, points ask for what no rigid body does, and get the nearest
            could = rows.A[own] @ np.linalg.pinv(rows.A[own]) @ rest[own] if points else np.zeros(1)
            if np.abs(could).max() > MISSED:
                slipping.add(name)
        named = set(entries) & command.missing.keys()
        return f"{slipping} slip, {named} are named" if slipping - named else ""


def main() -> int:
    """Draw, command, count."""
    count, first = (int(x) for x in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    biped, seen = Biped(), Counter[str]()
    seconds = np.empty(count)
    for k in range(count):
        state = biped.draw(first + k)
        biped.law.reset()
        begin = time.perf_counter()
        command = biped.law.command(state)
        seconds[k] = time.perf_counter() - begin
        seen["searched"] += bool(command.limited_by)
        seen["not all served, named"] += bool(command.missing)
        seen["not all served, without a name"] += bool(
            np.abs(command.residual).max() > MISSED and not command.missing
        )
        seen["search unfinished"] += not command.settled
        seen["efforts held"] += command.held
        if problem := biped.outside(command):
            seen["outside of limits or cones"] += 1
            sys.stdout.write(f"state {first + k}: {problem} outside\n")
        if k % 1000 == 0 and (problem_there := biped.disagreement(state, command)):
            seen["disagreements"] += 1
            sys.stdout.write(f"state {first + k}: {problem_there}\n")
        if (k + 1) % REPORT == 0 or k + 1 == count:
            p50, p999 = 1e6 * np.quantile(seconds[: k + 1], (0.5, 0.999))
            sys.stdout.write(f"{k + 1} states, {p50:.0f} µs, {p999:.0f} µs at 99.9 %: ")
            sys.stdout.write(", ".join(f"{n} {what}" for what, n in seen.items() if n) + "\n")
            sys.stdout.flush()
    return int(seen["outside of limits or cones"] + seen["disagreements"] > 0)


if __name__ == "__main__":
    sys.exit(main())
