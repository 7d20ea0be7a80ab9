"""A TCP proxy in this process, in place of a real load balancer, so that `--forward` brings requests to the pods.

FILL-IN: remove this file and `--forward`. Connections are your load balancer's work.
"""

import asyncio
from contextlib import suppress
from functools import partial

CHUNK = 64 * 1024  # bytes
CONNECT_WITHIN = 5.0  # seconds


class Proxy:
    """Listens on 127.0.0.1, and forwards each connection to the next backend."""

    def __init__(self) -> None:
        self._servers: dict[int, asyncio.Server] = {}
        self._open_backends: dict[int, list[str]] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def update(self, listeners: dict[int, dict[str, int]]) -> None:
        """Forwards from these ports, and no others, to the backends whose weight is not 0. The weights are by address,
        and otherwise not regarded."""
        for port in self._servers.keys() - listeners.keys():
            self._servers.pop(port).close()
        for port in listeners.keys() - self._servers.keys():
            self._servers[port] = await asyncio.start_server(partial(self._accept, port), "127.0.0.1", port)
        for port, weights in listeners.items():
            self._open_backends[port] = [addr for addr, weight in weights.items() if weight > 0]

    async def close(self) -> None:
        """Ends listening."""
        await self.update({})

    def _accept(self, port: int, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._forward(port, client, to_client))
        self._connections.add(connection)  # a task that nothing refers to may be collected
        connection.add_done_callback(self._connections.discard)

    async def _forward(self, port: int, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):  # either side may break off
            if backends := self._open_backends[port]:
                # In turn: the next connection gets the next backend.
                backends.append(backends.pop(0))
                host, _, backend_port = backends[-1].rpartition(":")
                connecting = asyncio.open_connection(host.strip("[]"), int(backend_port))
                server, to_server = await asyncio.wait_for(connecting, CONNECT_WITHIN)
                try:
                    await asyncio.gather(_copy(client, to_server), _copy(server, to_client))
                finally:
                    to_server.close()
        to_client.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Until the source has ended; then the target gets the end, too, and may still send."""
    while chunk := await source.read(CHUNK):
        target.write(chunk)
        await target.drain()
    target.write_eof()
