# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole-body law of the biped in random states: forces in cones, misses named, and times.

``python studies/measurements/random_standing.py [COUNT [FIRST]]``: COUNT states from FIRST on.

A state is some time of ``step.yaml``, so that both feet stand, one, or one of them in its ramp;
the machine is 0.4 mrad to 0.4 rad off its pose and moves by 1 mrad/s to 1 rad/s, evenly by the
logarithm, with its loops closed. Periods are
C's, each without the one before; what they leave in memory is counted, a thousand at once. In one
state of a thousand

- the command tells of the same forces, and names the same as missing;
- the interpreted evaluator computes the acceleration from the efforts and contact forces that the
  command tells: it has to be the command's, with feet at rest unless a name says otherwise;
- what is named is out of reach: a linear program finds no efforts and forces within the limits that
  serve every row.

Excess of the force of a contact that stands is |f_x| + |f_y| − μ f_n, and how far f_n is below zero
or beyond its largest value, without tolerance: the last step of the search brings what rounding
left outside inside. What this takes from the feet is in their rows, which have to be served or
named as the others.
"""

import sys
import time
from collections import Counter

import numpy as np

from uk_dynamics import Mechanism, ServoController, State, Tasks
from uk_dynamics.arrays import Array, Flags
from uk_dynamics.compilation.runtime import CompiledMotion
from uk_dynamics.control.command import Command
from uk_dynamics.core.servo import MET
from uk_dynamics.mechanism.resolution import Inputs

FOLDER = "examples/biped/"
UNTIL = 8.0  # s
OFF, SPEED = 0.4, 1.0  # rad or m, rad/s or m/s: at most
SMALLEST = 1e-3  # part of these, drawn evenly by its logarithm
MISSED = 1e-6  # m/s²: more than rounding of accelerations of up to 1e3
ROUNDING = 1e-9  # relative: factors of a state may take their rows in the order of another
CHUNK = 1000  # states at once
REPORT = 50  # chunks
FIELDS = (
    "map",
    "wanted",
    "size",
    "asked",
    "limited",
    "lower",
    "upper",
    "contact_most",
    "finished",
    "periods_held",
)


class Biped:
    """The biped of the examples and its law."""

    def __init__(self) -> None:
        self.mechanism = Mechanism.from_file(FOLDER + "biped.yaml")
        self.tasks = Tasks.from_file(FOLDER + "step.yaml", self.mechanism)
        # without a period, in whose middle the law would look at the machine
        self.law = ServoController(self.mechanism, self.tasks, backend="compiled")
        self._interpreted = self.mechanism.dynamics("interpreted")
        self._begin = self.mechanism.start(
            tasks=Tasks.from_file(FOLDER + "stand.yaml", self.mechanism)
        )
        motion, period = self.mechanism.dynamics("compiled").motion(), self.law.compiled()
        if not isinstance(motion, CompiledMotion) or isinstance(period, str):
            raise SystemExit(f"no C: {period}")
        motion.act(
            Inputs(), np.zeros(len(self.mechanism.actuators)), np.zeros(self.mechanism.model.nv)
        )
        self._motion, self._period = motion, period
        standing = self.tasks.standing
        assert standing is not None
        self.standing = standing

    def draw(self, number: int) -> State:
        """The state of a number."""
        model, rng = self.mechanism.model, np.random.default_rng(number)
        for _ in range(50):
            sizes = np.array([OFF, SPEED]) * SMALLEST ** rng.uniform(0.0, 1.0, 2)
            off, v = sizes[:, None] * rng.uniform(-1.0, 1.0, (2, model.nv))
            t = float(rng.uniform(0.0, UNTIL))
            if found := self._motion.project(t, model.integrate(self._begin.q, off), v):
                return State(t, *found)  # else loops do not close from there
        raise SystemExit(f"state {number}: no loops that close")

    def periods(self, states: list[State]) -> tuple[dict[str, Array], Array]:
        """What the law has in its memory after each state, by name, and wall and processor time."""
        call, memory = self._period.call, self._period.memory
        kept = np.empty((len(states), len(memory.numbers)))
        seconds = np.empty((len(states), 2))
        for k, state in enumerate(states):
            self.law.reset()
            self._period.set()
            begin, cpu = time.perf_counter(), time.thread_time()
            efforts = call.run(state)
            seconds[k] = time.perf_counter() - begin, time.thread_time() - cpu
            if efforts is None:
                raise SystemExit(f"no efforts at {state}")
            kept[k] = memory.numbers
        layout = self._period.servo.layout
        return {name: kept[:, layout[name]] for name in FIELDS}, seconds

    def served(self, found: dict[str, Array]) -> tuple[Array, Flags]:
        """Of rows that ask, what efforts and forces leave of them, and whether it is named."""
        count, rows = found["wanted"].shape
        given = np.einsum("kru,ku->kr", found["map"].reshape(count, rows, -1), found["limited"])
        rest = np.where(found["asked"] != 0.0, found["wanted"] - given, 0.0)
        return rest, np.abs(rest) > MET * found["size"]

    def excess(self, found: dict[str, Array]) -> tuple[Array, Array]:
        """How far motors, in N·m, and forces of contacts, in N, are beyond their limits."""
        motors, points = len(self.mechanism.actuators), len(self.standing.friction)
        u = found["limited"][:, :motors]
        f = found["limited"][:, motors:].reshape(-1, points, 3)
        limit = self.mechanism.actuators.effort_limits
        own = np.maximum(found["lower"] - u, u - found["upper"])
        normal, stands = f[..., 0], found["asked"][:, : 3 * points : 3] != 0.0
        beyond = np.abs(f[..., 1:]).sum(axis=2) - self.standing.friction * normal
        beyond = np.maximum(beyond, np.maximum(-normal, normal - found["contact_most"]))
        beyond = np.where(stands, beyond, -np.inf)  # no command tells of forces in the air
        return np.maximum(own, np.abs(u) - limit).max(axis=1), beyond.max(axis=1)

    def disagreement(self, state: State, found: dict[str, Array], named: Flags) -> str:
        """What the command, or the acceleration by its efforts and forces, says otherwise."""
        self.law.reset()
        command, standing = self.law.command(state), self.standing
        model = self.mechanism.model
        workspace = model.workspace()
        workspace.update(state.q, state.v)
        rows = standing.evaluate(workspace, state.q, state.v)
        forces = np.zeros(len(rows.rate))
        for name, force in command.contact_forces.items():
            at = 3 * standing.names.index(name)
            forces[at : at + 3] = force
        told = np.append(command.efforts, forces)
        if np.abs(told - found["limited"]).max() > ROUNDING * np.abs(told).max():
            return "the command has other efforts or forces"
        if bool(command.missing) != bool(named.any()):
            return f"{sorted(command.missing)} missing in the command"
        if named.any() and not (command.limited_by or command.unreachable):
            return "nothing is said to be in the way"
        tau = self.mechanism.actuators.matrix @ command.efforts + rows.A.T @ forces
        qdd = self._interpreted.evaluate(state, Inputs(tau, active=standing.held(1e9)[0])).qdd
        off = np.abs(qdd - command.qdd).max() / (1.0 + np.abs(qdd).max())
        if off > 1e-8:
            return f"q̈ differs by {off:.1e}"
        if named.any() and self._could_be_served(found):
            return "all could be served"
        entries = [one.spec.name for one in standing.entries]
        slipping = self._slipping(command, rows.A, rows.A @ qdd - standing.right_hand_side(rows))
        missing = set(entries) & command.missing.keys()
        return f"{slipping} slip, {missing} are named" if slipping - missing else ""

    def _slipping(self, command: Command, rows: Array, rest: Array) -> set[str]:
        """Contacts that do not come to rest as they could."""
        found, standing = set(), self.standing
        for number, one in enumerate(standing.entries):
            points = [
                k
                for k in np.flatnonzero(standing.entry == number)
                if standing.names[k] in command.contact_forces
            ]
            own = (3 * np.array(points, dtype=int)[:, None] + np.arange(3)).ravel()
            # of a foot that turns, points ask for what no rigid body does, and get the nearest
            could = rows[own] @ np.linalg.pinv(rows[own]) @ rest[own] if points else np.zeros(1)
            if np.abs(could).max() > MISSED:
                found.add(one.spec.name)
        return found

    def _could_be_served(self, found: dict[str, Array]) -> bool:
        """Whether some efforts and forces within the limits serve every row to what is named."""
        from scipy.optimize import linprog

        motors, points = len(self.mechanism.actuators), len(self.standing.friction)
        ask, unknown = found["asked"] != 0.0, motors + 3 * points
        rows = found["map"].reshape(len(ask), unknown)[ask]
        cones = np.zeros((4 * points, unknown))
        for k, friction in enumerate(self.standing.friction):
            at = motors + 3 * k
            cones[4 * k : 4 * k + 4, at] = -friction
            cones[4 * k : 4 * k + 4, at + 1 : at + 3] = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
        bounds = list(zip(found["lower"], found["upper"], strict=True))
        for k, stands in enumerate(ask[: 3 * points : 3]):
            free = (None, None) if stands else (0.0, 0.0)
            bounds += [(0.0, found["contact_most"][k] if stands else 0.0), free, free]
        # the least t with |rows x − wanted| ≤ t size
        size, wanted = found["size"][ask], found["wanted"][ask]
        A = np.block([[rows, -size[:, None]], [-rows, -size[:, None]]])
        A = np.vstack((A, np.column_stack((cones, np.zeros(len(cones))))))
        b = np.concatenate((wanted, -wanted, np.zeros(len(cones))))
        cost = np.append(np.zeros(unknown), 1.0)
        answer = linprog(cost, A, b, bounds=[*bounds, (0.0, None)])
        return answer.x is None or bool(answer.x[-1] < MET)


def main() -> int:
    """Draw, command, count."""
    count, first = (int(x) for x in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    biped, seen, seconds = Biped(), Counter[str](), list[Array]()
    worst = np.full(2, -np.inf)
    contacts = 3 * len(biped.standing.friction)
    seen["disagreements"] = 0
    for chunk, begin in enumerate(range(first, first + count, CHUNK), start=1):
        numbers = range(begin, min(begin + CHUNK, first + count))
        states = [biped.draw(number) for number in numbers]
        found, spent = biped.periods(states)
        seconds.append(spent)
        rest, named = biped.served(found)
        beyond = np.array(biped.excess(found))
        worst = np.maximum(worst, beyond.max(axis=1))
        motors, forces = beyond > 0.0
        unnamed = (np.abs(rest) > MISSED) & ~named
        seen["served whole"] += int((~named.any(axis=1)).sum())
        seen["something named"] += int(named.any(axis=1).sum())
        seen["feet among it"] += int(named[:, :contacts].any(axis=1).sum())
        seen["efforts held"] += int((found["periods_held"] != 0.0).sum())
        unfinished = found["finished"][:, 0] == 0.0
        for what, where in (
            ("efforts beyond limits", motors),
            ("forces outside cones", forces),
            ("more than 1e-6 missed without a name", unnamed.any(axis=1)),
            ("search unfinished", unfinished),
        ):
            seen[what] += int(where.sum())
            for k in np.flatnonzero(where):
                sys.stdout.write(f"state {numbers[k]}: {what}\n")
        one = {name: values[0] for name, values in found.items()}
        if problem := biped.disagreement(states[0], one, named[0]):
            seen["disagreements"] += 1
            sys.stdout.write(f"state {numbers[0]}: {problem}\n")
        if chunk % REPORT == 0 or numbers[-1] + 1 == first + count:
            _report(seen, worst, np.concatenate(seconds))
    return int(sum(seen[x] for x in ("forces outside cones", "disagreements")) > 0)


def _report(seen: Counter[str], worst: Array, seconds: Array) -> None:
    """Tell what was counted so far, and times."""
    sys.stdout.write(f"{len(seconds)} states: ")
    sys.stdout.write(", ".join(f"{n} {what}" for what, n in seen.items()))
    sys.stdout.write(f"; most beyond: motors {worst[0]:.1e} N·m, forces {worst[1]:.1e} N")
    for what, column in zip(("wall", "processor"), 1e6 * seconds.T, strict=True):
        p50, p999 = np.quantile(column, (0.5, 0.999))
        sys.stdout.write(f"; {what} {p50:.0f} µs, {p999:.0f} µs at 99.9 %")
    sys.stdout.write("\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
