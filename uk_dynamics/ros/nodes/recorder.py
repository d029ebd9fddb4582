# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The recorder node: the topics of the nodes, as serialized, in an MCAP file."""

from pathlib import Path
from typing import Any

from rclpy.node import Node

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.parameters.parameter import TABLES, Parameters
from uk_dynamics.ros.process.mechanism_source import load_mechanism
from uk_dynamics.ros.topics.topic_recorder import TopicRecorder


class Recorder(Node):
    """Records until it ends; what has been written can be read at any time."""

    def __init__(self, **options: Any) -> None:
        super().__init__("recorder", **options)
        self._recorder: TopicRecorder | None = None
        settings = Parameters(self, TABLES["recorder"])
        path = Path(settings["file"]).expanduser()
        if path.suffix != ".mcap":
            raise InputError(
                f'name a file that ends in .mcap, found "{path}"', place="parameter file"
            )
        self._recorder = TopicRecorder(self, load_mechanism(self, settings), path)
        self.get_logger().info(f"recording {path.absolute()}")

    def destroy_node(self) -> None:
        """Complete the file."""
        if self._recorder is not None:
            self._recorder.close()
            counts = self._recorder.counts.values()
            self.get_logger().info(f"recorded {sum(counts)} messages")
            self._recorder = None
        super().destroy_node()
