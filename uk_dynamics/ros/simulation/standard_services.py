# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The standard services of simulators, of ``simulation_interfaces``, beside the simulator's own.

Without that package there are none.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model.urdf import from_quaternion
from uk_dynamics.ros.simulation.simulation_loop import SimulatedRun

WORLD = "world"
_MOST_STEPS = 10000  # in one call, in which the node does nothing else
_UNREACHED = 1e-6  # m/s and rad/s, of a twist


class _Refused(UkDynamicsError):
    """A request that is not carried out; ``code`` is the result, None: the operation failed."""

    def __init__(self, problem: str, code: int | None = None) -> None:
        super().__init__(problem)
        self.code = code


class StandardServices:
    """Offers what ``~/get_simulator_features`` lists.

    Entities are the mechanism, by its name, which is where its root link is, and each link, as
    ``<mechanism>/<link>``. Poses, twists (of the link's origin) and accelerations are in ``world``.
    """

    def __init__(self, simulator: Any, run: SimulatedRun) -> None:
        """Offer them for the simulator node, which can ``pause``, ``step`` and ``reset``."""
        self._simulator, self._run = simulator, run
        self._stopped = False
        mechanism = run.machine.mechanism
        links = mechanism.model.link_names
        self._links = {mechanism.name: links[0]}
        self._links |= {f"{mechanism.name}/{link}": link for link in links}
        self._motion = LoopMotion(mechanism)
        try:
            from simulation_interfaces import msg, srv
        except ImportError:
            return
        self._msg, self._srv = msg, srv
        services = {
            srv.GetSimulatorFeatures: self._on_features,
            srv.GetEntities: self._on_entities,
            srv.GetEntitiesStates: self._on_states,
            srv.GetEntityInfo: self._on_info,
            srv.GetEntityState: self._on_get_state,
            srv.SetEntityState: self._on_set_state,
            srv.GetSimulationState: self._on_get_simulation,
            srv.SetSimulationState: self._on_set_simulation,
            srv.StepSimulation: self._on_step,
            srv.ResetSimulation: self._on_reset,
        }
        for kind, answer in services.items():
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
            simulator.create_service(kind, f"~/{name}", functools.partial(self._respond, answer))

    def _respond(self, answer: Callable[[Any, Any], None], request: Any, response: Any) -> Any:
        """Answer a request; an error becomes the result."""
        codes, result = self._msg.Result, getattr(response, "result", self._msg.Result())
        result.result = codes.RESULT_OK
        try:
            answer(request, response)
        except UkDynamicsError as error:
            code = getattr(error, "code", None)
            result.result = codes.RESULT_OPERATION_FAILED if code is None else code
            result.error_message = str(error)
        return response

    def _on_features(self, request: Any, response: Any) -> None:
        f = self._msg.SimulatorFeatures
        free = self._simulator.steps_freely
        response.features.features = [
            f.ENTITY_CATEGORIES,
            f.ENTITY_STATE_GETTING,
            f.ENTITY_STATE_SETTING,
            f.ENTITY_INFO_GETTING,
            f.SIMULATION_RESET,
            *([f.SIMULATION_RESET_TIME] if free else []),
            f.SIMULATION_RESET_STATE,
            f.SIMULATION_STATE_GETTING,
            f.SIMULATION_STATE_SETTING,
            f.SIMULATION_STATE_PAUSE,
            f.STEP_SIMULATION_SINGLE,
            *([f.STEP_SIMULATION_MULTIPLE] if free else []),
        ]
        response.features.custom_info = "uk_dynamics: one mechanism, its loops closed"

    def _on_entities(self, request: Any, response: Any) -> None:
        response.entities = self._matching(request.filters)

    def _on_states(self, request: Any, response: Any) -> None:
        response.entities = self._matching(request.filters)
        response.states = [self._state(self._links[name]) for name in response.entities]

    def _on_info(self, request: Any, response: Any) -> None:
        self._link(request.entity)
        response.info.category = self._category(request.entity)
        robot = request.entity == self._run.machine.mechanism.name
        response.info.description = "mechanism" if robot else "link"

    def _on_get_state(self, request: Any, response: Any) -> None:
        response.state = self._state(self._link(request.entity))

    def _on_set_state(self, request: Any, response: Any) -> None:
        link = self._link(request.entity)
        state = self._settable(request.state.header.frame_id)
        if request.set_pose:
            try:
                state = self._placed(link, request.state.pose, state)
            except UkDynamicsError as error:
                raise _Refused(str(error), self._srv.SetEntityState.Response.INVALID_POSE) from None
        if request.set_twist:
            state = self._moving(link, request.state.twist, state)
        self._run.machine.place(state)
        self._run.publish()

    def _on_get_simulation(self, request: Any, response: Any) -> None:
        response.state.state = self._present()

    def _on_set_simulation(self, request: Any, response: Any) -> None:
        kinds, codes = self._msg.SimulationState, self._srv.SetSimulationState.Response
        wanted = request.state.state
        if wanted not in (kinds.STATE_STOPPED, kinds.STATE_PLAYING, kinds.STATE_PAUSED):
            raise self._unsupported("there is one world, and launch ends the simulator")
        if wanted == self._present():
            raise _Refused("the simulation is in that state", codes.ALREADY_IN_TARGET_STATE)
        if problem := self._simulator.pause(wanted != kinds.STATE_PLAYING):
            raise _Refused(problem, codes.STATE_TRANSITION_ERROR)
        self._stopped = wanted == kinds.STATE_STOPPED
        if self._stopped:
            self._simulator.reset()

    def _on_step(self, request: Any, response: Any) -> None:
        if not self._simulator.paused:
            raise _Refused("the simulation is running; pause it first")
        if request.steps > 1 and not self._simulator.steps_freely:
            raise self._unsupported("controller_manager takes one step at a time")
        if request.steps > _MOST_STEPS:
            problem = f"expected at most {_MOST_STEPS} steps, found {request.steps}"
            raise _Refused(problem)
        self._stopped = self._stopped and not request.steps
        for k in range(request.steps):
            if problem := self._simulator.step():
                raise _Refused(f"step {k + 1}: {problem}")

    def _on_reset(self, request: Any, response: Any) -> None:
        kinds = self._srv.ResetSimulation.Request
        scope = request.scope or kinds.SCOPE_ALL
        in_time, free = bool(scope & kinds.SCOPE_TIME), self._simulator.steps_freely
        if in_time and not scope & kinds.SCOPE_STATE:
            raise self._unsupported("time goes back with the state only")
        if in_time and not free and scope != kinds.SCOPE_ALL:
            raise self._unsupported("controller_manager would sleep if time went back")
        if scope & kinds.SCOPE_STATE:
            self._simulator.reset(keep_time=not in_time)

    def _present(self) -> int:
        """The state of the simulation."""
        kinds = self._msg.SimulationState
        if not self._simulator.paused:
            self._stopped = False
            return int(kinds.STATE_PLAYING)
        return int(kinds.STATE_STOPPED if self._stopped else kinds.STATE_PAUSED)

    def _unsupported(self, problem: str) -> _Refused:
        return _Refused(problem, self._msg.Result.RESULT_FEATURE_UNSUPPORTED)

    def _link(self, entity: str) -> str:
        """The link of an entity."""
        if entity not in self._links:
            problem = f'no entity "{entity}"; there are {", ".join(self._links)}'
            raise _Refused(problem, self._msg.Result.RESULT_NOT_FOUND)
        return self._links[entity]

    def _category(self, entity: str) -> Any:
        kinds = self._msg.EntityCategory
        robot = entity == self._run.machine.mechanism.name
        return kinds(category=kinds.CATEGORY_ROBOT if robot else kinds.CATEGORY_OBJECT)

    def _matching(self, filters: Any) -> list[str]:
        """Entities that filters let through."""
        if filters.tags.tags or filters.bounds.type != self._msg.Bounds.TYPE_EMPTY:
            raise self._unsupported("entities have neither tags nor bounds")
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise InputError(f"{filters.filter:.40}: {error}") from None
        wanted = [category.category for category in filters.categories]
        return [
            name
            for name in self._links
            if pattern.search(name) and (not wanted or self._category(name).category in wanted)
        ]

    def _state(self, link: str) -> Any:
        """Pose, twist and acceleration of a link."""
        run = self._run
        model, at = run.machine.mechanism.model, run.machine.state
        self._motion.update(at.q, at.v, at.t)
        J, drift = twist_map(self._motion, link, at.v)
        twist = J @ at.v
        index = model.frame_index(link)
        message = self._msg.EntityState()
        message.header.frame_id = WORLD
        message.header.stamp = run.time.stamp
        _write(message.pose.position, self._motion.workspace.translation[index])
        _write(message.pose.orientation, to_quaternion(self._motion.workspace.rotation[index]))
        _write(message.twist.linear, twist[:3])
        _write(message.twist.angular, twist[3:])
        if not (run.failure or run.brakes_hold):
            rate = J @ run.machine.solution().qdd + drift
            _write(message.acceleration.linear, rate[:3])
            _write(message.acceleration.angular, rate[3:])
        return message

    def _settable(self, frame: str) -> State:
        """The present state, of a machine that can be put elsewhere."""
        machine = self._run.machine
        if frame not in ("", WORLD):
            raise InputError(f'expected "{WORLD}" or nothing, found "{frame}"', place="frame_id")
        if machine.mechanism.driven_by_time:
            raise InputError("the mechanism depends on time: its state cannot be set")
        if machine.active.names != machine.mechanism.hierarchy.initial.names:
            raise InputError("constraints have been switched: the state cannot be set")
        return machine.state

    def _placed(self, link: str, pose: Any, state: State) -> State:
        """With a link at a pose, loops closed, on the present branch; velocities projected."""
        p, o = pose.position, pose.orientation
        turn, place = np.array([o.x, o.y, o.z, o.w]), np.array([p.x, p.y, p.z])
        if not (np.isfinite(place).all() and abs(np.linalg.norm(turn) - 1.0) < 1e-3):
            raise InputError("expected finite numbers and a unit quaternion", place="pose")
        machine = self._run.machine
        q = machine.mechanism.inverse_kinematics(
            link, position=place, orientation=from_quaternion(turn), seed=state.q
        )
        return machine.dynamics.project(State(state.t, q, state.v), machine.inputs)

    def _moving(self, link: str, twist: Any, state: State) -> State:
        """With a link at a twist; of motions of the others as much as possible remains."""
        wanted = np.array([*_read(twist.linear), *_read(twist.angular)])
        self._motion.update(state.q, state.v, state.t)
        J, _ = twist_map(self._motion, link, state.v)
        ways = self._motion.unit[:, None] * self._motion.basis()
        v = state.v + ways @ np.linalg.lstsq(J @ ways, wanted - J @ state.v, rcond=1e-9)[0]
        left = np.abs(J @ v - wanted).max()
        if not left < _UNREACHED:
            raise InputError(f"{link} cannot move like that here; off by {left:.3g} m/s or rad/s")
        return State(state.t, state.q, v)


def _write(message: Any, values: Array) -> None:
    for name, value in zip("xyzw", values, strict=False):
        setattr(message, name, float(value))


def _read(message: Any) -> tuple[float, float, float]:
    return message.x, message.y, message.z
