# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics modes``: how a mechanism at rest oscillates."""

import argparse

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.contacts import contact_facts, contact_lines, patch_lines
from uk_dynamics.cli.output.printing import PART_BAR, json_text, progress_bar, table
from uk_dynamics.derivatives import equilibrium, linearize
from uk_dynamics.mechanism.analysis import Equilibrium, LinearSystem, Mode

_LEAST_SHARE = 0.01  # of the largest amplitude, below which a joint is not named
_MOST_NAMED = 5
_NEUTRAL = 1e-6  # 1/s; slower motion is that of rounding
_UNDAMPED = 1e-9  # damping ratio; less is rounding, of either sign


def run(arguments: argparse.Namespace) -> int:
    """Print the modes."""
    mechanism = common.load_mechanism(arguments)
    positions = dict(arguments.set)
    guess = mechanism.assemble(positions, hold=positions)
    driven = [joint for motor in mechanism.spec.actuators for joint, _ in motor.joints]
    held = dict.fromkeys(driven if arguments.motors == "hold" else ())
    with progress_bar(1.0, "", PART_BAR) as bar:
        at_rest = equilibrium(mechanism, guess, hold=held, stable=True, progress=bar.update)
        system = linearize(mechanism, at_rest.state, at_rest.inputs)
    if arguments.json:
        print(json_text(_facts(at_rest, system, mechanism.model.position_names)))
        return 0
    position = zip(mechanism.model.position_names, at_rest.state.q, strict=True)
    rows = [("position", ", ".join(f"{name} {x:.4g}" for name, x in position))]
    if at_rest.holding:
        holding = ", ".join(f"{name} {x:.4g}" for name, x in at_rest.holding.items())
        rows.append(("holding", f"{holding}  (N or N m)"))
    rows += (*contact_lines(at_rest.contacts), *patch_lines(at_rest.patches))
    rows += [(f"mode {k}", _line(mode)) for k, mode in enumerate(system.modes(), start=1)]
    print(f"{mechanism.name}\n{table(rows)}", flush=True)
    if arguments.view:
        from uk_dynamics.cli.output.served_view import serve
        from uk_dynamics.viewing import ModeMotion

        serve(arguments, mechanism, ModeMotion(mechanism, at_rest, system))
    return 0


def _line(mode: Mode) -> str:
    shares = sorted(mode.shape.items(), key=lambda item: -abs(item[1]))
    named = [
        f"{name} {share.real:.3g}{f'{share.imag:+.2g}i' if abs(share.imag) > _LEAST_SHARE else ''}"
        for name, share in shares
        if abs(share) > _LEAST_SHARE
    ]
    more = len(named) - _MOST_NAMED
    shape = ", ".join([*named[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
    value = mode.eigenvalue
    if abs(value) < _NEUTRAL:
        motion = "neutral"
    elif value.imag:
        ratio = mode.damping_ratio if abs(mode.damping_ratio) > _UNDAMPED else 0.0
        motion = f"{mode.frequency:.4g} Hz, damping ratio {ratio:.3g}"
    elif value.real > 0.0:
        motion = f"grows, time constant {1.0 / value.real:.4g} s"
    else:
        motion = f"decays, time constant {-1.0 / value.real:.4g} s"
    return f"{motion}: {shape}"


def _facts(at_rest: Equilibrium, system: LinearSystem, names: tuple[str, ...]) -> dict[str, object]:
    return {
        "position": dict(zip(names, at_rest.state.q.tolist(), strict=True)),
        "holding": at_rest.holding,
        "contacts": contact_facts(at_rest.contacts),
        "patches": at_rest.patches,
        "states": system.states,
        "A": system.A.tolist(),
        "modes": [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio,
                "shape": {name: [x.real, x.imag] for name, x in mode.shape.items()},
            }
            for mode in system.modes()
        ],
    }
