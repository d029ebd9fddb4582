# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states over contacts, stops and ropes in C: one after the other, in threads."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from uk_dynamics.compilation.runtime.batch_call import CommonInputs, trajectories_call
from uk_dynamics.compilation.runtime.compiled_batch import in_parts
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.mechanism.contact import ClosedContacts, roll_over_contacts
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Inputs, Plan, ResolvedMechanism, Rollout

_WORTH_A_THREAD = 256  # steps; to start one, with a memory of its own, costs as much as some ten


class ContactRollouts:
    """Trajectories of a mechanism with one-sided constraints; threads may share it."""

    def __init__(
        self, mechanism: ResolvedMechanism, new_motion: Callable[[], CompiledMotion | None]
    ) -> None:
        self._mechanism, self._new_motion = mechanism, new_motion
        self._contacts = ClosedContacts(mechanism)
        self._idle: list[CompiledMotion] = []  # of threads

    def roll(self, dynamics: Dynamics, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """See :meth:`Dynamics.rollout`; what C cannot solve goes by steps of the evaluator."""
        found = Rollout.unknown(given)
        outputs = {"q_out": found.q, "v_out": found.v, "stopped": np.ones(len(given.q))}
        base = self._contacts.without(inputs.active or self._mechanism.hierarchy.initial)
        smooth = replace(inputs, active=base, stabilize=False)
        motors, nv = len(self._mechanism.actuators), given.v.shape[1]

        def run(first: int, end: int) -> None:
            try:
                motion: CompiledMotion | None = self._idle.pop()
            except IndexError:
                motion = self._new_motion()
            if motion is None:
                return
            motion.act(smooth, np.zeros(motors), np.zeros(nv))
            nothing = CommonInputs(False, np.ones(1), None, None)  # it has what acts
            call = trajectories_call(given, nothing, first, end, outputs)
            motion.roll(self._contacts.tables, call)
            self._idle.append(motion)

        if inputs.nonideal is None:
            in_parts(run, len(given.q), threads, 1, max(1, _WORTH_A_THREAD // given.steps))
        left = outputs["stopped"].nonzero()[0].tolist()
        for k in left:  # it begins again
            found.q[k], found.v[k] = np.nan, np.nan
        if left:
            roll_over_contacts(self._mechanism, dynamics, given, inputs, found, left)
        return found
