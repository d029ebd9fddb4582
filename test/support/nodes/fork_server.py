# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A Python process that has imported much and forks others from itself, each to run a module.

Run by :class:`forked_process.ForkServer`: ``python fork_server.py SOCKET MODULE...`` imports the
modules and answers requests until the other end of the socket is closed. What is forked leaves this
file by the end of :func:`main`, so it ends as any Python process does: with its own exit code or
signal, exit handlers and finalization of the interpreter.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys

LARGEST_REQUEST = 1 << 17


def main() -> None:
    """Import, serve, and in the forked process be the module that was asked for."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "only a process without threads can be forked"
    gc.collect()
    gc.freeze()
    if module := serve(requests):
        # as ``python -m`` finds it: not imported yet
        sys.modules.pop(module, None)
        runpy.run_module(module, run_name="__main__", alter_sys=True)


def serve(requests: socket.socket) -> str:
    """Fork processes until nobody can ask for one any more.

    Returns:
        The module to run, in a forked process; nothing in the server.
    """
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    # Ctrl-C is for the tests; blocked and not ignored, so that none for a child is lost
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    selector.register(ended, selectors.EVENT_READ)
    watchers: dict[int, socket.socket] = {}
    while True:
        for key, _ in selector.select():
            if key.fileobj == ended:
                os.read(ended, 512)
                report_ends(watchers)
                continue
            request, descriptors, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 2)
            if not request:
                for pid in watchers:  # whoever watched them has been killed
                    os.kill(pid, signal.SIGKILL)
                return ""
            output, watcher = descriptors
            pid = os.fork()
            if pid == 0:
                selector.close()
                for end in (requests, *watchers.values()):
                    end.close()
                for descriptor in (ended, wake, watcher):
                    os.close(descriptor)
                return become(output, **json.loads(request))
            os.close(output)
            watchers[pid] = socket.socket(fileno=watcher)
            watchers[pid].send(str(pid).encode())


def report_ends(watchers: dict[int, socket.socket]) -> None:
    """Tell those who watch processes that have ended how they did."""
    for pid in list(watchers):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            with watchers.pop(pid) as watcher, contextlib.suppress(BrokenPipeError):
                watcher.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(
    output: int,
    *,
    module: str,
    arguments: list[str],
    env: dict[str, str],
    cwd: str,
    new_session: bool,
) -> str:
    """Make this process what it would be had it been started by itself; return the module."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if new_session:
        os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [module, *arguments]
    sys.path[0] = cwd
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    faulthandler.enable()  # where a process of its own reads it from the environment
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return module


if __name__ == "__main__":
    main()
