# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""External forces from the momentum of a machine with loops, without accelerations.

Along the motions v = Z y that the constraints allow, constraint forces do no work, and the momentum
p = ZᵀM v obeys

    ṗ = Zᵀ(F + S u + τ_ext) + (d/dt ZᵀM) v,

with F all forces of the model. The residual r = K (p − ∫ (Zᵀ(F + S u) + (d/dt ZᵀM) v + r) dt)
follows Zᵀτ_ext with the time constant 1/K.
Source: De Luca, Mattone: Sensorless robot collision detection and hybrid force/motion control (ICRA
2005), with the generalized momentum of the constrained system in place of that of a tree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.control.estimation.independent_joints import IndependentJoints, allowed_motions
from uk_dynamics.exceptions import InputError, expect, expect_names
from uk_dynamics.mechanism.dynamics import Backend, InterpretedDynamics
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

WRENCH_AXES = ("x", "y", "z", "rx", "ry", "rz")
_DETERMINED = 1e-3  # of the largest effect of an axis: smallest singular value
_ROUNDING = 1e-12  # of an effect in which nothing cancels


@dataclass(frozen=True)
class ExternalForces:
    """What acts on a machine besides its motors and its model."""

    efforts: Array  # as if it acted at the independent joints, (k,), in N or N·m
    # force in N and torque in N·m at the frame, in its own axes, (6,), axes that were not asked for
    # zero; None where the motion does not tell all of those asked for
    wrench: Array | None
    undetermined: tuple[str, ...] = ()  # axes that cannot be told from others here


class WrenchObserver:
    """Momentum observer through the loops; give it every state in order, from one thread."""

    def __init__(
        self,
        mechanism: Mechanism,  # with masses and friction as they are
        gain: float = 20.0,  # K, in 1/s
        *,
        frame: str = "",  # link or frame of the URDF at whose origin a wrench is told
        # components that can act there, of x y z rx ry rz: the fewer, the more machines tell them
        axes: Sequence[str] = WRENCH_AXES,
        # independent joints; None: those of motors, if they determine the others
        joints: Sequence[str] | None = None,
    ) -> None:
        """Prepare it.

        Raises:
            UnknownNameError: A frame or joint does not exist.
            InputError: The gain is not positive, an axis does not exist, or the mechanism cannot
                move.
        """
        expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
        if not (math.isfinite(gain) and gain > 0.0):
            raise InputError(f"expected a number above 0, found {gain}", place="gain")
        expect_names("axis", axes, WRENCH_AXES, place="axes")
        self.gain, self.frame, self.axes = gain, frame, tuple(axes)
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self._motion = LoopMotion(mechanism)
        if frame:
            mechanism.model.frame_index(frame)
        bases = []
        if joints is None:
            home = mechanism.state(mechanism.assemble())
            bases = [allowed_motions(self._dynamics.terms(home).A, mechanism)]
        self.joints = IndependentJoints(mechanism, bases, joints)  # where efforts are told
        self.reset()

    def reset(self) -> None:
        """Forget the past: the residual starts at zero."""
        self._before: tuple[float, Array, Array, Array] | None = None
        self._residual = np.zeros(len(self.joints.names))

    @property
    def backend(self) -> Backend:
        """Evaluator of the machine."""
        return self._dynamics.backend

    def update(self, state: State, inputs: Inputs | None = None) -> ExternalForces | None:
        """What acts from outside, from the next state.

        Args:
            state: Positions and velocities of all joints, in agreement with the loops.
            inputs: Efforts of the motors since the last state, and active constraints.

        Returns:
            None near configurations in which the independent joints do not determine the motion;
            after that it starts again.
        """
        terms = self._dynamics.terms(state, inputs or Inputs())
        Z = self.joints.motions(allowed_motions(terms.A, self._mechanism))
        if Z is None:
            self.reset()
            return None
        momentum = Z.T @ terms.M  # per velocity
        force = Z.T @ terms.F
        before = self._before
        self._before = state.t, momentum, force, state.v.copy()
        if before is not None and state.t > before[0]:
            period = state.t - before[0]
            # the change of ZᵀM v less that of ZᵀM is the mean of ZᵀM times the change of v
            change = 0.5 * (momentum + before[1]) @ (state.v - before[3])
            left = change / period - 0.5 * (force + before[2])
            self._residual += -math.expm1(-self.gain * period) * (left - self._residual)
        elif before is not None and state.t < before[0]:
            self._residual = np.zeros(len(self._residual))
        wrench, undetermined = self._wrench(state.q, Z)
        return ExternalForces(self._residual.copy(), wrench, undetermined)

    def _wrench(self, q: Array, Z: Array) -> tuple[Array | None, tuple[str, ...]]:
        """The wrench with the virtual power of the residual, where there is just one."""
        if not self.frame:
            return None, ()
        self._motion.update(q)
        J, _ = twist_map(self._motion, self.frame, np.zeros(len(Z)), "local")
        chosen = [WRENCH_AXES.index(axis) for axis in self.axes]
        size = max(self._mechanism.size, 1e-9)
        scale = np.array([1.0, 1.0, 1.0, size, size, size])[chosen]
        tree = J[chosen] * scale[:, None]
        effects = tree @ Z  # a torque of 1 N m times the machine's size
        _, values, right = np.linalg.svd(effects.T)
        rounding = _ROUNDING * largest(np.abs(tree) @ np.abs(Z))
        told = int((values > max(_DETERMINED * largest(values), rounding)).sum())
        if told < len(chosen):
            mixed = np.abs(right[told:]).max(axis=0) > _DETERMINED
            return None, tuple(a for a, m in zip(self.axes, mixed, strict=True) if m)
        found = np.linalg.lstsq(effects.T, self._residual, rcond=None)[0]
        wrench = np.zeros(6)
        wrench[chosen] = found * scale
        return wrench, ()
