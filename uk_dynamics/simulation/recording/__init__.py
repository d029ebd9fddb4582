# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories and their files: MCAP, npz, csv, Parquet."""

from uk_dynamics.simulation.recording.bags import BagReader, is_bag
from uk_dynamics.simulation.recording.columns import NO_PARQUET, template
from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.mcap_bases import odom_topic
from uk_dynamics.simulation.recording.mcap_contents import (
    COMMANDS,
    DIAGNOSTICS,
    MOTION,
    REFERENCES,
    ROWS,
    START,
    STATES,
    TASKS,
    description,
    schemas,
)
from uk_dynamics.simulation.recording.mcap_writer import CHUNK, MISSING, GrowingFile, Message
from uk_dynamics.simulation.recording.trajectory_data import Statistics
