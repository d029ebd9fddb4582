# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines of the zoo with feet are dropped on the ground, beside MuJoCo's ``mj_step``.

``python studies/measurements/zoo_on_the_ground.py ZOO [NAME ...]`` in a clone, with MuJoCo.

Each falls by 5 cm and collapses for a second, without motors; ``test/support/zoo`` says what is
added to their files.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from uk_dynamics_studies.benchmarks.contact import in_contact

ROUNDS = 3
DURATION = 1.0  # s


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "test"))
    from support.zoo.on_the_ground import MACHINES, dropped

    zoo = Path(sys.argv[1])
    for name in sys.argv[2:] or MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            machine = dropped(MACHINES[name](zoo, Path(folder)))
            rows, points = len(machine.constraints.row_names), len(machine.one_sided)
            print(f"{name}: {machine.model.nv} velocities, {rows} rows, {points} points")
            for one in in_contact(machine, DURATION, ROUNDS):
                if one.seconds is None:
                    print(f"  {one.engine}: {one.note}")
                    continue
                print(
                    f"  {one.title}: {one.seconds * 1e6:.1f} µs a step, ours"
                    f" {one.ours / one.seconds:.2f} times as long, penetration"
                    f" {one.penetration:.1e} m, loops {one.violation:.1e}, slip {one.slip:.1e} m/s,"
                    f" gained {one.gained:.1e} J",
                    flush=True,
                )
