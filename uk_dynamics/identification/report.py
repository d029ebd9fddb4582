# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What was estimated, and how well, as plain data for a file."""

from typing import Any

import numpy as np

from uk_dynamics.identification.identification import Fit, Identification

_FEW = 40  # combinations


def report(found: Identification) -> dict[str, Any]:
    """Estimates, covariance, what cannot be told, and residuals, as dicts and lists."""
    shown = [x for x in found.estimates if x.status != "no effect"]
    places = [k for k, x in enumerate(found.estimates) if x.status != "no effect"]
    payload = found.payload
    facts: dict[str, Any] = {
        "mechanism": found.mechanism.name,
        "recordings": [
            {
                "samples": len(x.motions.t),
                "at_effort_limit": x.saturated,
                "states_lost": round(x.lost, 6),
                "cutoff_hz": round(x.cutoff, 4),
                "encoder_noise": dict(zip(x.measured, x.noise.tolist(), strict=True)),
                "loop_misfit": dict(zip(x.measured, x.misfit.tolist(), strict=True)),
            }
            for x in found.motions
        ],
        "remarks": list(found.remarks),
        "delay": {"value": found.delay, "deviation": found.delay_deviation, "unit": "s"},
        "parameters": {
            x.parameter.name: {
                "value": x.value,
                "deviation": x.deviation,
                "file": x.parameter.value,
                "unit": x.parameter.unit,
                "status": x.status,
            }
            for x in shown
        },
        "identifiable_combinations": found.limits.rank,
        "determined_by_these_recordings": found.determined,
        "combinations": [dict(x.terms) for x in found.limits.base],
        "no_effect": list(found.limits.without_effect),
        "training": _fit(found.training),
        "held_out": _fit(found.held_out),
        "covariance": {
            "parameters": [x.parameter.name for x in shown],
            "matrix": found.covariance[np.ix_(places, places)].tolist(),
        },
    }
    if payload is not None:
        mass, center, inertia = payload
        facts["payload"] = {"mass": mass, "center": center.tolist(), "inertia": inertia.tolist()}
    return facts


def summary(found: Identification) -> list[tuple[str, str]]:
    """The most important in lines of label and value."""
    counts = f"{found.determined} identifiable from these recordings, {found.limits.rank} from any"
    rows = [("training", _line(found.training)), ("held out", _line(found.held_out))]
    rows.append(("combinations", f"{counts}, of {len(found.estimates)} parameters"))
    if found.delay_deviation:
        late, deviation = 1e3 * found.delay, 1e3 * found.delay_deviation
        rows.append(("delay", f"{late:.3g} ± {deviation:.2g} ms from command to effort"))
    rows += [("warning", remark) for remark in found.remarks]
    for status in ("identified", "uncertain", "undetermined"):
        rows += [
            (
                x.parameter.name,
                f"{x.value:.5g} ± {x.deviation:.2g} {x.parameter.unit}"
                f" (file: {x.parameter.value:.5g})"
                + ("" if status == "identified" else f", {status}"),
            )
            for x in found.estimates
            if x.status == status
        ]
    together = [x for x in found.limits.base if len(x.terms) > 1]
    rows += [("only the sum", str(x)) for x in together[:_FEW]]
    if len(together) > _FEW:
        rows.append(("", f"{len(together) - _FEW} more sums in the report"))
    if found.limits.without_effect:
        rows.append(("no effect", ", ".join(found.limits.without_effect)))
    return rows


def _line(fit: Fit) -> str:
    return f"{fit.relative_before:.3%} of the efforts unexplained before, {fit.relative:.3%} after"


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "relative_before": fit.relative_before,
        "relative_after": fit.relative,
        "efforts_rms": fit.efforts,
        "residual_rms_before": fit.before,
        "residual_rms_after": fit.after,
    }
