# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

from uk_dynamics.simulation.controller import Controller
from uk_dynamics.simulation.inertial_unit import InertialNoise, InertialUnit
from uk_dynamics.simulation.options import default_method
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics.simulation.simulate_many import simulate_many
from uk_dynamics.simulation.singular_passages import SingularPassages
from uk_dynamics.simulation.time_integration import Advance
from uk_dynamics.simulation.trajectory import Trajectory
