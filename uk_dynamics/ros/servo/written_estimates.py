# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The service of servo_controller that writes what its law has estimated."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from rclpy.node import Node
from std_srvs.srv import Trigger

from uk_dynamics.control.servo import ServoController
from uk_dynamics.exceptions import UkDynamicsError


class WrittenEstimates:
    """Writes the machine with the values that the data determine, as ``identify --out`` does."""

    def __init__(self, node: Node, controller: ServoController, folder: Callable[[], str]) -> None:
        """Offer ``~/write_estimates``; ``folder`` says where the files go."""
        self._controller, self._folder = controller, folder
        node.create_service(Trigger, "~/write_estimates", self._write)

    def _write(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = self._written()
            response.success = True
        except UkDynamicsError as error:
            response.success, response.message = False, str(error)
        return response

    def _written(self) -> str:
        from uk_dynamics.conversion import updated_files, write_files  # takes long to import

        mechanism, corrections = self._controller.mechanism, self._controller.corrections
        assert corrections is not None
        folder = Path(self._folder() or ".")
        found = corrections.to_file(date.today().isoformat())
        values = dict(zip(found.names, found.values, strict=True))
        texts = updated_files(
            mechanism, values, command="servo_controller", report="~/estimates", estimates=found
        )
        write_files({folder / name: text for name, text in texts.items()}, force=True)
        return f"wrote {', '.join(texts)} to {folder.resolve()}: {', '.join(found.names)}"
