# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Two arms lift a crate, as ROS 2 nodes.

Arguments are those of simulation.launch.py, such as view:=true or rate:=200.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

HERE = Path(__file__).resolve().parent


def generate_launch_description():
    """The simulation of uk_dynamics with the files of this folder."""
    package = Path(get_package_share_directory("uk_dynamics"))
    simulation = PythonLaunchDescriptionSource(str(package / "launch" / "simulation.launch.py"))
    arguments = {
        "mechanism": str(HERE / "two_arms.yaml"),
        "tasks": str(HERE / "lift.yaml"),
        "start_on_tasks": "true",
    }
    return LaunchDescription(
        [IncludeLaunchDescription(simulation, launch_arguments=arguments.items())]
    )
