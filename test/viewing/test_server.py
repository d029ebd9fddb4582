# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A view is served on loopback, alone at its address, and its scene has every link."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server

pytest.importorskip("viser")


@pytest.fixture
def server():
    server = open_server(port=0)
    yield server
    close_server(server)


def test_it_listens_on_loopback_only(server, capfd):
    assert address(server).startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address(server), timeout=30) as page:
        assert page.status == 200
    assert not capfd.readouterr().out  # viser's banners stay away


def test_a_port_in_use_is_refused():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port}.*another port"):
            open_server(port=port)


def test_without_viser_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(InputError, match="pip install viser"):
        open_server(port=0)


@pytest.mark.parametrize("name", ["stewart_platform", "spiral_particle", "differential_drive"])
def test_every_mechanism_can_be_shown_and_moved(server, name):
    mechanism = Mechanism.from_file(name)
    source = LiveSimulation(
        mechanism,
        mechanism.start(),
        motors="off",
        playing=bool(len(mechanism.actuators)),
    )
    view = MechanismView(server, mechanism, source)
    for _ in range(3):
        view.update(0.02)
    assert view.pictures == 3
    assert not view.problems


@pytest.mark.slow
def test_meshes_are_shown(server):
    pytest.importorskip("collada", reason="the arms' meshes are Collada files")
    from support.mechanism_builder import shipped

    mechanism = shipped("dual_panda")
    source = LiveSimulation(mechanism, mechanism.start(), motors="off")
    assert not MechanismView(server, mechanism, source).problems


@pytest.mark.slow
def test_the_command_serves_until_it_is_ended():
    process = subprocess.Popen(
        [sys.executable, "-m", "uk_dynamics", "view", "four_bar", "--port", "0", "--play"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line
    with urllib.request.urlopen(found.group(), timeout=30) as page:
        assert b"<html" in page.read().lower()
    process.send_signal(signal.SIGTERM)  # shells let background processes ignore SIGINT
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert not errors
