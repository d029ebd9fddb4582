# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism file to begin with, from a robot description: every guess is marked as one."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from uk_dynamics.conversion.drafting.guesses import (
    CandidateCut,
    MotorGuess,
    candidate_cuts,
    choose_types,
    motor_guesses,
    motor_lines,
)
from uk_dynamics.conversion.output_files import relative_address
from uk_dynamics.conversion.robot.yaml_layout import comment, entry, flow, identifier
from uk_dynamics.escaping import one_line
from uk_dynamics.exceptions import AssemblyError, InputError
from uk_dynamics.mechanism.analysis import MechanismReport
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import Array, RobotDescription, collision_shapes, read_urdf

_OF_DIGITS = 1e-5  # of the machine's size: a smaller loop-closure error is a matter of digits
_SHOWN = 6  # joints, of a branch
_STARTS, _AWAY = 8, 0.5  # of the search around given positions; rad or m from the others
_TOLERANCES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True)
class Draft:
    """A mechanism file that has been drafted and loaded."""

    text: str
    cuts: tuple[CandidateCut, ...]  # loops that it closes
    suggestions: tuple[CandidateCut, ...]  # loops that it mentions in comments
    motors: tuple[str, ...]  # motors that it declares
    branch: str  # of its closed loops, and how to get another; empty without loops
    report: MechanismReport  # what the mechanism is with it


def draft(
    urdf: str,
    directory: Path,
    *,
    positions: Mapping[str, float] | None = None,
    xacro: Mapping[str, str] | None = None,
) -> Draft:
    """Draft a mechanism file; loops are closed at ``positions``, in rad or m, others at or near 0.

    What cannot be used is an UrdfError, an InputError, or, of mimic joints, an AssemblyError.
    """
    description = read_urdf(urdf, arguments=xacro)
    model = RobotModel(description)
    given = dict(positions or {})
    q = _configuration(model, given)
    model_data: dict[str, object] = {"urdf": relative_address(urdf, directory)}
    if xacro:
        model_data["xacro"] = dict(xacro)
    neutral = model.positions_by_name(model.neutral())
    at = model.positions_by_name(q)
    guess = {name: value for name, value in at.items() if value != neutral[name]}
    drafter = _Drafter(description, model_data, directory, guess)
    cuts = list(candidate_cuts(model, q))
    chosen = [cut for cut in cuts if cut.likely]
    report = drafter.examine(chosen) or drafter.examine_roughly(chosen)
    while report is None:  # what does not close is left to the user, the worst first
        drafter.doubtful.append(drafter.worst(chosen))
        chosen.remove(drafter.doubtful[-1])
        report = drafter.examine(chosen)
    drafter.others = [cut for cut in cuts if cut not in chosen]
    if not all(cut.closed for cut in chosen):
        drafter.start_closed(chosen, given)
        report = drafter.examine(chosen) or report
    closed, report = choose_types(chosen, report, len(drafter.motors), drafter.examine)
    if not all(cut.closed for cut in closed):
        drafter.start_closed(closed, given)
    branch = drafter.branch(closed, given) if closed else ""
    text = drafter.text(closed, report, branch)
    return Draft(text, closed, tuple(drafter.others), tuple(drafter.motors), branch, report)


def _configuration(model: RobotModel, given: Mapping[str, float]) -> Array:
    q = model.to_positions(given)
    violated = [v for v in model.limit_violations(q) if v.joint in given]
    if violated:
        raise InputError(f"{violated[0]}; choose a position within", place="--at")
    places, velocities = model.position_of_joint, model.velocity_of_joint
    q[places] = np.clip(q[places], model.lower[velocities], model.upper[velocities])
    return q


class _Drafter:
    """Puts the parts of the file together and tries them out."""

    def __init__(
        self,
        description: RobotDescription,
        model: Mapping[str, object],
        directory: Path,
        guess: Mapping[str, float],
    ) -> None:
        self.description, self.model, self.directory = description, model, directory
        self.guess = dict(guess)
        self.motors = motor_guesses(description)
        self.tolerance = 0.0  # of the closure; 0 is that of the schema
        # cuts that are only mentioned, and those of them with which loops do not close
        self.others, self.doubtful = list[CandidateCut](), list[CandidateCut]()

    def examine(self, cuts: Sequence[CandidateCut]) -> MechanismReport | None:
        """What the mechanism is with these cuts; None where they do not close."""
        try:
            return self._mechanism(cuts).report()
        except AssemblyError:
            if not cuts:
                raise
            return None

    def examine_roughly(self, cuts: Sequence[CandidateCut]) -> MechanismReport | None:
        """What the mechanism is within the tolerance that digits of the URDF ask for; None if open.

        Loops may happen to close for a smaller one, with rows that repeat others as independent
        ones. So the rank has to be that of the next wider one.
        """
        mechanism = self._mechanism(cuts)
        missing = max(mechanism.assembly().violations.values(), default=0.0) / mechanism.size
        if missing > _OF_DIGITS:
            return None
        before: MechanismReport | None = None
        for tolerance in (t for t in _TOLERANCES if t >= 2.0 * missing):
            narrower, self.tolerance = self.tolerance, tolerance
            found = self.examine(cuts)
            if before is not None and found is not None and before.rank == found.rank:
                self.tolerance = narrower
                return before
            before = found
        self.tolerance = 0.0
        return None

    def worst(self, cuts: Sequence[CandidateCut]) -> CandidateCut:
        """The cut with the largest loop-closure error left."""
        errors = self._mechanism(cuts).assembly().violations
        return max(cuts, key=lambda cut: errors.get(cut.name, 0.0))

    def branch(self, cuts: Sequence[CandidateCut], given: Mapping[str, float]) -> str:
        """Where its loops are closed, and how to get another branch."""
        begin = ", ".join(f"{name} = {value:g}" for name, value in given.items())
        begin = begin or "the zero position"
        mechanism = self._mechanism(cuts)
        model = mechanism.model
        q = model.positions_by_name(mechanism.assemble())
        pairs = [(cut.coincidence.parent, cut.coincidence.child) for cut in cuts]
        moving = {
            v for a, b in pairs for v in model.ancestry.between(*map(model.frame_index, (a, b)))[0]
        }
        names = [name for name in model.joint_names if model.velocity_index(name) in moving]
        shown = [f"{name} = {q[name] + 0.0:.3g}" for name in names[:_SHOWN]]
        at = ", ".join([*shown, *["…"] * (len(names) > _SHOWN)])
        return f"nearest to {begin}: {at}; another one by init --at JOINT=VALUE near it"

    def start_closed(self, cuts: Sequence[CandidateCut], given: Mapping[str, float]) -> None:
        """Have the file begin where the loops close: not all do at the given positions.

        As many of these are kept as the loops allow, the first ones first, and the others are as
        near as several starts find: a machine drawn folded flat leaves that by chance only.
        """
        mechanism = self._mechanism(cuts)
        model, chance = mechanism.model, np.random.default_rng(0)
        starts = [mechanism.configuration()]
        for _ in range(_STARTS if given else 0):
            step = _AWAY * chance.standard_normal(model.nv)
            starts.append(model.to_positions(given, default=model.integrate(starts[0], step)))
        wanted = model.to_positions(given)
        places = [model.position_index(name) for name in given]

        def closed(held: Mapping[str, float]) -> list[Array]:
            found = []
            for start in starts:
                with contextlib.suppress(AssemblyError):
                    found.append(mechanism.assemble(start, hold=held))
            return found

        best, held = closed({}), dict[str, float]()
        for name, value in given.items():
            if found := closed(held | {name: value}):
                best, held = found, held | {name: value}
        q = min(best, key=lambda q: float(np.linalg.norm((q - wanted)[places])))
        self.guess |= {name: round(value, 4) for name, value in model.positions_by_name(q).items()}

    def _mechanism(self, cuts: Sequence[CandidateCut]) -> Mechanism:
        text = "\n".join(self._body(cuts))
        spec = MechanismSpec.from_text(text, file="draft", directory=self.directory)
        return Mechanism.from_spec(spec)

    def text(self, cuts: Sequence[CandidateCut], report: MechanismReport, branch: str) -> str:
        """The whole file."""
        head = comment(
            f"Mechanism of {self.description.source}, drafted by uk_dynamics init. What is marked"
            " as a guess is one: look at it."
        )
        head += comment(
            "Then: uk_dynamics check FILE validates the model, uk_dynamics"
            " describe FILE what the mechanism is."
        )
        head += ["#", *joint_table(self.description, self.motors)]
        head += [line for warning in self.description.warnings for line in comment(warning)]
        found = f"as drafted: {report.velocities} velocities, {report.rows} constraint rows of"
        found += f" rank {report.rank}, mobility {report.mobility}, {report.actuation}"
        if branch:
            found += f". Branch of the loops: {branch}"
        return "\n".join([*head, "#", *comment(found), *self._body(cuts)]) + "\n"

    def _body(self, cuts: Sequence[CandidateCut]) -> list[str]:
        lines = ["schema: 1", "model:"]
        lines += [f"  {key}: {flow(value)}" for key, value in self.model.items()]
        lines.append("  gravity: [0.0, 0.0, -9.81]          # guess: m/s², z is up")
        lines.append("  root: fixed                         # guess: or floating, planar")
        if self.tolerance:
            solver = flow({"closure_tolerance": self.tolerance})
            lines.append(f"solver: {solver}   # digits of the URDF")
        lines += motor_lines(self.motors, self.description)
        if self.guess:
            lines.append(f"initial_guess: {flow(self.guess)}   # rad or m; others at 0")
        lines += self._constraints(cuts)
        lines += self._contacts()
        return lines

    def _contacts(self) -> Iterator[str]:
        """What may stand on the ground, as a comment: outermost links with collision shapes."""
        inner = {joint.parent for joint in self.description.joints}
        links = [
            link.name
            for link in self.description.links
            if link.name not in inner and collision_shapes(self.description, link.name)
        ]
        if not links or not self.description.joints:
            return
        yield from comment(
            "Collision shapes, which may touch a plane through the origin of another link, such as"
            " the ground of a machine that stands:"
        )
        yield "# contacts:"
        for link in links[:_SHOWN]:
            data: dict[str, object] = {
                "parent": {"link": "world"},
                "child": {"link": link},
                "from": "collision",
            }
            data["friction"] = 0.5
            yield from entry(f"{identifier(link)}_on_ground", data, active=False)

    def _constraints(self, cuts: Sequence[CandidateCut]) -> Iterator[str]:
        if not cuts and not self.others:
            yield from comment(
                "No frames coincide here, so no loop was found. Mark both sides of each pin in the"
                " URDF by massless links that are called alike but for _a and _b at the end, give"
                " --at JOINT=VALUE of a configuration in which the loops are closed, or write them"
                " down:"
            )
            yield "# constraints:"
            end = {"link": "LINK", "xyz": [0.0, 0.0, 0.0]}
            yield from entry("pin", {"type": "point", "parent": end, "child": end}, active=False)
            return
        yield "constraints:" if cuts else "# constraints:"
        for cut in cuts:
            yield from entry(cut.name, cut.data, comments=[" ".join(cut.reasons)])
        for cut in self.others:
            words = [" ".join(cut.reasons)]
            if cut in self.doubtful:
                words.append("With this one in, the mechanism does not close.")
            elif cut.closed and not cut.named:
                words.append("Both are bodies, so this may be chance.")
            yield from entry(cut.name, cut.data, comments=[" ".join(words)], active=False)
        if self.description.mimics:
            names = ", ".join(mimic.joint for mimic in self.description.mimics)
            yield from comment(
                f"The mimic joints of the URDF ({names}) are constraints already. Where mimic"
                " stands for a loop that is closed here, remove it from the URDF.",
                2,
            )


def joint_table(description: RobotDescription, motors: Mapping[str, MotorGuess]) -> Iterator[str]:
    """The joints with their limits, as a comment."""
    driven = {motor.joint for motor in motors.values()}
    moving = [joint for joint in description.joints if joint.type != "fixed"]
    width = max([len(joint.name) for joint in moving], default=5)
    yield f"# {'joint':{width}}  {'kind':9}  {'lower':>8}  {'upper':>8}  {'effort':>8}"
    for joint in moving:
        remark = "  motor (guess)" if joint.name in driven else ""
        limits = (joint.lower, joint.upper, joint.effort_limit)
        texts = (f"{limit:.4g}" if np.isfinite(limit) else "-" for limit in limits)
        numbers = "  ".join(f"{text:>8}" for text in texts)
        yield f"# {one_line(joint.name):{width}}  {joint.type:9}  {numbers}{remark}".rstrip()
