"""HAProxy, which forwards connections to the pods: with `--forward` the driver starts it, writes its configuration,
and ends it with itself.

It runs in master-worker mode: at SIGUSR2 the master reads the configuration again and starts a new worker, which takes
over the sockets, so that no connection is refused. The old worker ends with its last connection.
"""

import asyncio
import ctypes
import ipaddress
import re
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path

BASE = """\
global
  hard-stop-after 10m
defaults
  mode tcp
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 3
  option redispatch 1
"""
WITHIN = 10.0  # seconds, for a start, a reload and an end


class Proxy:
    """Listens on 127.0.0.1. HAProxy runs while there is a port to listen on."""

    def __init__(self) -> None:
        program = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")
        if program is None:
            raise OSError("haproxy: no such program on the PATH")
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="haproxy-")
        self._config = Path(self._folder.name, "haproxy.cfg")
        self._socket = str(self._config.with_name("master.sock"))
        self._listeners: dict[int, dict[str, int]] = {}
        self._master: asyncio.subprocess.Process | None = None

    async def update(self, listeners: dict[int, dict[str, int]]) -> None:
        """Forwards from these ports, and no others, to the backends, whose weights are by address."""
        for port in listeners.keys() - self._listeners.keys():
            socket.create_server(("127.0.0.1", port)).close()  # fails if it is in use
        is_running = self._master is not None and self._master.returncode is None
        if not listeners:
            await self._stop()
        elif listeners != self._listeners or not is_running:
            self._config.write_text(BASE + "".join(_section(*each) for each in listeners.items()))
            await asyncio.wait_for(self._load(), WITHIN)
        self._listeners = listeners

    async def close(self) -> None:
        """Ends HAProxy."""
        await self._stop()
        self._folder.cleanup()

    async def _load(self) -> None:
        """Starts HAProxy or makes it read the configuration, and returns when it works by it."""
        before = -1
        if self._master and self._master.returncode is None:
            before, _ = await self._reloads()
            self._master.send_signal(signal.SIGUSR2)
        else:
            command = (self._program, "-q", "-W", "-S", self._socket, "-f", str(self._config))
            self._master = await asyncio.create_subprocess_exec(*command, preexec_fn=_end_with_parent)
        while True:
            await asyncio.sleep(0.01)
            now, failed = await self._reloads()
            if self._master.returncode is not None or failed:
                raise OSError(f"haproxy does not accept its configuration; `haproxy -c -f {self._config}` tells why")
            if now > before:
                return

    async def _reloads(self) -> tuple[int, int]:
        """How often the configuration was read again, and how often that failed since it worked last."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._socket)
            writer.write(b"show proc\n")
            writer.write_eof()
            match = re.search(rb"master\s+(\d+) \[failed: (\d+)\]", await reader.read())
            writer.close()
        except OSError:  # between two programs of the master
            match = None
        return (int(match[1]), int(match[2])) if match else (-1, 0)

    async def _stop(self) -> None:
        if self._master and self._master.returncode is None:
            self._master.terminate()
            await asyncio.wait_for(self._master.wait(), WITHIN)


def _section(port: int, weights: dict[str, int]) -> str:
    """The lines of one port. Only numbers and IP addresses get in: HAProxy would read another text as its own."""
    lines = [f"listen port-{port:d}", f"  bind 127.0.0.1:{port:d}", "  balance roundrobin"]
    for number, (addr, weight) in enumerate(weights.items()):
        host, _, backend_port = addr.rpartition(":")
        ip = ipaddress.ip_address(host.strip("[]"))
        lines.append(f"  server s{number} ipv{ip.version}@{ip.compressed}:{int(backend_port):d} weight {weight:d}")
    return "\n".join(lines) + "\n"


def _end_with_parent() -> None:
    """In the process of HAProxy: Linux sends it SIGTERM when the driver has ended, even if that was killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)
