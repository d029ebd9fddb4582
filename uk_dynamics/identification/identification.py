# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What recordings tell of the parameters of a machine; as plain data, too, and in lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.identifiability import Identifiability
from uk_dynamics.identification.measured_motion import MeasuredMotion
from uk_dynamics.identification.possible_values import Estimate, whole_body
from uk_dynamics.mechanism.files import EstimatesSpec
from uk_dynamics.mechanism.resolution import Array, link_values
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import body_of_parameters, parameters_of_body

_FEW = 40  # combinations in lines
_EXPLAINED = 0.2  # of the held-out efforts: left by estimates that are still trusted


@dataclass(frozen=True)
class Fit:
    """How well efforts are predicted, root mean squares in N or N·m by coordinate."""

    efforts: dict[str, float]  # measured
    before: dict[str, float]  # not explained by the values of the files
    after: dict[str, float]  # not explained by the estimates

    @property
    def relative(self) -> float:
        """Part of the efforts that the estimates leave, root mean square over coordinates."""
        return self._part(self.after)

    @property
    def relative_before(self) -> float:
        """Part of the efforts that the values of the files leave."""
        return self._part(self.before)

    @property
    def trusted(self) -> bool:
        """Whether estimates that fit held-out efforts like this explain them well enough."""
        return self.relative <= _EXPLAINED

    def _part(self, left: dict[str, float]) -> float:
        parts = [left[name] / self.efforts[name] for name in left if self.efforts[name]]
        return float(np.sqrt(np.mean(np.square(parts)))) if parts else 0.0


@dataclass(frozen=True, eq=False)
class Identification:
    """What recordings tell of the parameters of a mechanism."""

    mechanism: Mechanism  # with the values of its files
    estimates: tuple[Estimate, ...]  # of the chosen parameters
    covariance: Array  # of their values, (p, p), what the data do not tell with its size
    determined: int  # number of combinations that the data determine
    limits: Identifiability  # what any motion could tell
    training: Fit  # fit of the samples that were used
    held_out: Fit  # fit of those that were not
    motions: tuple[MeasuredMotion, ...]  # how the recordings were prepared
    delay: float = 0.0  # of what motors do behind the recorded commands, in s
    delay_deviation: float = 0.0  # its standard deviation; 0 where it was given

    def __getitem__(self, name: str) -> Estimate:
        """An estimate by the name of its parameter."""
        return {estimate.parameter.name: estimate for estimate in self.estimates}[name]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What speaks against the estimates, a line each."""
        found = [
            f"{motor} is at its limit in {part:.0%} of the samples of recording {n}, where a drive"
            " does less than it is asked for; they are left out"
            for n, motion in enumerate(self.motions, start=1)
            for motor, part in motion.saturated.items()
        ]
        found += [str(x) for x in self._bodies[1]]
        if not self.held_out.trusted:
            found.append(
                f"{self.held_out.relative:.0%} of the held-out efforts are not explained: nothing"
                " is identified; look for parts that the files do not have, or another motion"
            )
        return tuple(found)

    def to_file(self, recordings: Sequence[str], date: str) -> EstimatesSpec | None:
        """What was estimated, for a mechanism file, with names of files and a date in ISO 8601.

        What only sums of parameters are told of, or nothing, is left out: the report has it.
        None if nothing was.
        """
        known = ("identified", "uncertain")
        at = [k for k, x in enumerate(self.estimates) if x.status in known]
        values = {x.parameter.name: x.value for x in self.estimates if x.status in known}
        if not values:
            return None
        covariance = self.covariance[np.ix_(at, at)]
        return EstimatesSpec.made("identify", recordings, date, values, covariance)

    @cached_property
    def _bodies(self) -> tuple[dict[str, float], tuple[InputError, ...]]:
        """New values of links, and what to raise for links that no body is like."""
        links: dict[str, dict[str, float]] = {}
        for x in self.estimates:
            if x.parameter.kind == "link" and x.parameter.name.startswith("links."):
                links.setdefault(x.parameter.owner, {})[x.parameter.part] = x.value
        found: dict[str, float] = {}
        impossible = []
        for link in self.mechanism.model.description.links:
            if link.name not in links:
                continue
            before = parameters_of_body(link.mass, link.center_of_mass, link.inertia)
            try:
                found |= link_values(link.name, whole_body(link.name, before, links[link.name]))
            except InputError as error:
                impossible.append(error)
        return found, tuple(impossible)

    @cached_property
    def values(self) -> dict[str, float]:
        """New values for ``Mechanism.with_parameters``.

        Raises:
            InputError: No body has the estimates of a link, and its other parameters of the files.
        """
        bodies, impossible = self._bodies
        if impossible:
            raise impossible[0]
        found = dict(bodies)
        groups: dict[str, dict[str, float]] = {}
        for estimate in self.estimates:
            parameter, value = estimate.parameter, estimate.value
            if parameter.kind in ("joint_spring", "force"):
                groups.setdefault(parameter.name.rpartition(".")[0], {})[parameter.part] = value
            elif parameter.kind in ("damping", "friction", "armature"):
                found[parameter.name] = value
        known = self.mechanism.parameters
        for place, parts in groups.items():
            if "damping" in parts:
                found[f"{place}.damping"] = parts["damping"]
            before = known[f"{place}.stiffness"].value
            stiffness = parts.get("stiffness", before)
            found[f"{place}.stiffness"] = stiffness
            rest = next(f"{place}.{x}" for x in ("rest", "length") if f"{place}.{x}" in known)
            # what was not estimated is the preload, which a new stiffness has at another length
            preload = parts.get("preload", before * known[rest].value)
            if stiffness and {"preload", "stiffness"} & set(parts):
                found[rest] = preload / stiffness
        return found

    @cached_property
    def payload(self) -> tuple[float, Array, Array] | None:
        """Mass in kg, centre in the link in m and moments about it in kg m² of the payload."""
        ten = [x.value for x in self.estimates if x.parameter.name.startswith("payload.")]
        return body_of_parameters(np.array(ten)) if ten else None

    @property
    def motor_gains(self) -> dict[str, float]:
        """What the efforts of motors are to be multiplied by, of those that were estimated."""
        return {x.parameter.owner: x.value for x in self.estimates if x.parameter.kind == "motor"}

    @cached_property
    def new_values(self) -> dict[str, float]:
        """All values of the mechanism that change, the payload included."""
        found = dict(self.values)
        if self.payload is not None:
            known = self.identified.parameters
            before = self.mechanism.parameters
            found |= {n: x.value for n, x in known.items() if x.value != before[n].value}
        return found

    @cached_property
    def identified(self) -> Mechanism:
        """The mechanism with the estimates, the payload on its link."""
        found = self.mechanism.with_parameters(self.values)
        if self.payload is not None:
            link = next(
                x.parameter.owner for x in self.estimates if x.parameter.name.startswith("payload.")
            )
            mass, center, inertia = self.payload
            found = found.with_payload(link, mass, center, inertia)
        return found


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
