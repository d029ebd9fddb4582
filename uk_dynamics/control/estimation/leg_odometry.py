# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a floating base is, from encoders, an inertial unit and the feet that stand.

A linear Kalman filter: attitude comes from :class:`AttitudeFilter` and counts as known, so that
position, velocity, bias of the accelerometer and the places of the feet follow linear equations
(Bloesch et al., RSS 2012, with the attitude taken out, as Bledt et al., IROS 2018, have it).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.control.estimation.attitude_filter import AttitudeFilter
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array, Point, State, placed
from uk_dynamics.mechanism_class import Mechanism

_P, _V, _B = slice(0, 3), slice(3, 6), slice(6, 9)
_FEET = 9  # where the places of feet begin
_STILL = 0.02  # rad/s or m/s; joints that all move less do not turn the base
_APART = 0.05  # m, by which feet are off a line, so that they tell how the base turns


@dataclass(frozen=True)
class OdometryNoise:
    """What the sensors are like; the defaults are those of a consumer unit and good encoders."""

    gyroscope: float = 2e-4  # rad/s/√Hz
    accelerometer: float = 3e-3  # m/s²/√Hz
    accelerometer_bias: float = 0.3  # m/s², at the start
    bias_walk: float = 1e-3  # m/s²/√s, of the accelerometer
    encoder: float = 1e-4  # rad or m
    encoder_rate: float = 0.1  # rad/s or m/s, with the lag of differences
    attitude: float = 0.02  # rad, of roll and pitch: bias of the accelerometer over gravity
    heading: float = 1e-3  # rad/s, by which it drifts: the rest of the gyroscope's bias
    foot: float = 1e-4  # m/√s, by which feet creep that stand
    ground: float = 1e-3  # m, by which level ground is not


class LegOdometry:
    """Estimates the pose and twist of a machine's floating base."""

    def __init__(
        self,
        mechanism: Mechanism,
        feet: Mapping[str, Point] | None = None,
        noise: OdometryNoise | None = None,
        ground: float | None = None,
    ) -> None:
        """Prepare.

        Args:
            mechanism: With one floating base.
            feet: Points that do not move while they stand, by name; None: its contacts.
            noise: Of the sensors; None: see :class:`OdometryNoise`.
            ground: Height of the ground where it is level, in m; None: it may be as it is.

        Raises:
            InputError: There is no floating base, or more than one, or there are no feet.
        """
        bases = [base for base in mechanism.model.bases if not base.planar]
        if len(bases) != 1 or len(mechanism.model.bases) != 1:
            problem = f"leg odometry needs one floating base, found {len(mechanism.model.bases)}"
            raise InputError(problem, file=mechanism.spec.file, place="model")
        given = contact_points(mechanism) if feet is None else dict(feet)
        if not given:
            problem = "leg odometry needs feet: contacts with the world, or points by name"
            raise InputError(problem, file=mechanism.spec.file, place="contacts")
        self._mechanism, self._base = mechanism, bases[0]
        self.feet = tuple(given)  # names
        self._points = tuple(given.values())
        self.noise = noise or OdometryNoise()
        self._ground = ground
        self._motion = LoopMotion(mechanism)
        self.attitude = AttitudeFilter()
        self.angular_velocity = np.zeros(3)  # of the base in its own axes, in rad/s
        self.reset()

    def reset(self, position: Sequence[float] = (0.0, 0.0, 0.0), heading: float = 0.0) -> None:
        """Begin at rest at a position, (3,), in m, with a heading about the world's z axis, in rad.

        The first update finds roll and pitch.
        """
        size = _FEET + 3 * len(self.feet)
        self._x, self._covariance = np.zeros(size), np.zeros((size, size))
        self._x[_P] = self._start = np.array(position, dtype=float)
        self._covariance[_B, _B] = self.noise.accelerometer_bias**2 * np.eye(3)
        self._heading = heading
        self._time: float | None = None
        self._since = self._leg = 0.0
        self._standing: frozenset[str] = frozenset()

    @property
    def pose(self) -> Array:
        """X y z qx qy qz qw of the base in the world, (7,)."""
        return np.concatenate([self._x[_P], to_quaternion(self.attitude.rotation)])

    @property
    def twist(self) -> Array:
        """Linear and angular velocity in axes of the base, (6,)."""
        return np.concatenate([self._x[_V] @ self.attitude.rotation, self.angular_velocity])

    @property
    def covariances(self) -> tuple[Array, Array]:
        """Of the pose, in axes of the world, and of the twist, in axes of the base, (6, 6) each."""
        rotation, noise = self.attitude.rotation, self.noise
        pose, twist = np.zeros((6, 6)), np.zeros((6, 6))
        drift = noise.gyroscope**2 * self._since + (noise.heading * self._since) ** 2
        pose[3:, 3:] = np.diag([noise.attitude**2, noise.attitude**2, drift])
        # the attitude counts as known in the filter; its error turns the whole way and the legs
        lever = so3.skew(self._x[_P] - self._start)
        pose[:3, :3] = self._covariance[_P, _P] + lever @ pose[3:, 3:] @ lever.T
        pose[:3, :3] += np.eye(3) * (noise.attitude * self._leg) ** 2
        twist[:3, :3] = rotation.T @ self._covariance[_V, _V] @ rotation
        twist[3:, 3:] = np.eye(3) * noise.gyroscope**2 / max(self._elapsed, 1e-6)
        return pose, twist

    _elapsed = 1e-3  # s, of the last step

    def place(self, q: Array, v: Array) -> None:
        """Write the base into q (nq,) and v (nv,)."""
        self._base.place(q, v, self.pose, self.twist)

    def update(
        self,
        state: State,
        gyroscope: Array,
        accelerometer: Array,
        standing: Collection[str],
        sensitivity: Array | None = None,
    ) -> None:
        """Take the measurements of a time.

        Args:
            state: Time, and the joints; its base is not looked at.
            gyroscope: Mean angular rate since the last update in axes of the base, (3,), in rad/s.
            accelerometer: Mean specific force at the base's origin since then, (3,), in m/s².
            standing: Names of feet that stand still.
            sensitivity: How far each velocity coordinate moves per encoder, (nv, d), as
                :meth:`StateCompletion.sensitivity` has it; None: every joint has an encoder.

        Raises:
            UnknownNameError: A foot that stands does not exist.
        """
        expect_names("foot", standing, self.feet)
        if self._time is None or state.t < self._time:
            if self._time is not None:
                self.reset(self._x[_P].tolist(), self._heading)
            self.attitude.start(accelerometer, self._heading)
            self._time = state.t
        elapsed, self._time = state.t - self._time, state.t
        places, rates, reach = self._kinematics(state, sensitivity)
        known = self._turning(places, rates, self._standing.intersection(standing))
        moving = state.v[self._mechanism.model.velocity_of_joint]
        if known is None and standing and np.abs(moving).max() < _STILL:
            known = np.zeros(3)
        before = self.attitude.rotation
        self.angular_velocity = self.attitude.update(elapsed, gyroscope, accelerometer, known=known)
        if elapsed > 0.0:
            self._predict(elapsed, 0.5 * (before + self.attitude.rotation), accelerometer)
        # what has lifted since then has hardly moved: it takes the place over to what has come down
        for number, name in enumerate(self.feet):
            if name in self._standing:
                self._stay(number, places[number], reach[number])
        for number, name in enumerate(self.feet):
            if name in standing:
                if name not in self._standing:
                    self._touch_down(number, places[number], reach[number])
                self._stand_still(number, places[number], rates[number], reach[number])
        self._standing = frozenset(standing)
        if standing:
            stands = [name in standing for name in self.feet]
            self._leg = float(np.linalg.norm(places[stands], axis=1).max())

    def _kinematics(
        self, state: State, sensitivity: Array | None
    ) -> tuple[Array, Array, list[Array]]:
        """Feet in axes of the base, (feet, 3), their rates, and their motions per encoder."""
        model, base = self._mechanism.model, self._base
        q, v = state.q.copy(), state.v.copy()
        base.place(q, v, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
        self._motion.update(q, v, state.t)
        _, origin, axes = placed(model, self._motion.workspace, base.link)
        rotation = axes.T
        places, rates = np.zeros((2, len(self.feet), 3))
        reach = []
        for number, foot in enumerate(self._points):
            J, _ = twist_map(self._motion, foot, v)
            _, place, _ = placed(model, self._motion.workspace, foot)
            places[number] = rotation @ (place - origin)
            linear = rotation @ J[:3]
            linear[:, base.velocity] = 0.0
            rates[number] = linear @ v
            reach.append(linear if sensitivity is None else linear @ sensitivity)
        return places, rates, reach

    def _turning(self, places: Array, rates: Array, standing: Collection[str]) -> Array | None:
        """Angular velocity of the base by feet that stand; None where they are on a line."""
        stands = [name in standing for name in self.feet]
        if sum(stands) < 3:
            return None
        arms = places[stands] - places[stands].mean(axis=0)
        moved = rates[stands] - rates[stands].mean(axis=0)  # r + ω × p is the same for all
        turning, _, _, spread = np.linalg.lstsq(
            np.vstack([so3.skew(arm) for arm in arms]), moved.ravel()
        )
        return turning if spread[-1] > _APART else None

    def _predict(self, elapsed: float, rotation: Array, accelerometer: Array) -> None:
        """Position and velocity go on with the measured acceleration."""
        self._elapsed = elapsed
        self._since += elapsed
        noise, x, P = self.noise, self._x, self._covariance
        a = rotation @ (accelerometer - x[_B]) + self._mechanism.model.gravity
        x[_P] += elapsed * x[_V] + 0.5 * elapsed**2 * a
        x[_V] += elapsed * a
        F = np.eye(len(x))
        F[_P, _V] = elapsed * np.eye(3)
        F[_P, _B] = -0.5 * elapsed**2 * rotation
        F[_V, _B] = -elapsed * rotation
        P[:] = F @ P @ F.T
        P[_V, _V] += noise.accelerometer**2 * elapsed * np.eye(3)
        P[_B, _B] += noise.bias_walk**2 * elapsed * np.eye(3)
        P[_FEET:, _FEET:] += noise.foot**2 * elapsed * np.eye(len(x) - _FEET)

    def _touch_down(self, number: int, place: Array, reach: Array) -> None:
        """A foot begins to stand where it is."""
        x, P, rotation = self._x, self._covariance, self.attitude.rotation
        part = self._part(number)
        x[part] = x[_P] + rotation @ place
        P[part, :], P[:, part] = P[_P, :], P[:, _P]
        P[part, part] = P[_P, _P] + self._of_place(place, reach)

    def _of_place(self, place: Array, reach: Array) -> Array:
        """Covariance of a foot relative to the base, in axes of the world, (3, 3)."""
        noise = self.noise
        turned = self.attitude.rotation @ reach
        return np.asarray(noise.encoder**2 * turned @ turned.T + 1e-12 * np.eye(3))

    def _stay(self, number: int, place: Array, reach: Array) -> None:
        """A foot is where it was."""
        H = np.zeros((3, len(self._x)))
        H[:, _P], H[:, self._part(number)] = -np.eye(3), np.eye(3)
        self._correct(H, self.attitude.rotation @ place, self._of_place(place, reach))

    def _stand_still(self, number: int, place: Array, rate: Array, reach: Array) -> None:
        """A foot does not move; on level ground its height is known."""
        rotation, noise, size = self.attitude.rotation, self.noise, len(self._x)
        H = np.zeros((3, size))
        H[:, _V] = np.eye(3)
        turned = rotation @ reach
        lever = noise.gyroscope**2 / max(self._elapsed, 1e-6) * float(place @ place)
        R = noise.encoder_rate**2 * turned @ turned.T + (lever + 1e-8) * np.eye(3)
        self._correct(H, -rotation @ (rate + np.cross(self.angular_velocity, place)), R)
        if self._ground is not None:
            H = np.zeros((1, size))
            H[0, self._part(number).stop - 1] = 1.0
            self._correct(H, np.array([self._ground]), np.array([[noise.ground**2]]))

    def _part(self, number: int) -> slice:
        """Place of a foot in the state."""
        return slice(_FEET + 3 * number, _FEET + 3 * number + 3)

    def _correct(self, H: Array, measured: Array, R: Array) -> None:
        """Take a measurement of H x with covariance R."""
        x, P = self._x, self._covariance
        gain = np.linalg.solve(H @ P @ H.T + R, H @ P).T
        x += gain @ (measured - H @ x)
        keep = np.eye(len(x)) - gain @ H
        P[:] = keep @ P @ keep.T + gain @ R @ gain.T  # Joseph's form stays symmetric and positive


def contact_points(mechanism: Mechanism) -> dict[str, Point]:
    """Points of the machine's links that touch what does not move, by the names of the contacts."""
    model = mechanism.model
    moving = np.any(model.ancestor_mask, axis=1)
    found: dict[str, Point] = {}
    names = {one.name for one in mechanism.one_sided}
    for constraint in mechanism.constraints.constraints:
        if constraint.kind != "contact" or constraint.parent is None or constraint.child is None:
            continue
        name = constraint.name
        if name in names and not moving[constraint.parent]:
            found[name] = model.frame_names[constraint.child]
    return found
