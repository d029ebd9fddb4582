# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a browser says to a view, without one: viser's messages on its WebSocket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import zstandard
from websockets.sync.client import ClientConnection, connect

_CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 0.0, 0.0],
    "image_height": 400,
    "image_width": 720,
    "fov": 1.3,
    "near": 0.01,
    "far": 1000.0,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
}


class ViewClient:
    """Looks at a view and uses its controls.

    Attributes:
        shown: Value of each control by its label, as the page would show it.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._labels: dict[str, str] = {}
        self.shown: dict[str, Any] = {}
        self._send(_CAMERA)

    def use(self, label: str, value: object) -> None:
        """Set a control; the page shows what its user has set."""
        uuid = next(key for key, name in self._labels.items() if name == label)
        self.shown[label] = value
        self._send({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})

    def listen(self, timeout: float) -> int:
        """Take in the next message; tell its size in bytes, 0 where none came in time."""
        try:
            packet = self._connection.recv(timeout=timeout)
        except TimeoutError:
            return 0
        assert isinstance(packet, bytes)
        size = int.from_bytes(packet[8:16], "little")
        content = zstandard.ZstdDecompressor().decompress(packet[16 : 16 + size])
        for message in msgspec.msgpack.decode(content)["messages"]:
            self._take(message)
        return len(packet)

    def _take(self, message: dict[str, Any]) -> None:
        if "value" in message and "label" in message.get("props", {}):
            self._labels[message["uuid"]] = message["props"]["label"]
            self.shown[message["props"]["label"]] = message["value"]
        elif message["type"] == "GuiUpdateMessage" and "value" in message["updates"]:
            self.shown[self._labels[message["uuid"]]] = message["updates"]["value"]

    def _send(self, message: dict[str, object]) -> None:
        self._connection.send(msgspec.msgpack.encode(message))


@contextmanager
def view_client(address: str) -> Iterator[ViewClient]:
    """A client of the view at an ``http://`` address."""
    import viser

    place = address.replace("http", "ws", 1)
    version: Any = f"viser-v{viser.__version__}"
    with connect(place, subprotocols=[version], max_size=None) as connection:
        yield ViewClient(connection)
