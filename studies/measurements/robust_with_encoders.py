# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Laws on machines whose payload and friction are drawn, behind encoders: docs/robust.md.

Payloads are between half and one and a half of the model's, friction of the driven joints between
none and a fiftieth of the smallest effort limit, efforts act 1 ms late. Prints a JSON object.

    python robust_with_encoders.py five_bar --machines 1000 --velocity-observer 40

With --known N the machine is the model, so that rounding alone makes errors: no law with the same
feedback has smaller ones. N motions have steps that differ by a hundredth.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from uk_dynamics import Mechanism, ServoController, Tasks, simulate
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.mechanism.files.yaml_file import read_yaml
from uk_dynamics.resources import shipped_files
from uk_dynamics.sweeps import LAWS, robustness

# Tasks, and the payload.
MACHINES = {
    "five_bar": ("five_bar_sweep", "coupler_link"),
    "rrr3": ("rrr3_track", "platform"),
    "excavator": ("excavator_grade", "bucket"),
    "stewart_platform": ("stewart_platform_heave_roll", "platform"),
    "dual_panda": ("dual_panda_load", "load"),
}
PERIOD = DELAY = 1e-3  # s
# The excavator stands after 4 s: where motions are longer, its teeth go back.
BACK = {"times": [0.0, 4.0, 8.0], "values": [[7.5, -1.0, 1.3], [5.5, -1.0, 1.3], [7.5, -1.0, 1.3]]}


def tasks_of(mechanism: Mechanism, file: str, payload: str, more: dict[str, Any]) -> Tasks:
    """Tasks of a shipped file, with what is uncertain."""
    mass = mechanism.parameters[f"links.{payload}.mass"].value
    friction = 0.02 * float(mechanism.actuators.effort_limits.min())  # N or N·m
    driven = np.flatnonzero(np.abs(mechanism.actuators.matrix).max(axis=1) > 0.0)
    names = [mechanism.model.velocity_names[i] for i in driven]
    parameters = {f"links.{payload}.mass": [0.5 * mass, 1.5 * mass]}
    parameters |= {f"joints.{name}.friction": [0.0, friction] for name in names}
    whole = dict(read_yaml(shipped_files("tasks")[file], file))
    robust = {"parameters": parameters, "delay": DELAY} | more.pop("robust", {})
    adaptive = {"adaptive": list(parameters)} if "least_bandwidth" in robust else {}
    return Tasks.from_data(whole | adaptive | more | {"robust": robust}, mechanism)


def known(
    mechanism: Mechanism, tasks: Tasks, encoders: EncoderSpec, given: argparse.Namespace
) -> dict[str, Any]:
    """Largest errors where the law knows its machine, with the feedback alone and all of it."""
    found = {}
    controller = ServoController(mechanism, tasks, control_period=PERIOD)
    for law in ("feedback", "robust"):
        controller.robust, largest = law == "robust", []
        for k in range(given.known):
            controller.reset()
            spec = EncoderSpec(encoders.resolution * (1.0 + 0.01 * k), filter=encoders.filter)
            run = simulate(
                *(mechanism, mechanism.start(tasks=tasks), given.duration),
                controller=EncoderFeedback(controller, spec),
                control_period=PERIOD,
                delay=DELAY,
                sample_period=PERIOD,
            )
            first = round((given.settled or 0.5) / PERIOD)
            largest.append(np.abs(run.tracking_error[first:]).max(axis=0))
        found[law] = dict(zip(tasks.row_names, np.median(largest, axis=0).tolist(), strict=True))
    return found


def main() -> None:
    """Draw, move and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanism", choices=MACHINES)
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--duration", type=float, default=5.0, help="s")
    parser.add_argument("--settled", type=float, help="errors count from then on, s")
    parser.add_argument("--resolution", type=float, default=2.0 * np.pi / 2**17, help="rad or m")
    parser.add_argument("--filter", type=float, default=0.0, help="s")
    parser.add_argument("--velocity-observer", type=float, default=0.0, help="Hz; 0: none")
    parser.add_argument("--bandwidth", type=float, default=0.0, help="Hz; 0: as the delay allows")
    parser.add_argument("--least-bandwidth", type=float, default=0.0, help="Hz; 0: it stays")
    parser.add_argument("--known", type=int, default=0, metavar="N", help="draw no machines")
    parser.add_argument("--exact", action="store_true", help="no encoders")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=LAWS)
    given = parser.parse_args()
    file, payload = MACHINES[given.mechanism]
    mechanism = Mechanism.from_file(given.mechanism)
    encoders = None if given.exact else EncoderSpec(given.resolution, filter=given.filter)
    more: dict[str, Any] = {}
    if given.velocity_observer:
        more["velocity_observer"] = given.velocity_observer
    if encoders is not None:
        seen = {"resolution": given.resolution} | ({"filter": given.filter} if given.filter else {})
        more["robust"] = {"encoders": seen}
    if given.bandwidth:
        more.setdefault("robust", {})["bandwidth"] = given.bandwidth
    if given.least_bandwidth:
        more.setdefault("robust", {})["least_bandwidth"] = given.least_bandwidth
    if given.mechanism == "excavator" and given.duration > 4.0:
        whole = dict(read_yaml(shipped_files("tasks")[file], file))
        whole["tasks"]["teeth"]["reference"] |= BACK
        more["tasks"] = whole["tasks"]
    tasks = tasks_of(mechanism, file, payload, more)
    if given.known:
        assert encoders is not None
        json.dump(known(mechanism, tasks, encoders, given), sys.stdout, indent=1)
        return
    begin = time.perf_counter()
    found = robustness(
        *(mechanism, tasks),
        machines=given.machines,
        duration=given.duration,
        control_period=PERIOD,
        encoders=encoders,
        seed=given.seed,
        among=given.laws,
        settled=given.settled,
    )
    true = found.values[f"links.{payload}.mass"]
    off = np.abs(found.estimates.get(f"links.{payload}.mass", np.nan * true) / true - 1.0)
    first = next(iter(found.laws.values())).quantile(0.95)
    told = {
        **vars(given),
        "wall": time.perf_counter() - begin,
        "promised": dict(zip(found.rows, found.promise.error.tolist(), strict=True)),
        "with estimates": dict(zip(found.rows, found.promise.adapting.tolist(), strict=True)),
        "nothing promised": found.promise.failing,
        "within": found.kept,
        "mass off by": {
            "median": np.median(off),
            "95 %": np.quantile(off, 0.95),
            "most": off.max(),
        },
        "laws": {
            name: {
                "95 %": dict(zip(found.rows, law.quantile(0.95).tolist(), strict=True)),
                "most": dict(zip(found.rows, law.quantile(1.0).tolist(), strict=True)),
                "of first": (first / law.quantile(0.95)).round(2).tolist(),
                "chatter": float(law.chatter.max()),
                "effort": float(law.efforts.max()),
                "failures": law.failures,
            }
            for name, law in found.laws.items()
        },
    }
    json.dump(told, sys.stdout, indent=1, default=float)
    print()


if __name__ == "__main__":
    main()
